import type { OperatorCaller } from '@trunkline/core/app/caller'
import { listDeliveries, replay, type ShownDelivery, sendTest } from '@trunkline/core/app/webhooks/deliveries'
import {
  createEndpoint,
  type EndpointDeps,
  endpointOf,
  endpointsWithLag,
  rotateEndpointKeys,
  setEndpointEnabled
} from '@trunkline/core/app/webhooks/endpoints'
import { parseUserId, parseUuid, type WebhookEndpointId } from '@trunkline/core/domain/ids'
import type { WebhookEndpoint } from '@trunkline/core/domain/webhook'
import type { WebhookRequests, WebhookTest } from '@trunkline/core/ports/webhook-requests'
import { type AdminDeps, NO_BUS } from './deps.ts'
import { AdminRefused, asRefusal, type Run } from './operations.ts'
import { platformNamed } from './platforms.ts'
import type {
  NamedWebhook,
  NewWebhook,
  PlatformOfWebhooks,
  ReplayWebhook,
  RotateWebhook,
  WantedDeliveries,
  WebhookSecretView,
  WebhookView
} from './webhook-operations.ts'

const NO_SERVICE = 'No service runs on this data directory, and only a running service sends webhooks. Start it, and run this again.'

/** The platform's endpoints, oldest first, each with how far it is behind. @throws AdminRefused */
export async function listWebhooks(deps: AdminDeps, { platform }: PlatformOfWebhooks, run: Run): Promise<readonly WebhookView[]> {
  return await endpointsWithLag(deps, await operatorFor(deps, platform, run))
}

/** The secret is in the output and nowhere else. @throws AdminRefused */
export async function createWebhook(deps: AdminDeps, { platform, ...fields }: NewWebhook, run: Run): Promise<WebhookSecretView> {
  const caller = await operatorFor(deps, platform, run)
  return await asRefusal(() => createEndpoint(depsOf(deps), caller, fields))
}

/** @throws AdminRefused */
export async function setWebhookEnabled(
  deps: AdminDeps,
  { platform, endpointId }: NamedWebhook,
  isEnabled: boolean,
  run: Run
): Promise<WebhookEndpoint> {
  const caller = await operatorFor(deps, platform, run)
  const id = idOf(endpointId)
  return await asRefusal(async () => {
    await setEndpointEnabled(depsOf(deps), caller, id, isEnabled)
    return (await endpointOf(deps, caller, id)).endpoint
  })
}

/** @throws AdminRefused, KeyFileRefused */
export async function rotateWebhook(
  deps: AdminDeps,
  { platform, endpointId, overlapHours }: RotateWebhook,
  run: Run
): Promise<WebhookSecretView> {
  const caller = await operatorFor(deps, platform, run)
  return await asRefusal(() => rotateEndpointKeys(depsOf(deps), caller, idOf(endpointId), overlapHours))
}

/** The newest attempts. @throws AdminRefused */
export async function listWebhookDeliveries(
  deps: AdminDeps,
  { platform, endpointId, userId, messageId, outcome, limit }: WantedDeliveries,
  run: Run
): Promise<readonly ShownDelivery[]> {
  const caller = await operatorFor(deps, platform, run)
  const wanted = {
    ...(userId !== null && { userId: parseUserId(userId) }),
    ...(messageId !== null && { messageId }),
    ...(outcome !== null && { outcome })
  }
  const page = { limit, edge: null, descending: true }
  return (await asRefusal(() => listDeliveries(depsOf(deps), caller, idOf(endpointId), wanted, page))).rows
}

/** Begins to send events again. @throws AdminRefused also if no service runs */
export async function replayWebhook(deps: AdminDeps, { platform, endpointId, wanted }: ReplayWebhook, run: Run) {
  const caller = await operatorFor(deps, platform, run)
  const running = depsOf(deps, sendingOf(deps))
  const events = 'messageId' in wanted ? wanted : { ...wanted, userId: parseUserId(wanted.userId) }
  return await asRefusal(() => replay(running, caller, idOf(endpointId), events))
}

/** One attempt with a test message. @throws AdminRefused also if no service runs */
export async function testWebhook(deps: AdminDeps, { platform, endpointId }: NamedWebhook, run: Run): Promise<WebhookTest> {
  const caller = await operatorFor(deps, platform, run)
  const running = depsOf(deps, sendingOf(deps))
  return await asRefusal(() => sendTest(running, caller, idOf(endpointId)))
}

async function operatorFor(deps: AdminDeps, wanted: string, { by }: Run): Promise<OperatorCaller> {
  return { platform: await platformNamed(deps, wanted), by }
}

/** Of the running service. */
function sendingOf({ webhooks }: AdminDeps): WebhookRequests {
  if (webhooks.requests === null) throw new AdminRefused(NO_SERVICE)
  return webhooks.requests
}

/** What sends nothing does without `requests`. */
function depsOf({ clock, ids, store, bus, webhooks }: AdminDeps, requests: WebhookRequests = NOTHING_IS_SENT): EndpointDeps {
  return { clock, ids, store, bus: bus ?? NO_BUS, webhooks: { ...webhooks, requests } }
}

const refuse = () => {
  throw new AdminRefused(NO_SERVICE)
}
const NOTHING_IS_SENT: WebhookRequests = { countTest: refuse, test: refuse, replay: refuse, bodyOf: refuse }

function idOf(endpointId: string): WebhookEndpointId {
  return parseUuid<WebhookEndpointId>(endpointId, 'endpoint_id')
}
