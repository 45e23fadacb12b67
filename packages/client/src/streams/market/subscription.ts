import type { Incoming, Timers } from '../connection.ts'
import { StreamError } from '../errors.ts'
import { Queue } from '../queue.ts'
import { Reader } from '../reader.ts'
import type { Channel } from './channels.ts'
import type { MarketStatus, Subscribing } from './items.ts'

/** What the stream needs of a subscription, whatever its kind. */
export interface Subscription {
  request(): object
  put(update: Incoming): void
  /** The data is not current. */
  interrupted(reason: string): void
  /** The service took it; updates follow. */
  accepted(): void
  end(error: unknown): void
}

/** Items that may wait. Closed bars and trades are never merged, so a reader that is slower than this ends with an error. */
const WAITING_MAX = 100_000

export class ChannelSubscription<T> extends Reader<T> implements Subscription {
  readonly #channel: Channel<T>
  readonly #onStatus: Subscribing['onStatus']
  readonly #timers: Timers
  readonly #leave: () => void
  readonly #queue = new Queue<T>()
  /** What was reported last: a reason, or null for current data. */
  #reported: string | null | undefined
  /** When the data was current for certain; null: not yet. */
  #currentMs: number | null = null

  /** @param leave called once, when nothing is wanted any more */
  constructor(channel: Channel<T>, onStatus: Subscribing['onStatus'], timers: Timers, leave: () => void) {
    super()
    this.#channel = channel
    this.#onStatus = onStatus
    this.#timers = timers
    this.#leave = leave
  }

  request(): object {
    return this.#channel.request(this.#currentMs === null ? null : this.#timers.nowMs() - this.#currentMs)
  }

  accepted(): void {
    this.#current()
    this.#channel.accepted?.()
  }

  put(update: Incoming): void {
    this.#current()
    this.#channel.put(update, this.#queue)
    this.wake()
    if (this.#queue.length > WAITING_MAX) this.end(new StreamError('too_slow', `${WAITING_MAX} updates wait for their reader`))
  }

  interrupted(reason: string): void {
    void this.#report(reason)
  }

  protected take(): T | undefined {
    return this.#queue.take()
  }

  protected ended(): void {
    this.#leave()
  }

  #current(): void {
    const nowMs = this.#timers.nowMs()
    if (this.#currentMs !== null && this.#reported !== null) this.#channel.resumed?.(nowMs - this.#currentMs)
    this.#currentMs = nowMs
    void this.#report(null)
  }

  /** Never rejects: other subscriptions of the same connection must not suffer. */
  async #report(reason: string | null): Promise<void> {
    if (reason === this.#reported) return
    this.#reported = reason
    const status: MarketStatus = reason === null ? { isLive: true } : { isLive: false, reason }
    try {
      await this.#onStatus?.(status)
    } catch {
      // It only watches.
    }
  }
}
