// What a platform does with its endpoints for webhooks.
import { ServiceError } from '../../domain/errors.ts'
import type { PlatformId, WebhookEndpointId } from '../../domain/ids.ts'
import { Malformed } from '../../domain/malformed.ts'
import type { WebhookEndpoint, WebhookFilter } from '../../domain/webhook.ts'
import { type AuditEntry, CommitUnknown } from '../../ports/store.ts'
import type { WebhookPorts } from '../../ports/webhook-requests.ts'
import type { KnownWebhookEndpoint, WebhookLag } from '../../ports/webhook-store.ts'
import { audited, type OperatorCaller, type PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/** The most endpoints of one platform. */
export const ENDPOINTS_MAX = 16
/** A change is made again over what somebody else has changed meanwhile: of so many at once, each has its turn. */
const TRIES_MAX = 16

export interface EndpointDeps extends Pick<Deps, 'clock' | 'ids'> {
  readonly store: Pick<Deps['store'], 'audit' | 'events' | 'platforms' | 'users' | 'webhooks'>
  readonly bus: Pick<Deps['bus'], 'publish'>
  readonly webhooks: WebhookPorts
}

/** Who acts on a platform's endpoints. */
export type EndpointCaller = PlatformCaller | OperatorCaller

export interface EndpointFields {
  readonly url: string
  readonly description: string
  readonly filter: WebhookFilter
}

/** An endpoint as its platform sees it. */
export interface ShownEndpoint {
  readonly endpoint: WebhookEndpoint
  /** `whpk_…` of the keys that sign now, the current one first. */
  readonly publicKeys: readonly string[]
}

export interface EndpointWithSecret extends ShownEndpoint {
  /** `whsec_…`: shown here, and never again. */
  readonly secret: string
}

/**
 * Creates an endpoint, which receives what is logged from now on.
 * @throws ServiceError field_invalid, webhook_endpoint_limit, platform_disabled
 */
export async function createEndpoint(deps: EndpointDeps, caller: EndpointCaller, fields: EndpointFields): Promise<EndpointWithSecret> {
  const { platformId } = caller.platform
  const endpointId = deps.ids.uuid<WebhookEndpointId>()
  const endpoint: WebhookEndpoint = {
    ...{ endpointId, platformId, description: fields.description, filter: fields.filter, url: judged(deps, fields.url) },
    ...{ createdAt: deps.clock.now(), disabled: null, lastSuccessAt: null, failingSince: null, revision: 1 }
  }
  const { secret, sealed } = deps.webhooks.keyring.create(endpoint)
  const entry = audited(deps.clock, caller, 'webhook_endpoint.create', endpointId, { host: new URL(endpoint.url).host })
  const { endpoints } = deps.store.webhooks
  if (!(await announced(deps, platformId, () => endpoints.create(endpoint, sealed, ENDPOINTS_MAX, entry)))) {
    if ((await deps.store.platforms.disabled()).has(platformId))
      throw new ServiceError('platform_disabled', 'The platform is disabled, and gets no webhook endpoints; enable it first.')
    throw new ServiceError('webhook_endpoint_limit', `The platform has ${ENDPOINTS_MAX} endpoints, the maximum; delete one of them.`)
  }
  return { ...shownOf(deps, { endpoint, keys: sealed }), secret }
}

/** Oldest first. */
export async function listEndpoints({ store }: Pick<EndpointDeps, 'store'>, caller: EndpointCaller): Promise<readonly WebhookEndpoint[]> {
  return await store.webhooks.endpoints.list(caller.platform.platformId)
}

/** Oldest first, each with how far it is behind. */
export async function endpointsWithLag(
  { store }: Pick<EndpointDeps, 'store'>,
  caller: EndpointCaller
): Promise<readonly { readonly endpoint: WebhookEndpoint; readonly lag: WebhookLag }[]> {
  const found = []
  // One after the other: each compares all users of the platform, and orders use the same connections to the database.
  for (const endpoint of await listEndpoints({ store }, caller)) found.push({ endpoint, lag: await store.webhooks.cursors.lag(endpoint) })
  return found
}

/** The endpoint, and how far it is behind. @throws ServiceError webhook_endpoint_not_found */
export async function readEndpoint(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId
): Promise<ShownEndpoint & { readonly lag: WebhookLag }> {
  const known = await endpointOf(deps, caller, endpointId)
  return { ...shownOf(deps, known), lag: await deps.store.webhooks.cursors.lag(known.endpoint) }
}

/** What is changed of an endpoint; absent fields stay. */
export interface EndpointEdit {
  readonly url?: string
  readonly description?: string
  readonly filter?: Partial<WebhookFilter>
}

/** Replaces the fields that are given. @throws ServiceError webhook_endpoint_not_found, field_invalid, rate_limited */
export async function editEndpoint(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId,
  fields: EndpointEdit
): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const { url, description, filter, platformId, revision } = (await endpointOf(deps, caller, endpointId)).endpoint
    const next = {
      description: fields.description ?? description,
      filter: { ...filter, ...fields.filter },
      url: fields.url === undefined ? url : judged(deps, fields.url)
    }
    // Neither the URL nor the description is written: they are the platform's, and a URL's path may be a secret.
    const entry = audited(deps.clock, caller, 'webhook_endpoint.edit', endpointId, { fields: Object.keys(fields).sort().join(' ') })
    if (await announced(deps, platformId, () => deps.store.webhooks.endpoints.edit(endpointId, revision, next, entry))) return
  }
  throw contended()
}

