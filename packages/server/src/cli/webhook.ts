import type { ShownDelivery } from '@trunkline/core/app/webhooks/deliveries'
import type { OrderStatus } from '@trunkline/core/domain/vocabulary'
import type { EventTopic, WebhookEndpoint } from '@trunkline/core/domain/webhook'
import type { WebhookLag } from '@trunkline/core/ports/webhook-store'
import type { WebhookSecretView, WebhookView } from '../admin/webhook-operations.ts'
import { presentDelivery, presentEndpoint, presentLag, presentTest } from '../wire/webhook.ts'
import { aligned, CommandFailed, type Common, type Console, counted, outJson, shownTime } from './console.ts'
import { perform } from './operator.ts'
import { shown } from './shown.ts'

interface OfPlatform extends Common {
  readonly platform: string
}

interface NewWebhookOptions extends OfPlatform {
  readonly url: string
  readonly description: string
  readonly topic?: readonly EventTopic[]
  readonly status?: readonly OrderStatus[]
}

export async function listWebhooks(console: Console, { platform, json }: OfPlatform): Promise<void> {
  const found = await perform(console, 'webhook.list', { platform })
  if (json) return outJson(console, found.map(wire))
  if (found.length === 0)
    return console.out('The platform has no webhook endpoint. Create one with: npm run cli -- webhook create --platform … --url …\n')
  const head = ['endpoint_id', 'state', 'last success', 'failing since', 'behind', 'host', 'description']
  const rows = found.map(({ endpoint, lag }) => [
    ...[endpoint.endpointId, endpoint.disabled?.reason ?? 'enabled'],
    endpoint.lastSuccessAt === null ? 'never' : shownTime(endpoint.lastSuccessAt),
    endpoint.failingSince === null ? '-' : shownTime(endpoint.failingSince),
    shownLag(lag),
    // The path may be a secret of the platform.
    ...[new URL(endpoint.url).host, endpoint.description]
  ])
  console.out(aligned([head, ...rows.map(row => row.map(shown))]))
}

export async function createWebhook(
  console: Console,
  { platform, url, description, topic, status, json }: NewWebhookOptions
): Promise<void> {
  const filter = { topics: topic ?? null, orderStatuses: status ?? null }
  const made = await perform(console, 'webhook.create', { platform, url, description, filter })
  if (json) return outJson(console, wireWithSecret(made))
  console.out(`The webhook endpoint was created. It receives what is logged from now on.\n\n${secrets(made)}`)
}

export async function enableWebhook(console: Console, endpointId: string, { platform, json }: OfPlatform): Promise<void> {
  const endpoint = await perform(console, 'webhook.enable', { platform, endpointId })
  if (json) return outJson(console, presentEndpoint(endpoint))
  console.out(`The webhook endpoint ${nameOf(endpoint)} is enabled, and goes on where it was.\n`)
}

export async function disableWebhook(console: Console, endpointId: string, { platform, json }: OfPlatform): Promise<void> {
  const endpoint = await perform(console, 'webhook.disable', { platform, endpointId })
  if (json) return outJson(console, presentEndpoint(endpoint))
  console.out(`The webhook endpoint ${nameOf(endpoint)} is disabled. It is sent nothing until it is enabled again.\n`)
}

export async function rotateWebhook(
  console: Console,
  endpointId: string,
  { platform, overlap, json }: OfPlatform & { readonly overlap: number }
): Promise<void> {
  const rotated = await perform(console, 'webhook.rotate', { platform, endpointId, overlapHours: overlap })
  if (json) return outJson(console, wireWithSecret(rotated))
  const old = overlap === 0 ? 'the old ones sign no more' : `the old ones sign beside them for ${counted(overlap, 'hour')}`
  console.out(`The webhook endpoint ${nameOf(rotated.endpoint)} has new keys; ${old}.\n\n${secrets(rotated)}`)
}

interface DeliveriesOptions extends OfPlatform {
  readonly user?: string
  readonly message?: string
  readonly outcome?: 'succeeded' | 'failed'
  readonly limit: number
}

