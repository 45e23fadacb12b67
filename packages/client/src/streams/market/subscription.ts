import type { Incoming, Timers } from '../connection.ts'
import { StreamError } from '../errors.ts'
import { queueOf } from '../queue.ts'
import { type Reader, readerOf } from '../reader.ts'
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
  end(error?: unknown): void
}

/** Items that may wait. Closed bars and trades are never merged, so a reader that is slower than this ends with an error. */
const WAITING_MAX = 100_000

/**
 * What one reader of a channel iterates over.
 * @param left called once, when nothing is wanted any more
 */
export function subscriptionOf<T>(
  channel: Channel<T>,
  onStatus: Subscribing['onStatus'],
  timers: Timers,
  left: () => void
): Reader<T> & Subscription {
  const queue = queueOf<T>()
  /** What was reported last: a reason, or null for current data. */
  let reported: string | null | undefined
  /** When the data was current for certain; null: not yet. */
  let currentMs: number | null = null
  const reader = readerOf(queue.take, left)

  function current(): void {
    const now = timers.nowMs()
    if (currentMs !== null && reported !== null) channel.resumed?.(now - currentMs)
    currentMs = now
    void report(null)
  }

  /** Never rejects: other subscriptions of the same connection must not suffer. */
  async function report(reason: string | null): Promise<void> {
    if (reason === reported) return
    reported = reason
    const status: MarketStatus = reason === null ? { isLive: true } : { isLive: false, reason }
    try {
      await onStatus?.(status)
    } catch {
      // It only watches.
    }
  }

  return {
    ...reader,
    request: () => channel.request(currentMs === null ? null : timers.nowMs() - currentMs),
    accepted() {
      current()
      channel.accepted?.()
    },
    put(update) {
      current()
      channel.put(update, queue)
      reader.wake()
      if (queue.length() > WAITING_MAX) reader.end(new StreamError('too_slow', `${WAITING_MAX} updates wait for their reader`))
    },
    interrupted: reason => void report(reason)
  }
}
