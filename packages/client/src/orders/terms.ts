import type { Order } from '../generated/openapi.ts'

/**
 * Whether an order is the one that was asked for. `unsure`: it is for the same thing, at terms that a broker's report may have changed
 * since.
 */
export type Match = 'same' | 'unsure' | 'other'

/** What of an order stays as it was asked for. */
const SUBJECT = 'account_id broker side order_tif symbol order_notional legs instrument replaces_order_id'
/** What a broker may change. */
const TERMS = 'order_type order_qty order_limit_price stop_price'

/** Compares what was asked for with an order, as far as it was asked for: null stands for what the service decides. */
export function matched(asked: object, order: Order): Match {
  const wanted = Object(asked)
  const found = Object(order)
  const differs = (names: string) =>
    names.split(' ').some(name => (wanted[name] ?? null) !== null && plain(wanted[name]) !== plain(found[name]))
  if (differs(SUBJECT)) return 'other'
  if (!differs(TERMS)) return 'same'
  return order.revision > 1 ? 'unsure' : 'other'
}

/**
 * A value in one form: decimals without zeros at the end, and compared as texts, so that no digit is lost; ids in lower case; OCC symbols
 * without their padding; legs without their fills.
 */
export function plain(value: unknown): string {
  if (Array.isArray(value)) return value.map(({ symbol, action, ratio }) => plain(symbol) + action + ratio).join()
  const text = String(value ?? '')
    .replaceAll(' ', '')
    .toLowerCase()
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text
}
