// Test messages and replays, which a platform asks for. They move no cursor.
import type { PlatformId, UserId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import type { WebhookEndpoint } from '@trunkline/core/domain/webhook'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import { CommitUnknown, type EventStore, type LoggedEvent, type Store, StoreUnavailable } from '@trunkline/core/ports/store'
import type { Vault } from '@trunkline/core/ports/vault'
import {
  PLATFORM_REPLAYS_MAX,
  REPLAY_FAILURES_MAX,
  REPLAYS_MAX,
  TESTS_PER_MINUTE,
  type WebhookReplay,
  type WebhookRequests,
  type WebhookTest
} from '@trunkline/core/ports/webhook-requests'
import type { KnownWebhookEndpoint, WebhookDelivery, WebhookStore } from '@trunkline/core/ports/webhook-store'
import { RateLimiter, type SharedLimits } from '../auth/rate-limit.ts'
import type { Exchange } from './exchange.ts'
import { EVENTS_MAX, nextStretch, TEST_BODY, type WebhookMessage } from './message.ts'
import { openWebhookKeys, signedHeadersOf, WebhookSigner } from './signing-keys.ts'

export interface RequestsDeps {
  readonly store: {
    readonly events: Pick<EventStore, 'read' | 'span'>
    readonly users: Pick<Store['users'], 'findByKey'>
    readonly webhooks: {
      readonly endpoints: Pick<WebhookStore['endpoints'], 'find'>
      readonly deliveries: Pick<WebhookStore['deliveries'], 'add'>
    }
  }
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  readonly ids: Pick<Ids, 'uuid'>
  readonly vault: Vault
  readonly log: Log
  readonly meter: Pick<Meter, 'count'>
  readonly exchange: Exchange
  /** What the nodes of a cluster share; null or absent where there is one. */
  readonly sharedLimits?: SharedLimits | null
}

const TESTS = { perSecond: TESTS_PER_MINUTE / 60, burst: TESTS_PER_MINUTE }
/** Endpoints whose test messages are counted at once. */
const TESTED_MAX = 10_000
export const HEADERS = { 'content-type': 'application/json', 'user-agent': 'Trunkline-Webhooks' }

/** What is sent again, and the user by the name that the messages have. */
interface Replay extends WebhookReplay {
  readonly userId: UserId
}

export class SentOnRequest implements WebhookRequests {
  readonly #deps: RequestsDeps
  /** Replays, with the platforms that asked for them. */
  readonly #running = new Map<Promise<void>, PlatformId>()
  readonly #tests: RateLimiter
  #isStopping = false

  constructor(deps: RequestsDeps) {
    this.#deps = deps
    this.#tests = new RateLimiter(TESTS, TESTED_MAX, deps.sharedLimits?.('webhook_test') ?? null)
  }

  countTest(endpointId: WebhookEndpointId): number | null {
    return this.#tests.take(endpointId, this.#deps.clock.monotonicMs()).retryAfterSeconds
  }

  async test(known: KnownWebhookEndpoint): Promise<WebhookTest> {
    const messageId = `msg_test_${this.#deps.ids.uuid()}`
    const delivery = await this.#attempt(known, { messageId, body: TEST_BODY }, { userKey: null, events: null, reason: 'test' })
    return { delivery, isKept: await this.#keepIfPossible(delivery) }
  }

  replay(known: KnownWebhookEndpoint, events: WebhookReplay): boolean {
    const { platformId } = known.endpoint
    const ofPlatform = [...this.#running.values()].filter(other => other === platformId)
    if (this.#isStopping || this.#running.size >= REPLAYS_MAX || ofPlatform.length >= PLATFORM_REPLAYS_MAX) return false
    const running = this.#replay(known, events)
      .catch(cause => this.#deps.log.warn('a replay of webhooks ended early', { endpointId: known.endpoint.endpointId, cause }))
      .finally(() => this.#running.delete(running))
    this.#running.set(running, platformId)
    return true
  }

  async bodyOf(endpoint: WebhookEndpoint, { userKey, events, messageId, requestBytes, filter }: WebhookDelivery): Promise<string | null> {
    if (userKey === null || events === null) return Buffer.from(TEST_BODY).toString()
    const user = await this.#deps.store.users.findByKey(userKey)
    if (user === null) return null
    const sent = { userKey, userId: user.userId, from: events.from, to: events.to, ...(filter !== undefined && { filter }) }
    const { message } = await this.#next(endpoint, sent, events.from - 1)
    if (message === null || message.messageId !== messageId || message.body.byteLength !== requestBytes) return null
    return Buffer.from(message.body).toString()
  }

  /** Waits for the attempts on their way. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#running.keys())
  }

  async #replay(known: KnownWebhookEndpoint, { userKey, from, to, filter }: WebhookReplay): Promise<void> {
    const user = await this.#deps.store.users.findByKey(userKey)
    if (user === null) return
    const replay = { userKey, userId: user.userId, from, to, ...(filter !== undefined && { filter }) }
    let present: KnownWebhookEndpoint | null = known
    let failures = 0
    for (let at = from - 1; at < to && !this.#isStopping; ) {
      present = await this.#deps.store.webhooks.endpoints.find(known.endpoint.platformId, known.endpoint.endpointId)
      if (present === null || present.endpoint.disabled !== null || failures >= REPLAY_FAILURES_MAX) return
      const { message, to: next } = await this.#next(present.endpoint, replay, at)
      if (next === at) return
      at = next
      if (message === null) continue
      const { from: first, to: last, firstEventId, count } = message
      const events = { from: first, to: last, firstEventId, count }
      const wanted = filter ?? present.endpoint.filter
      const delivery = await this.#attempt(present, message, { userKey, events, reason: 'replay', filter: wanted })
      await this.#deps.store.webhooks.deliveries.add(delivery)
      failures = delivery.failure === null ? 0 : failures + 1
    }
  }

  /** The next message after `after`, of the events that are to be sent. */
  async #next(endpoint: WebhookEndpoint, { userKey, userId, to, filter = endpoint.filter }: Replay, after: number) {
    const { events: log } = this.#deps.store
    const found: readonly LoggedEvent[] = await log.read(userKey, after, Math.min(EVENTS_MAX, to - after))
    const [first] = found
    const erasedTo = first === undefined ? Math.min((await log.span(userKey)).oldest - 1, to) : Math.min(first.seq - 1, to)
    const events = found.filter(({ seq }) => seq <= to)
    return nextStretch({
      ...{ endpointId: endpoint.endpointId, userKey, userId, filter },
      ...{ cursor: { seq: after, tryingTo: to }, events, erasedTo: Math.max(after, erasedTo) }
    })
  }

  async #attempt(
    { endpoint, keys }: KnownWebhookEndpoint,
    { messageId, body }: Pick<WebhookMessage, 'messageId' | 'body'>,
    about: Pick<WebhookDelivery, 'userKey' | 'events' | 'reason' | 'filter'>
  ): Promise<WebhookDelivery> {
    const { clock, exchange, ids, meter, vault } = this.#deps
    const signer = new WebhookSigner(openWebhookKeys(vault, endpoint, keys))
    const startedAt = clock.now()
    const begun = clock.monotonicMs()
    const requestHeaders = { ...HEADERS, ...signedHeadersOf(signer, messageId, startedAt, body) }
    const { answer, failure } = await exchange({ url: endpoint.url, headers: requestHeaders, body })
    const delivery: WebhookDelivery = {
      ...{ deliveryId: ids.uuid(), endpointId: endpoint.endpointId, messageId, ...about, attempt: 1, startedAt },
      ...{ tookMs: Math.round(clock.monotonicMs() - begun), requestHeaders, requestBytes: body.byteLength },
      ...{ answer, failure, retryAt: null }
    }
    meter.count('webhook_attempts_total', { outcome: failure ?? 'succeeded' })
    return delivery
  }

  /** The message was sent: that this cannot be kept is no failure of the request. Null if it is not known. */
  async #keepIfPossible(delivery: WebhookDelivery): Promise<boolean | null> {
    try {
      await this.#deps.store.webhooks.deliveries.add(delivery)
      return true
    } catch (cause) {
      if (!(cause instanceof StoreUnavailable || cause instanceof CommitUnknown)) throw cause
      this.#deps.log.warn('a test message was sent, and the attempt could not be kept', { endpointId: delivery.endpointId, cause })
      return cause instanceof CommitUnknown ? null : false
    }
  }
}
