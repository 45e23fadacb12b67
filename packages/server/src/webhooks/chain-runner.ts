import type { UserId, UserKey } from '@trunkline/core/domain/ids'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { WebhookCursor, WebhookEndpoint } from '@trunkline/core/domain/webhook'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import type { EventStore, LoggedEvent } from '@trunkline/core/ports/store'
import type { WebhookCursorStore, WebhookDelivery, WebhookEndpointStore } from '@trunkline/core/ports/webhook-store'
import type { Chain, EndpointQueue } from './endpoint-queue.ts'
import type { Exchange, WebhookOutcome } from './exchange.ts'
import { EVENT_BYTES_MAX, EVENTS_MAX, nextStretch, type Stretch, type WebhookMessage } from './message.ts'
import type { RecentEvents } from './recent-events.ts'
import { HEADERS } from './requests.ts'
import { FAILING_MS, retryAt } from './retries.ts'
import { signedHeadersOf } from './signing-keys.ts'

export interface RunnerDeps {
  readonly cursors: Pick<WebhookCursorStore, 'find' | 'progress'>
  readonly endpoints: Pick<WebhookEndpointStore, 'setDisabled'>
  readonly events: Pick<EventStore, 'read' | 'span'>
  readonly recent: Pick<RecentEvents, 'after'>
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  readonly ids: Ids
  readonly log: Log
  readonly meter: Pick<Meter, 'count'>
  readonly exchange: Exchange
}

/** When a chain goes on: now, at a time, once there is more, or never, since the endpoint or the user is gone. */
export type Next = 'ready' | 'passed' | 'gone' | Timestamp

/** Without a row: the user is newer than the endpoint. */
const START: WebhookCursor = { seq: 0, tryingTo: null, attempts: 0, retryAt: null }
const GONE = 410
/** Of a message that is tried first while its endpoint fails: what is unlikely to be received should cost little. */
const PROBE_EVENTS_MAX = 10
/** Of the documents in one read: as the store has them, they are about as long as in the message. */
const READ_BYTES_MAX = 2 * EVENT_BYTES_MAX
/** After the store failed. */
const AGAIN_MS = 1_000
export const UNWRITTEN = 'a step of a webhook could not be written or read; it is made again'

/** When a step that the store failed is made again. */
export function soon(now: Timestamp): Timestamp {
  return timestampOfMs(epochMs(now) + AGAIN_MS)
}

/** What there is to send of a user's log. */
interface Part {
  readonly cursor: WebhookCursor
  readonly message: WebhookMessage
  /** Where the cursor is afterwards. */
  readonly to: number
  /** As it was when the message was composed. */
  readonly endpoint: WebhookEndpoint
}

/**
 * Takes a user of an endpoint one step further: it passes events over, or makes one attempt and writes how it ended. A success is written
 * while what is next is sent: one at a time, and the chain has it until then.
 */
export class ChainRunner {
  readonly #deps: RunnerDeps
  #writing = 0

  constructor(deps: RunnerDeps) {
    this.#deps = deps
  }

  /** Successes that are being written. */
  get writing(): number {
    return this.#writing
  }

  /** @throws StoreUnavailable: the cursor is then where the store has it */
  async run(queue: EndpointQueue, chain: Chain, userId: UserId): Promise<Next> {
    const { cursors, clock } = this.#deps
    if (chain.cursor === null) await chain.writing
    const cursor = chain.cursor ?? (await cursors.find(queue.endpoint.endpointId, chain.userKey)) ?? START
    chain.cursor = cursor
    if (cursor.retryAt !== null && cursor.retryAt > clock.now()) return cursor.retryAt
    if (cursor.seq >= chain.last) return 'passed'
    const { endpoint } = queue
    const { message, to } = await this.#stretch(queue, chain, cursor, userId)
    // The log has nothing more: the user is gone.
    if (to === cursor.seq) return 'gone'
    if (message === null) {
      chain.cursor = { ...START, seq: to }
      chain.isDirty = true
      return to < chain.last ? 'ready' : 'passed'
    }
    if (chain.isOver || queue.isDisabled) return 'passed'
    return await this.#attempt(queue, chain, { cursor, message, to, endpoint })
  }

