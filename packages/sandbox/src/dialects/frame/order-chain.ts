/**
 * Orders of brokers where a changed order keeps its id. A change makes a new order of the sandbox's in place of the old one. So a chain of
 * amendments is one order: the first one's id and time, the last one's terms and state, the fills of all.
 */

import { type Decimal, dividedBy, isZero, parseDecimal, sum, times } from '@trunkline/core/domain/decimal'
import type { FillView, OrderView } from '../../engine/types.ts'
import type { BrokerageView, StateView } from './brokerage-view.ts'
import { digitsOf, internalIdOf } from './order-ids.ts'

const PLACES = 9
/** Changes of one order that are followed; an order changed more often is shown from the oldest of so many. */
const LINKS_MAX = 10_000

export interface Chain {
  /** The broker's. */
  readonly id: string
  /** The oldest first; those that the state has forgotten are missing. */
  readonly orders: readonly OrderView[]
  readonly first: OrderView
  readonly last: OrderView
}

/** The chain that an order belongs to; of an order as it was at some time, what came after it is not part of it. */
export function chainOf(state: Pick<StateView, 'order'>, order: OrderView): Chain {
  const orders = [order]
  const linked = (orderId: string | null): OrderView | undefined => {
    const found = orderId === null || orders.length >= LINKS_MAX ? 'unknown' : state.order([order.accountId], { orderId })
    return typeof found === 'object' ? found : undefined
  }
  for (let at = linked(order.replaces); at !== undefined; at = linked(at.replaces)) orders.unshift(at)
  for (let at = linked(order.replacedBy); at !== undefined; at = linked(at.replacedBy)) orders.push(at)
  const [first = order, last = order] = [orders[0], orders.at(-1)]
  return { id: digitsOf(first.replaces ?? first.orderId), orders, first, last }
}

/** The chain behind a broker's id, among these accounts. Only its first order's id is one. */
export function chainById({ state, publisher }: BrokerageView, accounts: readonly string[], id: string): Chain | undefined {
  const orderId = internalIdOf(id, number => state.engine.orderId(number))
  if (orderId === null) return undefined
  const order = state.order(accounts, { orderId })
  // The state drops what was replaced long ago, and the order that replaced it keeps its id.
  const changed = () =>
    accounts.flatMap(account => state.engine.orders(account, { live: true })).filter(({ replaces }) => replaces !== null)
  const chains = (typeof order === 'object' ? [order].filter(({ replaces }) => replaces === null) : changed()).map(one =>
    chainOf(state, one)
  )
  return chains.find(chain => chain.id === id && !publisher.isHidden(chain.last.orderId))
}

/** Of the whole chain; of its leg in a symbol where one is named. */
export function fillsOf({ orders }: Chain, symbol?: string): readonly FillView[] {
  return orders.flatMap(({ fills, legs }) => (symbol === undefined ? fills : (legs?.find(leg => leg.symbol === symbol)?.fills ?? [])))
}

/** @throws Malformed for a text that is no plain decimal, which the state does not have */
export function decimal(text: string): Decimal {
  return parseDecimal(text, 'a figure of the state')
}

export function total(fills: readonly FillView[]): Decimal {
  return sum(fills.map(({ quantity }) => decimal(quantity)))
}

/** Null without a fill. */
export function average(fills: readonly FillView[]): Decimal | null {
  const quantity = total(fills)
  return isZero(quantity) ? null : dividedBy(sum(fills.map(fill => times(decimal(fill.quantity), decimal(fill.price)))), quantity, PLACES)
}
