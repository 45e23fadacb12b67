/** Filtered and paged lists of orders and transactions. */
import { type Account, isLive, type Order } from './state.ts'
import type { OrderFilter, OrderView, TransactionFilter, TransactionView } from './types.ts'
import { orderView } from './views.ts'

export function selectOrders(account: Account, known: ReadonlyMap<string, Order>, filter: OrderFilter): OrderView[] {
  const found: OrderView[] = []
  const limit = filter.limit ?? Number.POSITIVE_INFINITY
  // Live orders are few and sorted by age, so the usual query does not scan the whole history.
  const source = filter.live === true ? [...account.live].sort((a, b) => a.number - b.number) : account.orders
  const step = filter.oldestFirst === true ? 1 : -1
  const after = filter.after === undefined ? undefined : known.get(filter.after)
  if (filter.after !== undefined && after === undefined) return []
  for (let at = startOf(source, after, step); at >= 0 && at < source.length && found.length < limit; at += step) {
    const order = source[at]
    if (order !== undefined && known.has(order.id) && suits(order, filter)) found.push(orderView(order))
  }
  return found
}

/** The start index that does not repeat the named order; orders are sorted by number. */
function startOf(orders: readonly Order[], after: Order | undefined, step: 1 | -1): number {
  if (after === undefined) return step === 1 ? 0 : orders.length - 1
  let low = 0
  let high = orders.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const there = orders[middle]
    if (there !== undefined && there.number < after.number) low = middle + 1
    else high = middle
  }
  return step === -1 ? low - 1 : orders[low] === after ? low + 1 : low
}

function suits(order: Order, { states, live, symbols, from, until }: OrderFilter): boolean {
  if (live !== undefined && isLive(order) !== live) return false
  if (states !== undefined && !states.includes(order.state)) return false
  if (symbols !== undefined && !names(order, symbols)) return false
  return (from === undefined || order.acceptedAt >= from) && (until === undefined || order.acceptedAt < until)
}

/** A multi-leg order is found by any of its legs. */
function names({ book, legs }: Order, symbols: readonly string[]): boolean {
  return legs === null ? symbols.includes(book.symbol) : legs.some(leg => symbols.includes(leg.book.symbol))
}

export function selectTransactions(account: Account, filter: TransactionFilter): TransactionView[] {
  const { transactions } = account
  const found: TransactionView[] = []
  const limit = filter.limit ?? Number.POSITIVE_INFINITY
  let at = transactions.length - 1
  if (filter.after !== undefined) at = transactions.findLastIndex(transaction => transaction.transactionId === filter.after) - 1
  for (; at >= 0 && found.length < limit; at--) {
    const transaction = transactions[at]
    if (transaction !== undefined && belongs(transaction, filter)) found.push(transaction)
  }
  return found
}

function belongs({ date, type, symbol }: TransactionView, { fromDate, toDate, types, symbols }: TransactionFilter): boolean {
  if ((fromDate !== undefined && date < fromDate) || (toDate !== undefined && date > toDate)) return false
  if (types !== undefined && !types.includes(type)) return false
  return symbols === undefined || (symbol !== null && symbols.includes(symbol))
}
