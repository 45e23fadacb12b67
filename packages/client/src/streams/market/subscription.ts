import type { Incoming } from '../connection.ts'
import { StreamError } from '../errors.ts'
import { Queue } from '../queue.ts'
import type { Channel } from './channels.ts'
import type { MarketStatus } from './items.ts'

/** What the stream needs of a subscription, whatever its kind. */
export interface Subscription {
  request(nowMs: number): object
  put(update: Incoming): void
  /** The data is not current any more. */
  interrupted(reason: string): void
  /** The service took it; updates follow. */
  accepted(): void
  fail(error: unknown): void
}

/** Items that may wait. Closed bars and trades are never merged, so a reader that is slower than this ends with an error. */
const WAITING_MAX = 100_000

export class ChannelSubscription<T> implements Subscription {
  readonly queue = new Queue<T>()
  readonly #channel: Channel<T>
  readonly #onStatus: (status: MarketStatus) => void
  #isLive = false

  constructor(channel: Channel<T>, onStatus: (status: MarketStatus) => void = () => undefined) {
    this.#channel = channel
    this.#onStatus = onStatus
  }

  request(nowMs: number): object {
    return this.#channel.request(nowMs)
  }

  accepted(): void {
    this.#report({ isLive: true })
  }

  put(update: Incoming): void {
    this.#report({ isLive: true })
    this.#channel.put(update, this.queue)
    if (this.queue.length > WAITING_MAX) this.fail(new StreamError('too_slow', `${WAITING_MAX} updates wait for their reader`))
  }

  interrupted(reason: string): void {
    this.#report({ isLive: false, reason })
  }

  fail(error: unknown): void {
    this.queue.end(error)
  }

  #report(status: MarketStatus): void {
    if (status.isLive === this.#isLive) return
    this.#isLive = status.isLive
    try {
      this.#onStatus(status)
    } catch {
      // Other subscriptions of the same connection must not suffer.
    }
  }
}
