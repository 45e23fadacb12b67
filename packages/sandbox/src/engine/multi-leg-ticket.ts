/** The checks of a multi-leg order before acceptance: its legs, and its figures as a whole. */

import type { CommandContext, Refusal } from './command-context.ts'
import { checkContract } from './contract-checks.ts'
import { collarOf } from './pricing.ts'
import { type Account, isBuy, type Leg, type OrderBook } from './state.ts'
import type { Micros, RefusalCode, SubmitMultiLegCommand } from './types.ts'
import { formatScaled, min, ONE, type Price, type Quantity, readScaled } from './units.ts'

const [LEGS_MIN, LEGS_MAX] = [2, 4]
const RATIO_MAX = 100n
const QUANTITY_MAX = 1_000_000n * ONE
const TIME_IN_FORCE: readonly string[] = ['DAY', 'GTC', 'IOC', 'FOK']

/** A multi-leg order's numbers, as text. */
export type MultiLegTicket = Pick<SubmitMultiLegCommand, 'orderType' | 'timeInForce' | 'quantity' | 'limitPrice'>

/** The legs to trade, or why they are not a valid multi-leg order. */
export function legsOf(context: CommandContext, command: Pick<SubmitMultiLegCommand, 'legs'>): readonly Leg[] | Refusal {
  if (command.legs.length < LEGS_MIN || command.legs.length > LEGS_MAX)
    return refusal('bad_legs', `A multi-leg order has ${LEGS_MIN} to ${LEGS_MAX} legs, not ${command.legs.length}.`)
  const legs: Leg[] = []
  for (const { symbol, side, ratio: text } of command.legs) {
    const book = context.book(symbol)
    if (book === undefined) return refusal('unknown_symbol', `${symbol} is not traded here.`)
    if (book.spec.option === null) return refusal('bad_legs', `${symbol} is not an option; the legs of a multi-leg order are options.`)
    if (side === 'BUY' || side === 'SELL')
      return refusal('unsupported_side', `The leg ${symbol} needs a side that opens or closes, not ${side}.`)
    const ratio = readScaled(text) ?? 0n
    if (ratio <= 0n || ratio % ONE !== 0n || ratio > RATIO_MAX * ONE)
      return refusal('bad_legs', `The ratio of ${symbol} must be a whole number from 1 to ${RATIO_MAX}.`)
    legs.push({ book, side, buy: isBuy(side), ratio: ratio / ONE, traded: 0n, fees: 0n, fills: [] })
  }
  return checkTogether(legs) ?? legs
}

function checkTogether(legs: readonly Leg[]): Refusal | null {
  const [first] = legs
  if (new Set(legs.map(leg => leg.book)).size < legs.length)
    return refusal('bad_legs', 'The legs of a multi-leg order are different contracts.')
  for (const { book } of legs) {
    if (book.spec.option?.underlying !== first?.book.spec.option?.underlying)
      return refusal('bad_legs', `${book.symbol} is on ${book.spec.option?.underlying}, another underlying than the first leg's.`)
    if (book.spec.multiplier !== first?.book.spec.multiplier || book.spec.source.currency !== first?.book.spec.source.currency)
      return refusal('bad_legs', `${book.symbol} has another multiplier or currency than the first leg.`)
  }
  return null
}

export interface MultiLegFigures {
  readonly quantity: Quantity | null
  readonly limit: Price | null
}

export function multiLegFiguresOf({ quantity, limitPrice }: Pick<MultiLegTicket, 'quantity' | 'limitPrice'>): MultiLegFigures {
  const parsed = readScaled(quantity) ?? 0n
  return { quantity: parsed > 0n ? parsed : null, limit: limitPrice === null ? null : (readScaled(limitPrice) ?? null) }
}

/** Every check of a multi-leg order that needs neither positions nor money. */
export function checkMultiLeg(account: Account, legs: readonly Leg[], ticket: MultiLegTicket, now: Micros): Refusal | null {
  for (const { book } of legs) {
    const problem = checkContract(account, book, now)
    if (problem !== null) return problem
  }
  return checkFigures(legs, ticket, multiLegFiguresOf(ticket)) ?? checkMarkets(account, legs, ticket)
}

function checkFigures(
  legs: readonly Leg[],
  { orderType, timeInForce, limitPrice }: MultiLegTicket,
  figures: MultiLegFigures
): Refusal | null {
  if (!TIME_IN_FORCE.includes(timeInForce))
    return refusal('unsupported_time_in_force', `A multi-leg order is ${TIME_IN_FORCE.join(', ')}; ${timeInForce} does not apply.`)
  const { quantity, limit } = figures
  if (quantity === null || quantity <= 0n || quantity > QUANTITY_MAX || quantity % ONE !== 0n)
    return refusal('bad_quantity', `The quantity of a multi-leg order is a whole number from 1 to ${formatScaled(QUANTITY_MAX)}.`)
  if (orderType === 'MKT') return limitPrice === null ? null : refusal('bad_price', 'A multi-leg MKT order takes no limit price.')
  if (limit === null)
    return refusal('bad_price', 'A multi-leg LMT order needs a net price: a plain decimal of either sign with at most nine places.')
  const tick = legs.map(({ book }) => finestTick(book)).reduce(min)
  return limit % tick === 0n
    ? null
    : refusal('bad_tick', `The net price ${formatScaled(limit)} is not a multiple of the legs' finest tick, ${formatScaled(tick)}.`)
}

function finestTick({ spec }: OrderBook): Price {
  return min(spec.tick, spec.tickBelowOne)
}

function checkMarkets(account: Account, legs: readonly Leg[], { orderType, timeInForce }: MultiLegTicket): Refusal | null {
  for (const { book, buy } of legs) {
    if (timeInForce === 'IOC' || timeInForce === 'FOK') {
      if (book.market.phase !== 'open')
        return refusal('market_closed', `${timeInForce} orders are taken while the market is open; it is in phase ${book.market.phase}.`)
      if (book.halted) return refusal('halted', `${book.symbol} is halted; ${timeInForce} orders cannot wait for its trading to resume.`)
    }
    // Without margin, the bought legs are held at their quotes; see setMultiLegNeeds.
    if ((orderType === 'MKT' || (buy && account.accountType !== 'margin')) && collarOf(book, buy) === null)
      return refusal('no_price', `${book.symbol} has no price yet; wait for one${orderType === 'MKT' ? ', or send a limit order' : ''}.`)
  }
  return null
}

function refusal(code: RefusalCode, message: string): Refusal {
  return { code, message }
}
