/** When an order may trade, and the dates trades carry. */
import { timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import type { TimeInForce } from '@trunkline/core/domain/vocabulary'
import { isMarket, type Market, type Order } from './state.ts'
import type { Micros } from './types.ts'

const MICROS_A_DAY = 86_400_000_000

/**
 * Whether the order takes part in continuous trading now. Outside the `open` phase only DAY+ and GTC+ orders do, and of these only ones with a
 * limit: a thin market must not run away with an order that takes any price.
 */
export function mayTrade(order: Order): boolean {
  return mayTrigger(order) && (order.book.market.phase === 'open' || !isMarket(order))
}

/** Whether a stop may be set off now. */
export function mayTrigger(order: Order): boolean {
  const { halted, market } = order.book
  if (halted || market.phase === 'closed') return false
  return market.phase === 'open' || inExtendedHours(order.timeInForce)
}

export function inExtendedHours(timeInForce: TimeInForce): boolean {
  return timeInForce === 'DAY+' || timeInForce === 'GTC+'
}

export function isAuction(timeInForce: TimeInForce): boolean {
  return timeInForce === 'OPEN' || timeInForce === 'CLOSE'
}

/** The opening an OPEN order waits for: this session's if its print has not been seen yet, else the next one's. */
export function openingFor(market: Market, opened: boolean): number {
  return market.phase === 'open' && !opened ? market.session : market.session + 1
}

/** The day a trade of this market at this moment belongs to. */
export function tradeDate(market: Market, at: Micros): string {
  return market.tradingDate ?? utcDate(at)
}

/** The day of what happens in an account otherwise than by a trade: New York's, like that of trades of shares. */
export function accountDate(at: Micros): string {
  return tradingDay(timestampOfMs(Math.floor(at / 1_000)))
}

export function utcDate(at: Micros): string {
  return new Date(Math.floor(at / 1_000)).toISOString().slice(0, 10)
}

export function utcDay(at: Micros): number {
  return Math.floor(at / MICROS_A_DAY)
}

export function daysToMicros(days: number): Micros {
  return days * MICROS_A_DAY
}

// A trading day asks for the same few dates again and again.
const remembered = new Map<string, string>()
const REMEMBERED_MAX = 1_000

/** `days` weekdays later. Exchange holidays are not counted out: cash then settles when the next session says the date has come. */
export function settlementDate(date: string, days: number): string {
  const key = `${date}+${days}`
  const known = remembered.get(key)
  if (known !== undefined) return known
  let day = Temporal.PlainDate.from(date)
  for (let left = days; left > 0; ) {
    day = day.add({ days: 1 })
    if (day.dayOfWeek <= 5) left--
  }
  if (remembered.size >= REMEMBERED_MAX) remembered.clear()
  remembered.set(key, day.toString())
  return day.toString()
}
