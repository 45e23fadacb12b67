/** Positions that were closed, first in first out, from the account's trades. */

import {
  compare,
  type Decimal,
  dividedBy,
  isPositive,
  isZero,
  minus,
  negated,
  parseDecimal,
  times,
  ZERO
} from '@trunkline/core/domain/decimal'
import type { Answer } from '../../brokerage/api/response-writer.ts'
import type { Account } from '../../brokerage/customers.ts'
import type { TransactionView } from '../../engine/types.ts'
import type { Call } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { answer } from './answers.ts'
import type { HistoryDeps } from './history.ts'
import { pageOf } from './parameters.ts'
import { fromTradier, isOption, toTradier } from './symbols.ts'
import { type Branch, plain } from './tree.ts'

interface Lot {
  /** Above zero; what is left of it. */
  quantity: Decimal
  readonly isLong: boolean
  /** What one unit cost, or brought for a short one. */
  readonly price: Decimal
  readonly date: string
}

interface Closed {
  readonly symbol: string
  /** Below zero for one that was short. */
  readonly quantity: Decimal
  readonly cost: Decimal
  readonly proceeds: Decimal
  readonly openDate: string
  readonly closeDate: string
}

export function gainLoss({ brokerage }: HistoryDeps, account: Account, call: Call): Answer {
  const query = texts(call.request.query)
  const trades = brokerage.state.engine.transactions(account.id, { types: ['BUY', 'SELL'] }).toReversed()
  const { start = '', end = '9999', symbol } = query
  const closed = closedPositions(trades)
    .filter(({ closeDate }) => closeDate >= start && closeDate <= end)
    .filter(position => symbol === undefined || position.symbol === fromTradier(symbol))
  const by = query.sortBy === 'openDate' ? 'openDate' : 'closeDate'
  const sign = query.sort === 'asc' ? 1 : -1
  closed.sort((a, b) => (a[by] === b[by] ? 0 : a[by] < b[by] ? -sign : sign))
  const shown = pageOf(closed, query, 100, call.fault)
  return answer(call.request, { gainloss: shown.length === 0 ? 'null' : { closed_position: shown.map(closedTree) } })
}

/** `trades` oldest first. */
export function closedPositions(trades: readonly TransactionView[]): Closed[] {
  const open = new Map<string, Lot[]>()
  const closed: Closed[] = []
  for (const { symbol, type, quantity, price, date } of trades) {
    if (symbol === null || quantity === null || price === null) continue
    const lots = open.get(symbol) ?? []
    open.set(symbol, lots)
    const isBuy = type === 'BUY'
    const unit = times(parseDecimal(price, 'price'), isOption(symbol) ? HUNDRED : ONE)
    let left = parseDecimal(quantity, 'quantity')
    while (isPositive(left) && lots[0] !== undefined && lots[0].isLong !== isBuy) {
      const [lot] = lots
      const taken = compare(left, lot.quantity) < 0 ? left : lot.quantity
      const [entry, exit] = [times(lot.price, taken), times(unit, taken)]
      const [cost, proceeds] = lot.isLong ? [entry, exit] : [exit, entry]
      closed.push({ symbol, quantity: lot.isLong ? taken : negated(taken), cost, proceeds, openDate: lot.date, closeDate: date })
      lot.quantity = minus(lot.quantity, taken)
      left = minus(left, taken)
      if (!isPositive(lot.quantity)) lots.shift()
    }
    if (isPositive(left)) lots.push({ quantity: left, isLong: isBuy, price: unit, date })
  }
  return closed
}

const [ONE, HUNDRED] = [parseDecimal('1', 'one'), parseDecimal('100', 'hundred')]

function closedTree({ symbol, quantity, cost, proceeds, openDate, closeDate }: Closed): Branch {
  const gain = minus(proceeds, cost)
  const percent = isZero(cost) ? ZERO : times(dividedBy(gain, cost, 6), HUNDRED)
  return {
    close_date: `${closeDate}T00:00:00.000Z`,
    cost: plain(cost),
    gain_loss: plain(gain),
    gain_loss_percent: plain(percent),
    open_date: `${openDate}T00:00:00.000Z`,
    proceeds: plain(proceeds),
    quantity: plain(quantity),
    symbol: toTradier(symbol),
    term: Temporal.PlainDate.from(openDate).until(closeDate).days
  }
}
