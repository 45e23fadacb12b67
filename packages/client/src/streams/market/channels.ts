import type { Incoming } from '../connection.ts'
import type { Queue } from '../queue.ts'
import type { Bar, BarsOptions, Contract, Depth, Quote, Session, Trade } from './items.ts'
import { isBar, isContract, isDepth, isQuote, isTrade } from './parse.ts'

/** What one kind of subscription asks for, and how its updates join. */
export interface Channel<T> {
  /** The fields of `subscribe`: of the first one, and of each that goes on after an interruption. */
  request(nowMs: number): object
  /** @throws Error if it is no update of this kind */
  put(update: Incoming, queue: Queue<T>): void
}

/** Bars that are asked for again after an interruption, at most, if fewer were asked for at first. */
const MISSED_MAX = 1_000
const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, M: 2_419_200_000, y: 31_536_000_000 }

/** Each closed bar once; of an open one that waits, the newest. */
export function bars({ symbol, interval, session, backfill = 0 }: BarsOptions): Channel<Bar> {
  let closed: bigint | null = null
  return {
    request(nowMs) {
      const missed = closed === null ? backfill : Math.min(missedBars(closed, interval, nowMs), Math.max(MISSED_MAX, backfill))
      return { channel: 'bars', symbol, interval, ...(session !== undefined && { session }), backfill_nbars: missed }
    },
    put(update, queue) {
      const { o, h, l, c, v, ts, st } = checked(update, isBar)
      const start = BigInt(ts)
      if (closed !== null && start <= closed) return
      if (st === 'c') closed = start
      queue.replace({ o, h, l, c, v, ts, st }, waiting => waiting.st === 'o')
    }
  }
}

function missedBars(closed: bigint, interval: string, nowMs: number): number {
  const [, count = '1', unit = 'm'] = /^(\d+)(\w)$/.exec(interval) ?? []
  return Math.ceil((nowMs - Number(closed / 1_000_000n)) / (Number(count) * (MS[unit] ?? MS.m ?? 1))) + 1
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
      queue.replace({ bp, bs, ap, as, ts }, () => true)
    }
  }
}

/** Only the newest one waits. */
export function depth(symbol: string, levels?: number): Channel<Depth> {
  return {
    request: () => ({ channel: 'depth', symbol, ...(levels !== undefined && { n_levels: levels }) }),
    put(update, queue) {
      const { b, a } = checked(update, isDepth)
      queue.replace({ b, a }, () => true)
    }
  }
}

/** Of each contract, only the newest state waits. */
export function chain(symbol: string, expiration: string, greeks: boolean): Channel<Contract> {
  const symbolOf = ({ legs }: Contract) => legs[0]?.sym
  return {
    request: () => ({ channel: 'options_chain', symbol, expiration, greeks }),
    put(update, queue) {
      const { sub_id: _, ...contract } = checked(update, isContract)
      queue.replace(contract, waiting => symbolOf(waiting) === symbolOf(contract))
    }
  }
}

function checked<T>(update: Incoming, is: (update: Incoming) => update is Incoming & T): Incoming & T {
  if (!is(update)) throw new Error('an update of market data has another form than its subscription')
  return update
}