export async function listDeliveries(console: Console, endpointId: string, options: DeliveriesOptions): Promise<void> {
  const { platform, user: userId = null, message: messageId = null, outcome = null, limit, json } = options
  const found = await perform(console, 'webhook.deliveries', { platform, endpointId, userId, messageId, outcome, limit })
  if (json) return outJson(console, found.map(presentDelivery))
  console.out(found.length === 0 ? 'There are no such attempts. They are kept for 30 days.\n' : table(found))
}

interface ReplayOptions extends OfPlatform {
  readonly message?: string
  readonly user?: string
  readonly from?: number
  readonly to?: number
}

export async function replayWebhooks(console: Console, endpointId: string, options: ReplayOptions): Promise<void> {
  const { platform, json } = options
  const { from, to } = await perform(console, 'webhook.replay', { platform, endpointId, wanted: wantedOf(options) })
  if (json) return outJson(console, { endpoint_id: endpointId, from_seq: from, to_seq: to })
  console.out(`The updates from ${from} to ${to} are being sent again. See what becomes of it with: webhook deliveries ${endpointId}\n`)
}

function wantedOf({ message, user, from, to }: ReplayOptions) {
  if (message !== undefined && user === undefined && from === undefined && to === undefined) return { messageId: message }
  if (message === undefined && user !== undefined && from !== undefined && to !== undefined) return { userId: user, from, to }
  throw new CommandFailed(2, 'Name what is to be sent again: either --message, or --user with --from and --to.')
}

/** Exits with 1 if the attempt failed. */
export async function testWebhook(console: Console, endpointId: string, { platform, json }: OfPlatform): Promise<void> {
  const found = await perform(console, 'webhook.test', { platform, endpointId })
  const { failure, answer, tookMs } = found.delivery
  if (json) outJson(console, presentTest(found))
  else console.out(`${failure === null ? 'Received' : `Failed (${failure})`}: ${answer?.status ?? 'no answer'}, after ${tookMs} ms.\n`)
  if (!json && found.isKept !== true)
    console.out(`It was sent, and ${found.isKept === null ? 'may not be' : 'is not'} among the deliveries: the database takes no writes.\n`)
  if (failure !== null) throw new CommandFailed(1)
}

function table(found: readonly ShownDelivery[]): string {
  const head = ['started', 'reason', 'attempt', 'answer', 'took', 'retry', 'user_id', 'updates', 'message_id']
  const rows = found.map(({ delivery, userId }) => [
    ...[shownTime(delivery.startedAt), delivery.reason, String(delivery.attempt)],
    [delivery.failure, delivery.answer?.status].filter(part => part !== null && part !== undefined).join(' '),
    ...[`${delivery.tookMs} ms`, delivery.retryAt === null ? '-' : shownTime(delivery.retryAt), userId ?? '-'],
    ...[delivery.events === null ? '-' : `${delivery.events.from}-${delivery.events.to}`, delivery.messageId]
  ])
  return aligned([head, ...rows.map(row => row.map(shown))])
}

function secrets({ endpoint, publicKeys, secret }: WebhookSecretView): string {
  const facts = aligned([
    ['  endpoint_id', endpoint.endpointId],
    ['  secret', secret],
    ...publicKeys.map((key, index) => [index === 0 ? '  public keys' : '', key])
  ])
  return `${facts}\nStore the secret now: it is shown only this once.\n`
}

function nameOf({ endpointId, url }: WebhookEndpoint): string {
  return `${endpointId} (${shown(new URL(url).host)})`
}

function shownLag({ events, isLowerBound, oldestAt }: WebhookLag): string {
  if (events === 0 && !isLowerBound) return '-'
  const waiting = `${isLowerBound ? 'at least ' : ''}${counted(events, 'update')}`
  return oldestAt === null ? waiting : `${waiting}, since ${shownTime(oldestAt)}`
}

function wire({ endpoint, lag }: WebhookView): object {
  return { ...presentEndpoint(endpoint), lag: presentLag(lag) }
}

function wireWithSecret({ endpoint, publicKeys, secret }: WebhookSecretView): object {
  return { ...presentEndpoint(endpoint), public_keys: publicKeys, secret }
}
