// What a platform does with its endpoints for webhooks.
import type { PlatformId, WebhookEndpointId } from '../../domain/ids.ts'
import type { WebhookEndpoint, WebhookFilter } from '../../domain/webhook.ts'
import { type AuditEntry, CommitUnknown } from '../../ports/store.ts'
import type { WebhookKeyring, WebhookUrlJudge } from '../../ports/webhook-sender.ts'
import type { WebhookEndpointStore } from '../../ports/webhook-store.ts'
import { audited, type PlatformCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

/** The most endpoints of one platform. */
export const ENDPOINTS_MAX = 16

export interface EndpointDeps extends Pick<Deps, 'clock' | 'ids' | 'bus'> {
  readonly endpoints: WebhookEndpointStore
  readonly keyring: WebhookKeyring
  readonly urls: WebhookUrlJudge
}

export interface EndpointFields {
  readonly url: string
  readonly description: string
  readonly filter: WebhookFilter
}

export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint
  /** `whsec_…`: shown here, and never again. */
  readonly secret: string
}

/** Creates an endpoint, which receives what is logged from now on. Null if the platform has the most it may. @throws Malformed of the URL. */
export async function createEndpoint(
  deps: EndpointDeps,
  caller: PlatformCaller,
  fields: EndpointFields
): Promise<EndpointWithSecret | null> {
  const { platformId } = caller.platform
  const endpointId = deps.ids.uuid<WebhookEndpointId>()
  const endpoint: WebhookEndpoint = {
    ...{ endpointId, platformId, description: fields.description, filter: fields.filter, url: deps.urls.judge(fields.url) },
    ...{ createdAt: deps.clock.now(), disabled: null, lastSuccessAt: null, failingSince: null, revision: 1 }
  }
  const { secret, sealed } = deps.keyring.create(endpoint)
  const entry = audited(deps.clock, caller, 'webhook.create', endpointId, { url_host: new URL(endpoint.url).host })
  const isCreated = await announced(deps, platformId, () => deps.endpoints.create(endpoint, sealed, ENDPOINTS_MAX, entry))
  return isCreated ? { endpoint, secret } : null
}

/** Replaces the fields that are given. Null if the endpoint is gone; false if it was changed meanwhile. @throws Malformed of the URL. */
export async function editEndpoint(
  deps: EndpointDeps,
  caller: PlatformCaller,
  endpointId: WebhookEndpointId,
  fields: Partial<EndpointFields>
): Promise<boolean | null> {
  const known = await deps.endpoints.find(caller.platform.platformId, endpointId)
  if (known === null) return null
  const { url, description, filter, platformId, revision } = known.endpoint
  const next = { description, filter, ...fields, url: fields.url === undefined ? url : deps.urls.judge(fields.url) }
  // Neither the URL nor the description is written: they are the platform's, and a URL's path may be a secret.
  const entry = audited(deps.clock, caller, 'webhook.edit', endpointId, { fields: Object.keys(fields).sort().join(' ') })
  return announced(deps, platformId, () => deps.endpoints.edit(endpointId, revision, next, entry))
}

/** Disables the endpoint, or enables it again: it goes on from its cursors. Null if it is gone; false if it already is so. */
export async function setEndpointEnabled(
  deps: EndpointDeps,
  caller: PlatformCaller,
  endpointId: WebhookEndpointId,
  isEnabled: boolean
): Promise<boolean | null> {
  const disabled = isEnabled ? null : ({ at: deps.clock.now(), reason: 'requested' } as const)
  return changed(deps, caller, endpointId, isEnabled ? 'webhook.enable' : 'webhook.disable', entry =>
    deps.endpoints.setDisabled(endpointId, disabled, entry)
  )
}

/** Gives the endpoint new keys; the old ones sign beside them for `overlapHours`. Null if it is gone, or was given others meanwhile. */
export async function rotateEndpointKeys(
  deps: EndpointDeps,
  caller: PlatformCaller,
  endpointId: WebhookEndpointId,
  overlapHours: number
): Promise<EndpointWithSecret | null> {
  const known = await deps.endpoints.find(caller.platform.platformId, endpointId)
  if (known === null) return null
  const { endpoint } = known
  const { secret, sealed } = deps.keyring.rotate(known, deps.clock.now(), overlapHours)
  const entry = audited(deps.clock, caller, 'webhook.rotate_keys', endpointId, { overlap_hours: overlapHours })
  const isReplaced = await announced(deps, endpoint.platformId, () => deps.endpoints.replaceKeys(endpointId, sealed, entry))
  return isReplaced ? { endpoint, secret } : null
}

/** Removes the endpoint with its cursors and deliveries. Null or false if it is gone. */
export async function removeEndpoint(deps: EndpointDeps, caller: PlatformCaller, endpointId: WebhookEndpointId): Promise<boolean | null> {
  return changed(deps, caller, endpointId, 'webhook.delete', entry => deps.endpoints.remove(endpointId, entry))
}

/** Changes an endpoint of the caller's platform, and of no other. */
async function changed(
  deps: EndpointDeps,
  caller: PlatformCaller,
  endpointId: WebhookEndpointId,
  action: string,
  change: (entry: AuditEntry) => Promise<boolean>
): Promise<boolean | null> {
  const known = await deps.endpoints.find(caller.platform.platformId, endpointId)
  if (known === null) return null
  const entry = audited(deps.clock, caller, action, endpointId)
  return announced(deps, known.endpoint.platformId, () => change(entry))
}

/** Tells the senders of all nodes, also if it is not known whether the change happened: they read what is so. */
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
