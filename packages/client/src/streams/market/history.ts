import type { Incoming } from '../connection.ts'
import { StreamError } from '../errors.ts'
import type { Bar, HistoryOptions } from './items.ts'
import { isBar } from './parse.ts'
import type { Subscription } from './subscription.ts'

/** One read of past bars. It is asked for in each new connection until it has its answer. */
export class HistoryRead implements Subscription {
  readonly #options: HistoryOptions
  readonly #result = Promise.withResolvers<readonly Bar[]>()

  constructor(options: HistoryOptions) {
    this.#options = options
    options.signal?.addEventListener('abort', () => this.fail(options.signal?.reason))
  }

  get bars(): Promise<readonly Bar[]> {
    return this.#result.promise
  }

  request(): object {
    const { symbol, interval, start, end } = this.#options
    return { action: 'snapshot', data_type: 'bars', symbol, interval, start_time: start, end_time: end }
  }

  put({ data }: Incoming): void {
    if (!Array.isArray(data)) this.fail(new StreamError('subscription_refused', 'the answer has no bars'))
    else this.#result.resolve(data.filter(isBar).map(({ o, h, l, c, v, ts, st }) => ({ o, h, l, c, v, ts, st })))
  }

  accepted(): void {
    // Its only answer are the bars.
  }

  interrupted(): void {
    // It is asked for again.
  }

  fail(error: unknown): void {
    this.#result.reject(error)
  }
}
