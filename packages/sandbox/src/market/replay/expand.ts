/** Turns recorded rows into engine commands. A bar becomes the fewest quotes or prints that reproduce it. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Micros, QuoteCommand, QuoteLevel, TradeCommand } from '../../engine/types.ts'
import { billionths, fromBillionths, type Price } from '../lean/numbers.ts'
import type { Ohlc, QuoteBar, QuoteSide, TradeBar, TradeTick } from '../lean/rows.ts'
import type { SaleEffect } from '../lean/sale-conditions.ts'
import type { FeedTrade } from '../types.ts'

/** The last command of a bar comes this long before the next bar begins. */
const BEFORE_END: Micros = 1_000

/**
 * Sizes are cut after nine decimal places: the rest is noise of binary fractions, below a billionth of a crypto currency. Omits prints of
 * size 0 and those that only repeat another print.
 */
export function tickPrint(symbol: string, tick: TradeTick, effect: SaleEffect): readonly FeedTrade[] {
  const size = billionths(tick.size)
  if (size === 0n || effect === 'none') return []
  const print = { type: 'trade', at: tick.at, symbol, price: tick.price.text, size: fromBillionths(size), auction: null } as const
  return [{ ...print, ...(effect === 'volume' ? { effect } : {}), ...(tick.venue === '' ? {} : { venue: tick.venue }) }]
}

/**
 * One to four prints: open, the extremes that are neither open nor close (the one farther from the close first), close. Their sizes add up
 * to the volume. A bar without volume has none.
 */
export function barPrints(symbol: string, bar: TradeBar, length: Micros): readonly TradeCommand[] {
  const prices = path(bar)
  const sizes = shares(bar.volume, prices.length)
  return prices.flatMap((price, index) => {
    const size = sizes[index]
    if (size === undefined) return []
    return [{ type: 'trade', at: moment(bar.at, length, index, prices.length), symbol, price: price.text, size, auction: null } as const]
  })
}

/**
 * Up to four top-of-book quotes: both sides at their open, lows, highs and close. Both sides move together, so a market that was not
 * crossed in the recording is not crossed here. Each has the bar's last sizes, because no others are recorded.
 */
export function barQuotes(symbol: string, bar: QuoteBar, length: Micros): readonly QuoteCommand[] {
  const falling = bar.bid !== null ? isFalling(bar.bid) : bar.ask !== null && isFalling(bar.ask)
  const [first, second] = falling ? (['high', 'low'] as const) : (['low', 'high'] as const)
  const moments = (['open', first, second, 'close'] as const).filter((what, index, all) => {
    const before = index === 0 ? undefined : all[index - 1]
    return before === undefined || differs(bar.bid, what, before) || differs(bar.ask, what, before)
  })
  return moments.map((what, index) => ({
    type: 'quote',
    at: moment(bar.at, length, index, moments.length),
    symbol,
    bids: level(bar.bid, what),
    asks: level(bar.ask, what)
  }))
}

type Moment = keyof Ohlc

function differs(side: QuoteSide | null, a: Moment, b: Moment): boolean {
  return side !== null && side[a].value !== side[b].value
}

function level(side: QuoteSide | null, what: Moment): readonly QuoteLevel[] {
  if (side === null) return []
  const size = billionths(side.lastSize)
  return size === 0n ? [] : [[side[what].text, fromBillionths(size)]]
}

function path(bar: Ohlc): readonly Price[] {
  const all = isFalling(bar) ? [bar.open, bar.high, bar.low, bar.close] : [bar.open, bar.low, bar.high, bar.close]
  return all.filter((price, index) => price.value !== all[index - 1]?.value)
}

function isFalling(bar: Ohlc): boolean {
  return bar.close.value < bar.open.value
}

/** `volume` in `count` parts, in whole units if there are enough; fewer parts if even billionths do not suffice. */
function shares(volume: Decimal, count: number): readonly Decimal[] {
  const total = billionths(volume)
  const parts = BigInt(count)
  const unit = 10n ** 9n
  const whole = total % unit === 0n && total / unit >= parts
  const each = whole ? (total / unit / parts) * unit : total / parts
  const last = total - each * (parts - 1n)
  return [...Array.from({ length: count - 1 }, () => each), last].filter(size => size > 0n).map(fromBillionths)
}

function moment(start: Micros, length: Micros, index: number, count: number): Micros {
  return count === 1 ? start : start + Math.floor(((length - BEFORE_END) * index) / (count - 1))
}
