/** The day of each requested share: its open, high, low and last price and its volume, kept up to date by its prints. */

import { compare, parseDecimal } from '@trunkline/core/domain/decimal'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import type { Micros } from '../../../engine/types.ts'
import type { FeedTrade } from '../../../market/types.ts'
import { dayOf, startOfDay } from '../days.ts'

/** Prices as the market writes them. */
export interface Day {
  readonly open: string | null
  readonly high: string | null
  readonly low: string | null
  readonly last: string | null
  readonly lastSize: number
  readonly lastAt: Micros
  readonly lastVenue: string | null
  readonly volume: number
  readonly previousClose: string | null
}

export type Growing = { -readonly [Field in keyof Day]: Day[Field] } & { until: Micros }

interface Followed {
  readonly tap: Disposable
  readonly day: Promise<Growing>
  requestedAt: number
}

/** Over the longest pause between two trading days. */
const LOOK_BACK: Micros = 10 * 86_400_000_000
/** Shares followed at once; beyond it the one that was asked for longest ago is let go. */
const FOLLOWED_MAX = 500
const NOTHING = {
  open: null,
  high: null,
  low: null,
  last: null,
  lastSize: 0,
  lastAt: 0,
  lastVenue: null,
  volume: 0,
  previousClose: null
} as const

export class Tape {
  readonly #brokerage: Pick<DialectBrokerage, 'taps' | 'market' | 'clock' | 'realNow' | 'onError'>
  readonly #followed = new Map<string, Followed>()

  constructor(brokerage: Pick<DialectBrokerage, 'taps' | 'market' | 'clock' | 'realNow' | 'onError'>) {
    this.#brokerage = brokerage
  }

  /** The day so far of a symbol that exists. */
  async day(symbol: string): Promise<Day> {
    const followed = this.#followed.get(symbol) ?? this.#follow(symbol)
    followed.requestedAt = this.#brokerage.realNow()
    const day = await followed.day
    roll(day, this.#brokerage.clock.now())
    return day
  }

  close(): void {
    for (const { tap } of this.#followed.values()) tap[Symbol.dispose]()
    this.#followed.clear()
  }

  #follow(symbol: string): Followed {
    if (this.#followed.size >= FOLLOWED_MAX) this.#letGo()
    const from = this.#brokerage.clock.now()
    const begun: { day: Growing | null; early: FeedTrade[] } = { day: null, early: [] }
    const trade = (print: FeedTrade) => {
      if (print.at <= from) return
      if (begun.day === null) begun.early.push(print)
      else grow(begun.day, print)
    }
    const tap = this.#brokerage.taps.add(symbol, { trade })
    const day = this.#begin(symbol, from).then(growing => {
      for (const print of begun.early) grow(growing, print)
      begun.day = growing
      return growing
    })
    const followed = { tap, day, requestedAt: this.#brokerage.realNow() }
    // The caller gets the error; the next one tries again.
    day.catch(() => this.#forget(symbol, followed))
    this.#followed.set(symbol, followed)
    return followed
  }

  async #begin(symbol: string, now: Micros): Promise<Growing> {
    const today = startOfDay(dayOf(now))
    const query = { symbol, to: now + 1, now, limit: 1 }
    const [before] = await this.#brokerage.market.bars({ ...query, interval: '1d', from: today - LOOK_BACK, to: today })
    const [bar] = await this.#brokerage.market.bars({ ...query, interval: '1d', from: today })
    const [minute] = await this.#brokerage.market.bars({ ...query, interval: '1m', from: now - 86_400_000_000 })
    const day = { ...NOTHING, previousClose: before?.close ?? null, until: startOfDay(dayOf(now).add({ days: 1 })) }
    const last = minute === undefined ? null : { last: minute.close, lastAt: Math.min(now, minute.start + 59_999_000) }
    if (bar === undefined) return { ...day, ...last }
    return { ...day, open: bar.open, high: bar.high, low: bar.low, last: bar.close, volume: Number(bar.volume), lastAt: now, ...last }
  }

  #letGo(): void {
    const [oldest] = [...this.#followed].sort(([, a], [, b]) => a.requestedAt - b.requestedAt)
    if (oldest !== undefined) this.#forget(...oldest)
  }

  #forget(symbol: string, followed: Followed): void {
    followed.tap[Symbol.dispose]()
    if (this.#followed.get(symbol) === followed) this.#followed.delete(symbol)
  }
}

export function grow(day: Growing, { price, size, at, effect, venue }: FeedTrade): void {
  roll(day, at)
  day.volume += Number(size)
  if (effect === 'volume') return
  day.open ??= price
  if (day.high === null || isAbove(price, day.high)) day.high = price
  if (day.low === null || isAbove(day.low, price)) day.low = price
  Object.assign(day, { last: price, lastSize: Number(size), lastAt: at, lastVenue: venue ?? null })
}

function isAbove(price: string, other: string): boolean {
  return price !== other && compare(parseDecimal(price, 'price'), parseDecimal(other, 'price')) > 0
}

/** A new day has begun: nothing of it has been traded yet. */
function roll(day: Growing, at: Micros): void {
  if (at < day.until) return
  Object.assign(day, {
    previousClose: day.last ?? day.previousClose,
    open: null,
    high: null,
    low: null,
    volume: 0,
    until: startOfDay(dayOf(at).add({ days: 1 }))
  })
}
