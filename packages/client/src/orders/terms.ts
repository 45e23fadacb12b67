import type { NewOrder, Order, OrderChange } from '../generated/openapi.ts'

/**
 * Whether an order is the one that was asked for. `unsure`: it is for the same thing, at terms that a broker's report may have changed
 * since.
 */
export type Match = 'same' | 'unsure' | 'other'

/** Compares an order with the request for a new one. */
export function comparedWithNew(asked: NewOrder, order: Order): Match {
  const { instrument, order_notional: notional } = asked
  const subject = `account_id broker side order_tif symbol order_notional replaces_order_id legs${instrument ? ' instrument' : ''}`
  // An order for an amount of money gets its quantity from the broker.
  return compared(asked, order, subject, `order_type order_limit_price stop_price${notional ? '' : ' order_qty'}`)
}

/** Compares an order with the request for a change: it must replace that order, with everything that was to change. */
export function comparedWithChange(asked: OrderChange & { readonly order_id: string }, order: Order): Match {
  const { order_id, order_qty, order_notional, order_limit_price, stop_price } = asked
  const changes = Object.entries({ order_qty, order_notional, order_limit_price, stop_price })
  const changed = changes.flatMap(([name, value]) => (value ? [name] : []))
  return compared({ ...asked, replaces_order_id: order_id }, order, 'replaces_order_id', changed.join(' '))
}

/** @param subject members that nothing changes; @param terms members that a broker may change */
function compared(asked: object, order: Order, subject: string, terms: string): Match {
  const areSame = (names: string) => names.split(' ').every(name => textIn(asked, name) === textIn(order, name))
  if (!areSame(subject)) return 'other'
  if (areSame(terms)) return 'same'
  return order.revision > 1 ? 'unsure' : 'other'
}

function textIn(record: object, name: string): string {
  const value = new Map<string, unknown>(Object.entries(record)).get(name)
  return plain(Array.isArray(value) ? value.map(({ symbol, action, ratio }) => plain(symbol) + action + ratio).join() : value)
}

/**
 * A value in one form: decimals without zeros at the end, and compared as texts, so that no digit is lost; ids in lower case; OCC symbols
 * without their padding.
 */
export function plain(value: unknown): string {
  const text = String(value ?? '')
    .replaceAll(' ', '')
    .toLowerCase()
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text
}
