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
  end: (error: unknown) => void = () => undefined

  constructor(options: HistoryOptions) {
    this.#options = options
    this.bars = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.end = reject
    })
  }

  request(): object {
    const { symbol, interval, start, end } = this.#options
    return { action: 'snapshot', data_type: 'bars', symbol, interval, start_time: start, end_time: end }
  }

  put({ data }: Incoming): void {
    const items: readonly Incoming[] = Array.isArray(data) ? data.map(Object) : [{}]
    const bars = items.filter(isBar)
    if (bars.length === items.length) this.#resolve(bars.map(({ o, h, l, c, v, ts, st }) => ({ o, h, l, c, v, ts, st })))
    else this.end(new StreamError('subscription_refused', 'the answer is not bars'))
  }

  accepted(): void {
    // Its only answer are the bars.
  }

  interrupted(): void {
    // It is asked for again.
  }
}
