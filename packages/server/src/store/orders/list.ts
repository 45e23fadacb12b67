// Lists of orders: keyset pages that cost the same at the first order and at the millionth.
import type { OrderId } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { ORDER_STATUSES } from '@trunkline/core/domain/vocabulary'
import type { OrderFilter, OrderSort, Page, PageRequest } from '@trunkline/core/ports/store'
import { edgeKeys, pageOf, type Walk, walkOf } from '../page.ts'
import type { Session } from '../session.ts'
import { searchable, storable } from '../types.ts'
import type { KnownOrders } from './known.ts'

/**
 * Sort columns, of all orders and of final ones. Final orders have separate indexes, so that open orders change without touching an index.
 */
const COLUMNS = {
  entryTime: { any: 'entry_time', final: 'entry_time' },
  lastModifiedTime: { any: 'last_modified_time', final: 'final_modified_time' },
  lastExecTime: { any: 'last_exec_time', final: 'final_exec_time' }
} as const satisfies Record<OrderSort, { readonly any: string; readonly final: string }>

const OPEN = ORDER_STATUSES.filter(isOpen)
const FINAL = ORDER_STATUSES.filter(status => !isOpen(status))

interface Row {
  readonly order_id: OrderId
  readonly sort_time: string
  readonly document: string
  readonly anything_behind: boolean
}

/** One page. An account's orders are read along an index from the edge; several accounts and statuses are merged. */
export async function listOrders(
  session: Session,
  known: KnownOrders,
  filter: OrderFilter,
  sort: OrderSort,
  page: PageRequest
): Promise<Page<Order>> {
  if (filter.statuses?.length === 0) return { rows: [], next: null, prev: null }
  const { text, parameters } = orderListQuery(filter, sort, page)
  const rows = await session.rows<Row>(text, parameters)
  return pageOf(rows, page, rows[0]?.anything_behind ?? false, {
    row: ({ order_id, document }) => known.read(order_id, document),
    key: row => [row.sort_time, row.order_id]
  })
}

/** The statement of a page, with the same text for the same kind of request, so that it is planned once. */
export function orderListQuery(
  filter: OrderFilter,
  sort: OrderSort,
  page: PageRequest
): { readonly text: string; readonly parameters: readonly unknown[] } {
  const parameters: unknown[] = []
  const parameter: Parameter = (value, type) => `$${parameters.push(value)}::${type}`
  const walk = walkOf(page)
  const scope = scopeOf(filter, sort, parameter)
  const edge = page.edge === null ? null : edgeKeys(page.edge)
  const key = edge === null ? null : `(${parameter(edge[0], 'timestamptz')}, ${parameter(edge[1], 'uuid')})`
  const limit = parameter(walk.limit, 'int')
  const forward = source(scope, { direction: walk.direction, bound: key === null ? null : `${walk.beyond} ${key}`, limit })
  // Final orders first: there are more of them, so a match is found sooner.
  const ways = key === null ? [] : scope.ways.toReversed().map(way => anyOf(way, scope, `${walk.behind} ${key}`))
  const behind = key === null ? 'false' : `exists (${ways.join(' union all ')})`
  return { text: `select page.*, ${behind} as anything_behind from (${forward}) page`, parameters }
}

type Parameter = (value: unknown, type: string) => string

interface Scope {
  readonly accounts: string
  readonly ways: readonly Way[]
  /** Filters that no index leads by: a column and what it is compared with. */
  readonly conditions: readonly Condition[]
}

interface Condition {
  readonly column: 'entry_time' | 'side' | 'order_id' | 'cl_ord_id'
  readonly test: string
}

/** One path to orders along an index: the table, what is multiplied with the accounts, the condition, and the sort column. */
interface Way {
  readonly from: Listing
  readonly keys: string
  readonly condition: string
  readonly time: string
}

/** Orders, or the further symbols of final ones. */
type Listing = 'orders' | 'order_symbols'

const TABLES = {
  orders: 'orders listed',
  order_symbols: 'order_symbols listed join orders using (order_id)'
} as const satisfies Record<Listing, string>

