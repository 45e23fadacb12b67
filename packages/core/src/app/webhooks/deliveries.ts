// What was sent to an endpoint, and sending it again.
import { ServiceError } from '../../domain/errors.ts'
import type { UserId, UserKey, WebhookDeliveryId, WebhookEndpointId } from '../../domain/ids.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { Page, PageRequest } from '../../ports/store.ts'
import {
  PLATFORM_REPLAYS_MAX,
  REPLAY_EVENTS_MAX,
  REPLAYS_MAX,
  TESTS_PER_MINUTE,
  type WebhookReplay,
  type WebhookTest
} from '../../ports/webhook-requests.ts'
import type { WebhookDelivery } from '../../ports/webhook-store.ts'
import { audited } from '../caller.ts'
import { type EndpointCaller, type EndpointDeps, endpointOf } from './endpoints.ts'

/** An attempt, and the user whose events it had. Null: a test message. */
export interface ShownDelivery {
  readonly delivery: WebhookDelivery
  readonly userId: UserId | null
}

export interface DeliveriesWanted {
  readonly userId?: UserId | undefined
  readonly messageId?: string | undefined
  readonly outcome?: 'succeeded' | 'failed' | undefined
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
}

/** What is to be sent again: a message by its id, or events of a user by `seq`, both inclusive. */
export type ReplayWanted = { readonly messageId: string } | { readonly userId: UserId; readonly from: number; readonly to: number }

const RETRY_SECONDS = 10

/** Newest first; page keys: [`startedAt`, `deliveryId`]. @throws ServiceError webhook_endpoint_not_found, user_not_found */
export async function listDeliveries(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId,
  { userId, messageId, outcome, from, to }: DeliveriesWanted,
  page: PageRequest
): Promise<Page<ShownDelivery>> {
  await endpointOf(deps, caller, endpointId)
  const userKey = userId === undefined ? undefined : await userKeyOf(deps, caller, userId)
  const filter = {
    ...(userKey !== undefined && { userKey }),
    ...(messageId !== undefined && { messageId }),
    ...(outcome !== undefined && { outcome }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to })
  }
  const found = await deps.store.webhooks.deliveries.list(endpointId, filter, page)
  const names = await namesOf(deps, found.rows)
  return { ...found, rows: found.rows.map(delivery => ({ delivery, userId: names.get(delivery.userKey) ?? null })) }
}

/**
 * One attempt, with the body that was sent, if it can be made again.
 * @throws ServiceError webhook_endpoint_not_found, webhook_delivery_not_found
 */
export async function readDelivery(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId,
  deliveryId: WebhookDeliveryId
): Promise<ShownDelivery & { readonly body: string | null }> {
  const { endpoint } = await endpointOf(deps, caller, endpointId)
  const delivery = await deps.store.webhooks.deliveries.find(endpointId, deliveryId)
  if (delivery === null)
    throw new ServiceError('webhook_delivery_not_found', 'The endpoint has no delivery with this delivery_id; it may have been erased.')
  const names = await namesOf(deps, [delivery])
  return { delivery, userId: names.get(delivery.userKey) ?? null, body: await deps.webhooks.requests.bodyOf(endpoint, delivery) }
}

/**
 * Makes one attempt with a test message, whether the endpoint is enabled or not. Once it was made, that it cannot be kept is part of the
 * answer, and no error.
 * @throws ServiceError webhook_endpoint_not_found, rate_limited
 */
export async function sendTest(deps: EndpointDeps, caller: EndpointCaller, endpointId: WebhookEndpointId): Promise<WebhookTest> {
  const known = await endpointOf(deps, caller, endpointId)
  const retryAfterSeconds = deps.webhooks.requests.countTest(endpointId)
  if (retryAfterSeconds !== null)
    throw new ServiceError('rate_limited', `An endpoint is sent ${TESTS_PER_MINUTE} test messages a minute at most; try again later.`, {
      retryAfterSeconds
    })
  await deps.store.audit.append(audited(deps.clock, caller, 'webhook_endpoint.test', endpointId))
  return await deps.webhooks.requests.test(known)
}

