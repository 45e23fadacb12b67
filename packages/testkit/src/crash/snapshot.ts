// A user's holdings in terms common to the service, its log, its stream and the sandbox, and the comparison of two such snapshots.
import { canonical, parseDecimal } from '@trunkline/core/domain/decimal'
import type { Json } from './sandbox-process.ts'

/** The fields of an order that all sources must agree on. */
export interface OrderFacts {
  readonly status: string
  readonly quantity: string | null
  readonly limit: string | null
  readonly filled: string
  readonly average: string | null
  /** `id quantity price` of each execution, sorted. */
  readonly fills: readonly string[]
}

export interface AccountSnapshot {
  /** By the order's name at the sandbox. */
  readonly orders: ReadonlyMap<string, OrderFacts>
  /** Orders that are provably absent at the sandbox. */
  readonly absent: ReadonlySet<string>
  /** Quantity by account number and symbol. */
  readonly positions: ReadonlyMap<string, string>
  /** Cash by account number and currency. */
  readonly balances: ReadonlyMap<string, string>
}

/** A user's records as the service shows them. */
export interface Records {
  readonly orders: Iterable<Json>
  readonly positions: Iterable<Json>
  readonly balances: Iterable<Json>
}

/** The service's status for the sandbox's states. */
export const STATUS: Readonly<Record<string, string>> = {
  held: 'working',
  open: 'working',
  partial: 'partially_filled',
  cancelling: 'pending_cancel',
  amending: 'pending_replace',
  done: 'filled',
  cancelled: 'cancelled',
  lapsed: 'expired',
  refused: 'rejected',
  superseded: 'replaced'
}

const PROOFS = ['not_sent', 'not_received', 'refused']

/** @param nameOf the order's client order id at the sandbox; an order placed elsewhere has its sandbox id as `cl_order_id`. */
export function snapshotOf({ orders, positions, balances }: Records, nameOf: (orderId: string) => string): AccountSnapshot {
  const facts = new Map<string, OrderFacts>()
  const absent = new Set<string>()
  for (const order of orders) {
    const name = order.submission.state === 'external' ? order.cl_order_id : nameOf(order.order_id)
    const isAbsent = order.normalized_status === 'rejected' && PROOFS.includes(order.submission.state) && order.fills.length === 0
    if (isAbsent) absent.add(name)
    facts.set(name, {
      status: order.normalized_status,
      quantity: plain(order.order_qty),
      limit: plain(order.order_limit_price),
      filled: plain(order.filled_qty) ?? '0',
      average: plain(order.average_fill_price),
      fills: order.fills.map((fill: Json) => `${fill.fill_id} ${plain(fill.quantity)} ${plain(fill.price)}`).sort()
    })
  }
  return {
    orders: facts,
    absent,
    positions: held(positions, position => [`${position.account_number} ${position.symbol}`, position.quantity]),
    balances: amounts(balances, balance => [`${balance.account_number} ${balance.currency_code}`, balance.cash])
  }
}

/** The sandbox's own state of one login. @param elsewhere the sandbox ids of orders that were not placed through the service. */
export function sandboxSnapshotOf(
  { orders, positions, balances }: Records,
  numberOf: (account: string) => string,
  elsewhere: ReadonlySet<string>
): AccountSnapshot {
  const facts = new Map<string, OrderFacts>()
  for (const order of orders) {
    facts.set(elsewhere.has(order.id) ? order.id : order.client_order_id, {
      status: STATUS[order.state] ?? order.state,
      quantity: plain(order.quantity),
      limit: plain(order.limit),
      filled: plain(order.filled) ?? '0',
      average: plain(order.average_fill_price),
      fills: order.fills.map((fill: Json) => `${fill.id} ${plain(fill.quantity)} ${plain(fill.price)}`).sort()
    })
  }
  return {
    orders: facts,
    absent: new Set(),
    positions: held(positions, position => [`${numberOf(position.account)} ${position.symbol}`, position.quantity]),
    balances: amounts(balances, balance => [`${numberOf(balance.account)} ${balance.currency}`, balance.cash])
  }
}

/** The differences of two snapshots, each as a sentence; `ours` may have orders that the other one may lack. */
export function differences(ourName: string, ours: AccountSnapshot, theirName: string, theirs: AccountSnapshot): readonly string[] {
  const found: string[] = []
  const compare = (what: string, a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>) => {
    for (const key of new Set([...a.keys(), ...b.keys()])) {
      const [left, right] = [JSON.stringify(a.get(key)), JSON.stringify(b.get(key))]
      if (left !== right) found.push(`${what} ${key}: ${ourName} ${left ?? 'has none'}; ${theirName} ${right ?? 'has none'}`)
    }
  }
  const isExcused = (name: string) => ours.absent.has(name) && !theirs.orders.has(name)
  compare('order', new Map([...ours.orders].filter(([name]) => !isExcused(name))), theirs.orders)
  compare('position', ours.positions, theirs.positions)
  compare('balance', ours.balances, theirs.balances)
  return found
}

/** The differences of two sets of order records, field by field, for sets that must be identical. */
export function recordDifferences(ourName: string, ours: Iterable<Json>, theirName: string, theirs: Iterable<Json>): readonly string[] {
  const other = new Map([...theirs].map(order => [order.order_id, order]))
  const found: string[] = []
  for (const order of ours) {
    const match = other.get(order.order_id)
    other.delete(order.order_id)
    if (match === undefined) found.push(`order ${order.cl_order_id}: ${theirName} has none`)
    else
      for (const field of new Set([...Object.keys(order), ...Object.keys(match)])) {
        const [left, right] = [JSON.stringify(order[field]), JSON.stringify(match[field])]
        if (left !== right) found.push(`order ${order.cl_order_id}, ${field}: ${ourName} ${left}; ${theirName} ${right}`)
      }
  }
  return [...found, ...[...other.values()].map(order => `order ${order.cl_order_id}: ${ourName} has none`)]
}

function held(records: Iterable<Json>, entry: (record: Json) => readonly [string, string]): ReadonlyMap<string, string> {
  return new Map([...amounts(records, entry)].filter(([, quantity]) => quantity !== '0'))
}

function amounts(records: Iterable<Json>, entry: (record: Json) => readonly [string, string]): ReadonlyMap<string, string> {
  return new Map(
    [...records]
      .map(record => entry(record))
      .map(([key, amount]) => [key, plain(amount) ?? 'none'] as const)
      .sort()
  )
}

/** `1.50` and `1.5` are the same amount. */
/** One text for each number: the sandbox and the service write trailing zeros of prices differently. */
export function plain(text: string | null): string | null {
  return text === null ? null : canonical(parseDecimal(text, 'an amount'))
}