function scopeOf(filter: OrderFilter, sort: OrderSort, parameter: Parameter): Scope {
  const accounts = parameter([...new Set(filter.accountIds)], 'uuid[]')
  const symbols = filter.symbols === undefined ? null : parameter([...new Set(filter.symbols)], 'text[]')
  const wanted = new Set(filter.statuses ?? ORDER_STATUSES)
  const [open, ended] = [OPEN.filter(status => wanted.has(status)), FINAL.filter(status => wanted.has(status))]
  const { any, final } = COLUMNS[sort]
  const ways: Way[] = []
  if (open.length > 0) {
    const status = open.length === OPEN.length ? '' : ` and status = any (${parameter(open, 'text[]')})`
    const symbol = symbols === null ? '' : ` and (symbol = any (${symbols}) or further_symbols && ${symbols})`
    ways.push({ from: 'orders', keys: '', condition: `is_open${status}${symbol}`, time: any })
  }
  if (ended.length === FINAL.length && sort === 'entryTime' && symbols === null) {
    // The index without the status has this list in one range.
    ways.push({ from: 'orders', keys: '', condition: 'final_status is not null', time: final })
  } else if (ended.length > 0) {
    const keys = `, unnest(${parameter(ended, 'text[]')}) s`
    const bySymbol = { keys: `${keys}, unnest(${symbols}) y`, condition: 'listed.final_status = s and listed.symbol = y', time: final }
    if (symbols === null) ways.push({ from: 'orders', keys, condition: 'final_status = s', time: final })
    else ways.push({ ...bySymbol, from: 'orders' }, { ...bySymbol, from: 'order_symbols' })
  }
  return { accounts, ways, conditions: conditions(filter, parameter) }
}

interface Slice {
  readonly direction: Walk['direction']
  /** `< (time, id)`; null: from the end. */
  readonly bound: string | null
  readonly limit: string
}

/**
 * The matching orders of one range, in order. Every path follows an index in its order, so only shown rows are fetched. By several symbols
 * an order is found several times: every branch returns its first rows, so enough remain without duplicates.
 */
function source(scope: Scope, slice: Slice): string {
  const { direction, limit } = slice
  const branches = scope.ways.map(way => branch(way, scope, slice)).join(' union all ')
  const once = scope.ways.some(({ from }) => from === 'order_symbols') ? 'distinct on (sort_time, order_id) ' : ''
  return `select ${once}* from (${branches}) merged order by sort_time ${direction}, order_id ${direction} limit ${limit}`
}

function branch(way: Way, scope: Scope, { direction, bound, limit }: Slice): string {
  const stretch = bound === null ? '' : ` and (listed.${way.time}, listed.order_id) ${bound}`
  return `(select found.* from unnest(${scope.accounts}) a${way.keys} cross join lateral (
    select listed.order_id, listed.${way.time} as sort_time, document ${matching(way, scope)}${stretch}
    order by listed.${way.time} ${direction}, listed.order_id ${direction} limit ${limit}
  ) found)`
}

/** Whether a range has any order. */
function anyOf(way: Way, scope: Scope, bound: string): string {
  return `(select 1 from unnest(${scope.accounts}) a${way.keys} cross join lateral (
    select 1 ${matching(way, scope)} and (listed.${way.time}, listed.order_id) ${bound} limit 1
  ) found)`
}

function matching({ from, condition }: Way, { conditions }: Scope): string {
  const further = conditions.map(({ column, test }) => ` and ${from === 'orders' ? 'listed' : HELD_BY[column]}.${column} ${test}`)
  return `from ${TABLES[from]} where listed.account_id = a and ${condition}${further.join('')}`
}

/**
 * The table from which a final order's column is read if a further symbol found it: the symbol's row if it has the column, so that an index
 * leads by it.
 */
const HELD_BY = {
  entry_time: 'listed',
  order_id: 'listed',
  side: 'orders',
  cl_ord_id: 'orders'
} as const satisfies Record<Condition['column'], 'listed' | 'orders'>

function conditions({ from, to, side, orderId, clOrdId }: OrderFilter, parameter: Parameter): readonly Condition[] {
  const all: Condition[] = []
  if (from !== undefined) all.push({ column: 'entry_time', test: `>= ${parameter(searchable(from), 'timestamptz')}` })
  if (to !== undefined) all.push({ column: 'entry_time', test: `<= ${parameter(searchable(to), 'timestamptz')}` })
  if (side !== undefined) all.push({ column: 'side', test: `= ${parameter(side, 'text')}` })
  if (orderId !== undefined) all.push({ column: 'order_id', test: `= ${parameter(orderId, 'uuid')}` })
  if (clOrdId !== undefined) all.push({ column: 'cl_ord_id', test: `= ${parameter(storable(clOrdId), 'text')}` })
  return all
}
