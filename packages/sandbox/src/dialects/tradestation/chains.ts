/**
 * Orders as TradeStation shows them. A change here makes a new order of the sandbox's in place of the old one; there it changes the one order,
 * which keeps its id. So every chain of amendments is one order: the first one's id and time, the last one's terms and state, the fills of all.
 */

import type { FillView, OrderView } from '../frame/brokerage.ts'
import type { StateView } from '../frame/brokerage-view.ts'
import { digitsOf, internalIdOf } from '../frame/order-ids.ts'

export interface Chain {
  /** TradeStation's. */
  readonly id: string
  /** The oldest first; those that the state has forgotten are missing. */
  readonly orders: readonly OrderView[]
  readonly first: OrderView
  readonly last: OrderView
}

/** Changes of one order that are followed; an order changed more often is shown from the oldest of so many. */
const LINKS_MAX = 10_000

export interface StateOf {
  readonly order: StateView['order']
  readonly engine: Pick<StateView['engine'], 'orderId' | 'account' | 'orders'>
}

/** The chain that an order belongs to. */
export function chainOf(state: StateOf, order: OrderView): Chain {
  const orders = [order]
  let id = order.replaces ?? order.orderId
  for (let earlier = linked(state, order, order.replaces); earlier !== undefined && orders.length < LINKS_MAX; ) {
    orders.unshift(earlier)
    id = earlier.replaces ?? earlier.orderId
    earlier = linked(state, earlier, earlier.replaces)
  }
  let last = order
  for (let later = linked(state, order, order.replacedBy); later !== undefined && orders.length < LINKS_MAX; ) {
    orders.push(later)
    last = later
    later = linked(state, later, later.replacedBy)
  }
  return { id: digitsOf(id), orders, first: orders[0] ?? order, last }
}

function linked(state: StateOf, { accountId }: OrderView, orderId: string | null): OrderView | undefined {
  const found = orderId === null ? 'unknown' : state.order([accountId], { orderId })
  return typeof found === 'object' ? found : undefined
}

/** The chain behind an id of TradeStation's, among these accounts. Only its first order's id is one. */
export function chainById(state: StateOf, accounts: readonly string[], id: string): Chain | undefined {
  const orderId = internalIdOf(id, number => state.engine.orderId(number))
  if (orderId === null) return undefined
  const order = state.order(accounts, { orderId })
  if (typeof order === 'object') return order.replaces === null ? chainOf(state, order) : undefined
  // The state drops what was replaced long ago, and the order that replaced it keeps its id.
  for (const account of accounts) {
    if (state.engine.account(account) === undefined) continue
    for (const later of state.engine.orders(account, { live: true })) {
      if (later.replaces === null) continue
      const chain = chainOf(state, later)
      if (chain.id === id) return chain
    }
  }
  return undefined
}

/** All fills of an order, or of one leg of it. */
export function fillsOf({ orders }: Chain, leg: string | null): readonly FillView[] {
  if (leg === null) return orders.flatMap(({ fills }) => fills)
  return orders.flatMap(({ legs }) => (legs ?? []).filter(({ symbol }) => symbol === leg).flatMap(({ fills }) => fills))
}