/**
 * Disables the endpoint, or enables it again: it goes on from its cursors. One that is enabled already goes on at once, whatever it waits
 * for. @throws ServiceError webhook_endpoint_not_found, rate_limited
 */
export async function setEndpointEnabled(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId,
  isEnabled: boolean
): Promise<void> {
  if (isEnabled && (await endpointOf(deps, caller, endpointId)).endpoint.disabled === null)
    return await editEndpoint(deps, caller, endpointId, {})
  const disabled = isEnabled ? null : ({ at: deps.clock.now(), reason: 'requested' } as const)
  await changed(deps, caller, endpointId, isEnabled ? 'webhook_endpoint.enable' : 'webhook_endpoint.disable', entry =>
    deps.store.webhooks.endpoints.setDisabled(endpointId, disabled, entry)
  )
}

/**
 * Gives the endpoint new keys; the old ones sign beside them for `overlapHours`.
 * @throws ServiceError webhook_endpoint_not_found, rate_limited
 */
export async function rotateEndpointKeys(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId,
  overlapHours: number
): Promise<EndpointWithSecret> {
  const { endpoints } = deps.store.webhooks
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const known = await endpointOf(deps, caller, endpointId)
    const { secret, sealed } = deps.webhooks.keyring.rotate(known, deps.clock.now(), overlapHours)
    const entry = audited(deps.clock, caller, 'webhook_endpoint.rotate_keys', endpointId, { overlap_hours: overlapHours })
    if (await announced(deps, known.endpoint.platformId, () => endpoints.replaceKeys(endpointId, sealed, entry)))
      return { ...shownOf(deps, { endpoint: known.endpoint, keys: sealed }), secret }
  }
  throw contended()
}

/** Removes the endpoint with its cursors and deliveries. @throws ServiceError webhook_endpoint_not_found */
export async function removeEndpoint(deps: EndpointDeps, caller: EndpointCaller, endpointId: WebhookEndpointId): Promise<void> {
  await changed(deps, caller, endpointId, 'webhook_endpoint.delete', entry => deps.store.webhooks.endpoints.remove(endpointId, entry))
}

/** The caller's endpoint. @throws ServiceError webhook_endpoint_not_found */
export async function endpointOf(
  { store }: Pick<EndpointDeps, 'store'>,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId
): Promise<KnownWebhookEndpoint> {
  const known = await store.webhooks.endpoints.find(caller.platform.platformId, endpointId)
  if (known === null) throw new ServiceError('webhook_endpoint_not_found', 'The platform has no webhook endpoint with this endpoint_id.')
  return known
}

function shownOf({ webhooks, clock }: EndpointDeps, known: KnownWebhookEndpoint): ShownEndpoint {
  return { endpoint: known.endpoint, publicKeys: webhooks.keyring.publicKeys(known, clock.now()) }
}

function judged({ webhooks }: EndpointDeps, url: string): string {
  try {
    return webhooks.urls.judge(url)
  } catch (cause) {
    if (!(cause instanceof Malformed)) throw cause
    throw new ServiceError('field_invalid', `${cause.message}.`, {
      details: [{ path: 'url', message: cause.message.slice(cause.what.length + 1) }]
    })
  }
}

function contended(): ServiceError {
  return new ServiceError('rate_limited', 'The endpoint is being changed by many requests at once; try again.', { retryAfterSeconds: 1 })
}

/** Changes an endpoint of the caller's platform, and of no other. What already is so stays. */
async function changed(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId,
  action: string,
  change: (entry: AuditEntry) => Promise<boolean>
): Promise<void> {
  const { endpoint } = await endpointOf(deps, caller, endpointId)
  const entry = audited(deps.clock, caller, action, endpointId)
  await announced(deps, endpoint.platformId, () => change(entry))
}

/** Wakes the senders of all nodes, also if it is not known whether the change happened: they read what is so. */
async function announced({ bus }: EndpointDeps, platformId: PlatformId, change: () => Promise<boolean>): Promise<boolean> {
  try {
    const isChanged = await change()
    if (isChanged) bus.publish({ type: 'webhooks_changed', platformId })
    return isChanged
  } catch (cause) {
    if (cause instanceof CommitUnknown) bus.publish({ type: 'webhooks_changed', platformId })
    throw cause
  }
}
