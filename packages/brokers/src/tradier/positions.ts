/** Positions, which Tradier sends with quantity and cost alone, joined with the quotes of their symbols. Pure; throws Malformed and nothing else. */

import { absolute, canonical, type Decimal, dividedBy, isZero, minus, parseDecimal, plus, sum, times } from '@trunkline/core/domain/decimal'
import type { PositionReport } from '@trunkline/core/ports/broker'
import { text, type Wire } from '../kit/parse.ts'
import { bySymbol } from '../kit/summed-positions.ts'
import { fromTradier, isOption, multiplierOf } from './symbols.ts'
import { amount, amountOrNull, items, textOf } from './wire.ts'

export interface Holding {
  /** As Tradier writes it. */
  readonly symbol: string
  /** Negative when short. */
  readonly quantity: Decimal
  /** Of all of it; negative when short. */
  readonly costBasis: Decimal
  readonly id: string | null
}

/** The value of a position by its quote. */
export interface Mark {
  readonly last: Decimal | null
}

const AVERAGE_PLACES = 8
const TWO = parseDecimal('2', 'two')

/** One for each symbol: rows of the same symbol are added up. @throws Malformed also for rows that cannot be: see {@link bySymbol} */
export function parseHoldings(answer: Wire): readonly Holding[] {
  const rows = items(answer, 'positions', 'position').map(wire => ({
    symbol: text(wire, 'symbol'),
    quantity: amount(wire, 'quantity'),
    costBasis: amount(wire, 'cost_basis'),
    id: textOf(wire, 'id')
  }))
  const { symbolOf, rowOf } = HOLDING
  return bySymbol(rows, symbolOf, rowOf).map(group => (group.length === 1 ? group[0] : added(group)))
}

const HOLDING = { symbolOf: ({ symbol }: Holding) => symbol, rowOf: ({ quantity, id }: Holding) => ({ quantity, id }) }

/** Costs add up exactly, and the average price follows from them. */
function added(group: readonly [Holding, ...Holding[]]): Holding {
  const [{ symbol }] = group
  const [quantity, costBasis] = [sum(group.map(row => row.quantity)), sum(group.map(row => row.costBasis))]
  return { symbol, quantity: canonical(quantity), costBasis: canonical(costBasis), id: null }
}

/** By symbol. What has no trade yet is worth the middle of its bid and ask. */
export function parseMarks(answer: Wire): ReadonlyMap<string, Mark> {
  return new Map(items(answer, 'quotes', 'quote').map(wire => [text(wire, 'symbol'), { last: amountOrNull(wire, 'last') ?? middle(wire) }]))
}

function middle(wire: Wire): Decimal | null {
  const bid = amountOrNull(wire, 'bid')
  const ask = amountOrNull(wire, 'ask')
  return bid === null || ask === null || isZero(ask) ? null : canonical(dividedBy(plus(bid, ask), TWO, AVERAGE_PLACES))
}

export function positionOf(holding: Holding, account: string, mark: Mark | undefined): PositionReport {
  const { symbol, quantity, costBasis, id } = holding
  const units = times(quantity, multiplierOf(symbol))
  const last = mark?.last ?? null
  const unrealizedPl = last === null ? null : minus(times(last, units), costBasis)
  return {
    brokerAccountId: account,
    symbol: fromTradier(symbol),
    instrument: isOption(symbol) ? 'OPT' : 'STK',
    quantity,
    lastPrice: last,
    averagePrice: isZero(units) ? null : canonical(absolute(dividedBy(costBasis, units, AVERAGE_PLACES))),
    unrealizedPl,
    // Tradier reports what was realized of closed positions, nightly, and of the whole account. Without it neither the day nor the whole is known.
    realizedPl: null,
    dailyPl: null,
    totalPl: null,
    brokerPositionId: id
  }
}
