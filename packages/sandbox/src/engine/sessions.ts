/** When an order may trade, and the dates of trades. */
import { timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import type { TimeInForce } from '@trunkline/core/domain/vocabulary'
import { isMarket, type Market, type Order } from './state.ts'
import type { Micros } from './types.ts'

const MICROS_A_DAY = 86_400_000_000

/**
 * Whether the order takes part in continuous trading now. Outside the `open` phase only DAY+ and GTC+ orders with a limit do: in a thin
 * market, an order without a limit could trade at any price.
 */
export function mayTrade(order: Order): boolean {
  return mayTrigger(order) && (order.book.market.phase === 'open' || !isMarket(order))
}

/** Whether stops may trigger now. */
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

/** The opening that an OPEN order waits for: this session's if its print has not been seen yet, otherwise the next one's. */
export function openingFor(market: Market, opened: boolean): number {
  return market.phase === 'open' && !opened ? market.session : market.session + 1
}

/** The trading day of a trade in this market at this time. */
export function tradeDate(market: Market, at: Micros): string {
  return market.tradingDate ?? utcDate(at)
}

/** The day of account changes other than trades: New York's, like that of share trades. */
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

// A trading day uses the same few dates repeatedly.
const remembered = new Map<string, string>()
const REMEMBERED_MAX = 1_000

/** `days` weekdays later. Ignores exchange holidays: the cash then settles when a session reaches the date. */
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
