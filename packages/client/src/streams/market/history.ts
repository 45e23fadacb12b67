import type { Incoming } from '../connection.ts'
import { StreamError } from '../errors.ts'
import type { Bar, HistoryOptions } from './items.ts'
import { isBar } from './parse.ts'
import type { Subscription } from './subscription.ts'

/** One read of past bars. It is asked for in each new connection until it has its answer. */
export interface HistoryRead extends Subscription {
  /** Rejects with what it failed with. */
  readonly bars: Promise<readonly Bar[]>
}

export function historyRead({ symbol, interval, start, end: before }: HistoryOptions): HistoryRead {
  let resolve: (bars: readonly Bar[]) => void
  let end: (error?: unknown) => void = () => undefined
  return {
    bars: new Promise((onBars, onError) => {
      resolve = onBars
      end = onError
    }),
    end: error => end(error),
    request: () => ({ action: 'snapshot', data_type: 'bars', symbol, interval, start_time: start, end_time: before }),
    put({ data }) {
      const items: readonly Incoming[] = Array.isArray(data) ? data.map(Object) : [{}]
      const bars = items.filter(isBar)
      if (bars.length === items.length) resolve(bars.map(({ o, h, l, c, v, ts, st }) => ({ o, h, l, c, v, ts, st })))
      else end(new StreamError('subscription_refused', 'the answer is not bars'))
    },
    accepted() {
      // Its only answer are the bars.
    },
    interrupted() {
      // It is asked for again.
    }
  }
}
