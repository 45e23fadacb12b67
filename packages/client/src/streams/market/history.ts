import type { Incoming } from '../connection.ts'
import { StreamError } from '../errors.ts'
import type { Bar, HistoryOptions } from './items.ts'
import { isBar } from './parse.ts'
import type { Subscription } from './subscription.ts'

/** One read of past bars. It is asked for in each new connection until it has its answer. */
export class HistoryRead implements Subscription {
  readonly #options: HistoryOptions
  /** Rejects with what it failed with. */
  readonly bars: Promise<readonly Bar[]>
  #resolve: (bars: readonly Bar[]) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined

  constructor(options: HistoryOptions) {
    this.#options = options
    this.bars = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    options.signal?.addEventListener('abort', () => this.fail(options.signal?.reason))
  }

  request(): object {
    const { symbol, interval, start, end } = this.#options
    return { action: 'snapshot', data_type: 'bars', symbol, interval, start_time: start, end_time: end }
  }

  put({ data }: Incoming): void {
    if (!Array.isArray(data)) this.fail(new StreamError('subscription_refused', 'the answer has no bars'))
    else this.#resolve(data.filter(isBar).map(({ o, h, l, c, v, ts, st }) => ({ o, h, l, c, v, ts, st })))
  }

  accepted(): void {
    // Its only answer are the bars.
  }

  interrupted(): void {
    // It is asked for again.
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