  /** What is next. It is a function of its own so that the events that were read are gone while the answer is waited for. */
  async #stretch(queue: EndpointQueue, chain: Chain, cursor: WebhookCursor, userId: UserId): Promise<Stretch> {
    const { userKey } = chain
    const read = await this.#read(userKey, cursor, queue.isFailing && cursor.tryingTo === null ? PROBE_EVENTS_MAX : EVENTS_MAX)
    chain.since = read.events[0]?.at ?? chain.since
    const { endpointId, filter } = queue.endpoint
    return nextStretch({ endpointId, userKey, userId, filter, cursor, ...read })
  }

  /** Writes that events were passed over. It never rejects: what could not be written is passed over again. */
  async flush(queue: EndpointQueue, chain: Chain): Promise<void> {
    if (chain.writing !== null) await chain.writing
    const { cursor, userKey } = chain
    if (cursor === null || !chain.isDirty) return
    chain.isDirty = false
    const { endpointId } = queue.endpoint
    chain.writing = this.#written(queue, chain, this.#deps.cursors.progress({ endpointId, userKey, cursor, delivery: null }))
    await chain.writing
  }

  async #read(
    userKey: UserKey,
    cursor: WebhookCursor,
    max: number
  ): Promise<{ readonly events: readonly LoggedEvent[]; readonly erasedTo: number }> {
    const { events, recent } = this.#deps
    const atHand = recent.after(userKey, cursor.seq, max) ?? []
    if ((atHand.at(-1)?.seq ?? 0) >= (cursor.tryingTo ?? 1)) return { events: atHand, erasedTo: cursor.seq }
    const found: LoggedEvent[] = []
    // A message that was tried is read to its end, however the log divides it.
    for (let after = cursor.seq; found.length < max; ) {
      const part = await events.read(userKey, after, max - found.length, READ_BYTES_MAX)
      found.push(...part)
      after = part.at(-1)?.seq ?? after
      if (part.length === 0 || cursor.tryingTo === null || after >= cursor.tryingTo) break
    }
    const [first] = found
    if (first !== undefined) return { events: found, erasedTo: first.seq - 1 }
    const { oldest, last } = await events.span(userKey)
    return { events: [], erasedTo: Math.min(oldest - 1, last) }
  }

  async #attempt(queue: EndpointQueue, chain: Chain, { cursor, message, to, endpoint }: Part): Promise<Next> {
    const { clock, cursors, ids, meter } = this.#deps
    const { endpointId, url, filter, revision } = endpoint
    const startedAt = clock.now()
    const begun = clock.monotonicMs()
    const headers = { ...HEADERS, ...signedHeadersOf(queue.signer, message.messageId, startedAt, message.body) }
    const outcome = await this.#deps.exchange({ url, headers, body: message.body })
    const tookMs = Math.round(clock.monotonicMs() - begun)
    queue.took(tookMs)
    const attempts = cursor.attempts + 1
    const again = outcome.failure === null ? null : retryAt(attempts, clock.now(), ids.fraction(), outcome.retryAfter)
    const tried = { revision, otherwise: { attempts: 1, retryAt: retryAt(1, clock.now(), ids.fraction(), null) } }
    const isWantedAgain = outcome.answer?.status !== GONE
    const next: WebhookCursor =
      again === null ? { ...START, seq: to } : { seq: cursor.seq, tryingTo: cursor.tryingTo ?? to, attempts, retryAt: again }
    const { messageId, from, to: last, firstEventId, count } = message
    const delivery: WebhookDelivery = {
      ...{ deliveryId: ids.uuid(), endpointId, messageId, userKey: chain.userKey },
      ...{ events: { from, to: last, firstEventId, count }, reason: attempts === 1 ? 'event' : 'retry', attempt: attempts, startedAt },
      ...{ tookMs, requestHeaders: headers, requestBytes: message.body.byteLength },
      ...{ answer: outcome.answer, failure: outcome.failure, retryAt: isWantedAgain ? again : null },
      filter
    }
    meter.count('webhook_attempts_total', { outcome: outcome.failure ?? 'succeeded' })
    await chain.writing
    const written = cursors.progress({ endpointId, userKey: chain.userKey, cursor: next, delivery, ...(again !== null && { tried }) })
    const isKnown = again === null ? this.#goOn(queue, chain, written) : await written
    if (again !== null) chain.isUnwritten = false
    chain.cursor = next
    chain.isDirty = false
    if (!isKnown) return 'gone'
    // The attempt says nothing of the endpoint as it is now: where the waits were ended, the store has the other retry.
    if (queue.endpoint.revision === revision) await this.#judge(queue, endpoint, outcome, startedAt)
    else if (again !== null) {
      chain.cursor = null
      return 'ready'
    }
    return again ?? (to < chain.last ? 'ready' : 'passed')
  }

  /** Lets the chain go on while a success is being written. */
  #goOn(queue: EndpointQueue, chain: Chain, written: Promise<boolean>): true {
    this.#writing += 1
    const counted = written.finally(() => {
      this.#writing -= 1
    })
    chain.writing = this.#written(queue, chain, counted)
    return true
  }

  async #written(queue: EndpointQueue, chain: Chain, written: Promise<boolean>): Promise<void> {
    const { clock, log } = this.#deps
    try {
      const isKnown = await written
      chain.writing = null
      chain.isUnwritten = false
      if (isKnown) queue.settle(chain)
      else if (chain.state !== 'running') queue.drop(chain)
    } catch (cause) {
      chain.writing = null
      log.warn(UNWRITTEN, { endpointId: queue.endpoint.endpointId, cause })
      queue.unwritten(chain, soon(clock.now()))
    }
  }

  /** Counts what an attempt says of the endpoint, and disables one that wants no more, or has failed for too long. */
  async #judge(queue: EndpointQueue, tried: WebhookEndpoint, { answer, failure }: WebhookOutcome, at: Timestamp): Promise<void> {
    const { log } = this.#deps
    const { endpointId, platformId } = queue.endpoint
    if (failure === null) {
      if (queue.failures > 0) log.info('a webhook endpoint receives again', { endpointId, platformId, failures: queue.failures })
      queue.succeeded(this.#deps.clock.now())
      return
    }
    if (queue.failures === 0) log.warn('a webhook endpoint fails', { endpointId, platformId, failure, status: answer?.status ?? null })
    queue.failures += 1
    queue.failingSince ??= at
    if (queue.isDisabled) return
    if (answer?.status === GONE) await this.#disable(queue, tried, 'gone')
    else if (epochMs(at) - epochMs(queue.failingSince) >= FAILING_MS) await this.#disable(queue, tried, 'failing')
  }

  async #disable(queue: EndpointQueue, { revision }: WebhookEndpoint, reason: 'gone' | 'failing'): Promise<void> {
    const { clock, endpoints, log, meter } = this.#deps
    const { endpointId, platformId } = queue.endpoint
    queue.isDisabled = true
    try {
      const at = clock.now()
      const isDisabled = await endpoints.setDisabled(
        endpointId,
        { at, reason },
        {
          ...{ at, actor: 'service', action: 'webhook_endpoint.disable', target: endpointId, result: 'ok' },
          ...{ ip: null, requestId: null, detail: { reason } }
        },
        revision
      )
      if (!isDisabled) {
        // It was changed, disabled or removed meanwhile, which the next refresh says.
        queue.isDisabled = false
        return
      }
      meter.count('webhook_endpoints_disabled_total', { reason })
      log.warn('a webhook endpoint was disabled', { endpointId, platformId, reason })
    } catch (cause) {
      // The next failure tries it again.
      queue.isDisabled = false
      throw cause
    }
  }
}
