import type { Incoming } from '../connection.ts'
import type { Queue } from '../queue.ts'
import type { Bar, BarsOptions, Contract, Depth, Quote, Session, Trade } from './items.ts'
import { isBar, isContract, isDepth, isQuote, isTrade } from './parse.ts'

/** What one kind of subscription asks for, and how its updates join. */
export interface Channel<T> {
  /**
   * The fields of `subscribe`: of the first one, and of each that goes on after an interruption.
   * @param absenceMs since the data was current for certain; null: it was not yet
   */
  request(absenceMs: number | null): object
  /** The service took the last request. */
  accepted?(): void
  /** The service itself goes on after an interruption of its broker, within the session. */
  resumed?(absenceMs: number): void
  /** @throws Error if it is no update of this kind */
  put(update: Incoming, queue: Queue<T>): void
}

/** Bars that are asked for again after an interruption, at most, if fewer were asked for at first. */
const MISSED_MAX = 1_000
const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, M: 2_419_200_000, y: 31_536_000_000 }

/** Each closed bar once; of an open one that waits, the newest. */
export function bars({ symbol, interval, session, backfill = 0 }: BarsOptions): Channel<Bar> {
  let closed: bigint | null = null
  /** Closed bars that the last request asked for, … */
  let asked = 0
  /** … and those that are yet to come. Counted, not timed: bars exist only where there was trade. */
  let due = 0
  return {
    request(absenceMs) {
      asked = absenceMs === null ? backfill : Math.min(due + missedBars(absenceMs, interval), Math.max(MISSED_MAX, backfill))
      return { channel: 'bars', symbol, interval, ...(session !== undefined && { session }), backfill_nbars: asked }
    },
    accepted() {
      due = asked
    },
    resumed(absenceMs) {
      due += missedBars(absenceMs, interval)
    },
    put(update, queue) {
      const { o, h, l, c, v, ts, st } = checked(update, isBar)
      const start = BigInt(ts)
      if (st === 'c') due = Math.max(0, due - 1)
      if (closed !== null && start <= closed) return
      const bar = { o, h, l, c, v, ts, st }
      if (st === 'o') return queue.put(bar, 'open')
      closed = start
      queue.delete('open')
      queue.put(bar)
    }
  }
}

/** At most so many bars have closed since: the one that was open then, and those after it. */
function missedBars(absenceMs: number, interval: string): number {
  const [, count = '1', unit = 'm'] = /^(\d+)(\w)$/.exec(interval) ?? []
  return Math.ceil(absenceMs / (Number(count) * (MS[unit] ?? MS.m ?? 1))) + 1
}

/** Each trade once. */
export function trades(symbol: string, session?: Session): Channel<Trade> {
  return {
    request: () => ({ channel: 'trades', symbol, ...(session !== undefined && { session }) }),
    put(update, queue) {
      const { p, s, n, ts } = checked(update, isTrade)
      queue.put({ p, s, n, ts })
    }
  }
}

/** Only the newest one waits. */
export function quotes(symbol: string): Channel<Quote> {
  return {
    request: () => ({ channel: 'quotes', symbol }),
    put(update, queue) {
      const { bp, bs, ap, as, ts } = checked(update, isQuote)
      queue.put({ bp, bs, ap, as, ts }, 'newest')
    }
  }
}

/** Only the newest one waits. */
export function depth(symbol: string, levels?: number): Channel<Depth> {
  return {
    request: () => ({ channel: 'depth', symbol, ...(levels !== undefined && { n_levels: levels }) }),
    put(update, queue) {
      const { b, a } = checked(update, isDepth)
      queue.put({ b, a }, 'newest')
    }
  }
}

/** Of each contract, only the newest state waits. */
export function chain(symbol: string, expiration: string, greeks: boolean): Channel<Contract> {
  return {
    request: () => ({ channel: 'options_chain', symbol, expiration, greeks }),
    put(update, queue) {
      const { sub_id: _, ...contract } = checked(update, isContract)
      queue.put(contract, contract.legs[0]?.sym)
    }
  }
}

function checked<T>(update: Incoming, is: (update: Incoming) => update is Incoming & T): Incoming & T {
  if (!is(update)) throw new Error('an update of market data has another form than its subscription')
  return update
}