/**
 * Begins to send events again. Gives the events: how many there are follows from the log.
 * @throws ServiceError webhook_endpoint_not_found, webhook_endpoint_disabled, webhook_delivery_not_found, user_not_found, field_invalid,
 *   rate_limited
 */
export async function replay(
  deps: EndpointDeps,
  caller: EndpointCaller,
  endpointId: WebhookEndpointId,
  wanted: ReplayWanted
): Promise<{ readonly from: number; readonly to: number }> {
  const known = await endpointOf(deps, caller, endpointId)
  if (known.endpoint.disabled !== null)
    throw new ServiceError('webhook_endpoint_disabled', 'The endpoint is disabled; enable it first, and it goes on where it was.')
  const events = 'messageId' in wanted ? await eventsOf(deps, endpointId, wanted.messageId) : await rangeOf(deps, caller, wanted)
  await deps.store.audit.append(
    audited(deps.clock, caller, 'webhook_endpoint.replay', endpointId, { user: events.userKey, from: events.from, to: events.to })
  )
  if (!deps.webhooks.requests.replay(known, events))
    throw new ServiceError(
      'rate_limited',
      `A node carries out ${REPLAYS_MAX} replays at once, ${PLATFORM_REPLAYS_MAX} of them for one platform, and as many are under way; try again later.`,
      { retryAfterSeconds: RETRY_SECONDS }
    )
  return { from: events.from, to: events.to }
}

async function eventsOf({ store }: EndpointDeps, endpointId: WebhookEndpointId, messageId: string): Promise<WebhookReplay> {
  const { rows } = await store.webhooks.deliveries.list(endpointId, { messageId }, { limit: 1, edge: null, descending: true })
  const [delivery] = rows
  if (delivery === undefined || delivery.userKey === null || delivery.events === null)
    throw new ServiceError(
      'webhook_delivery_not_found',
      'The endpoint has no delivery of events with this message_id; it may have been erased.'
    )
  const { userKey, filter } = delivery
  const { from, to } = delivery.events
  return { userKey, from, to, ...(filter !== undefined && { filter }) }
}

async function rangeOf(
  deps: EndpointDeps,
  caller: EndpointCaller,
  { userId, from, to }: Extract<ReplayWanted, { readonly userId: UserId }>
): Promise<WebhookReplay> {
  if (to - from >= REPLAY_EVENTS_MAX || to < from) {
    const message = `must be from_seq or more, and less than ${REPLAY_EVENTS_MAX} above it`
    throw new ServiceError('field_invalid', `to_seq ${message}.`, { details: [{ path: 'to_seq', message }] })
  }
  const userKey = await userKeyOf(deps, caller, userId)
  const last = await deps.store.events.last(userKey)
  if (from > last) {
    const message = `must be at most ${last}, the seq of the user’s newest update`
    throw new ServiceError('field_invalid', `from_seq ${message}.`, { details: [{ path: 'from_seq', message }] })
  }
  return { userKey, from, to }
}

async function userKeyOf({ store }: EndpointDeps, caller: EndpointCaller, userId: UserId): Promise<UserKey> {
  const known = await store.users.find(caller.platform.platformId, userId)
  if (known === null) throw new ServiceError('user_not_found', 'There is no user with this user_id; create it with POST /users.')
  return known.user.userKey
}

async function namesOf({ store }: EndpointDeps, deliveries: readonly WebhookDelivery[]): Promise<ReadonlyMap<UserKey | null, UserId>> {
  const keys = [...new Set(deliveries.flatMap(({ userKey }) => userKey ?? []))]
  const users = await Promise.all(keys.map(userKey => store.users.findByKey(userKey)))
  return new Map(users.flatMap(user => (user === null ? [] : [[user.userKey, user.userId] as const])))
}
