// Lists of orders: keyset pages that cost the same at the first order and at the millionth.
import type { OrderId } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { ORDER_STATUSES } from '@trunkline/core/domain/vocabulary'
import type { OrderFilter, OrderSort, Page, PageRequest } from '@trunkline/core/ports/store'
import { edgeKeys, pageOf, type Walk, walkOf } from '../page.ts'
import type { Session } from '../session.ts'
import { searchable, storable } from '../types.ts'
import type { KnownOrders } from './known.ts'

/** Sort columns: of every order, and of final ones, which are indexed apart so that open orders can change without touching an index. */
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

/** One page. An account's orders are read along an index from the edge on; several accounts and statuses are merged. */
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

/** The statement of a page, of the same text for the same kind of request, so that it is planned once. */
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
  // Final orders first: there are more of them, so one is found at once.
  const ways = key === null ? [] : scope.ways.toReversed().map(way => anyOf(way, scope, `${walk.behind} ${key}`))
  const behind = key === null ? 'false' : `exists (${ways.join(' union all ')})`
  return { text: `select page.*, ${behind} as anything_behind from (${forward}) page`, parameters }
}

type Parameter = (value: unknown, type: string) => string

interface Scope {
  readonly accounts: string
  readonly ways: readonly Way[]
  /** Filters that no index leads by. */
  readonly conditions: string
}

/** One way to orders along an index: what is multiplied with the accounts, the condition, and the column they are sorted by. */
interface Way {
  readonly keys: string
  readonly condition: string
  readonly time: string
}

function scopeOf(filter: OrderFilter, sort: OrderSort, parameter: Parameter): Scope {
  const { any, final } = COLUMNS[sort]
  const accounts = parameter([...new Set(filter.accountIds)], 'uuid[]')
  const symbols = filter.symbols === undefined ? null : parameter([...new Set(filter.symbols)], 'text[]')
  const wanted = new Set(filter.statuses ?? ORDER_STATUSES)
  const [open, ended] = [OPEN.filter(status => wanted.has(status)), FINAL.filter(status => wanted.has(status))]
  const ways: Way[] = []
  if (open.length > 0) {
    const status = open.length === OPEN.length ? '' : ` and status = any (${parameter(open, 'text[]')})`
    const symbol = symbols === null ? '' : ` and symbol = any (${symbols})`
    ways.push({ keys: '', condition: `account_id = a and is_open${status}${symbol}`, time: any })
  }
  if (ended.length === FINAL.length && sort === 'entryTime' && symbols === null) {
    // The plainest list: the index without the status has it in one piece.
    ways.push({ keys: '', condition: 'account_id = a and final_status is not null', time: final })
  } else if (ended.length > 0) {
    const status = { keys: `, unnest(${parameter(ended, 'text[]')}) s`, condition: 'account_id = a and final_status = s' }
    const symbol = symbols === null ? { keys: '', condition: '' } : { keys: `, unnest(${symbols}) y`, condition: ' and symbol = y' }
    ways.push({ keys: status.keys + symbol.keys, condition: status.condition + symbol.condition, time: final })
  }
  return { accounts, ways, conditions: conditions(filter, parameter) }
}

interface Slice {
  readonly direction: Walk['direction']
  /** `< (time, id)`; null: from the end. */
  readonly bound: string | null
  readonly limit: string
}

/** The matching orders of one stretch, in order. Every way is along an index that has its order, so only what is shown is fetched. */
function source(scope: Scope, slice: Slice): string {
  const { direction, limit } = slice
  const branches = scope.ways.map(way => branch(way, scope, slice)).join(' union all ')
  return `select * from (${branches}) merged order by sort_time ${direction}, order_id ${direction} limit ${limit}`
}

function branch({ keys, condition, time }: Way, scope: Scope, { direction, bound, limit }: Slice): string {
  const stretch = bound === null ? '' : ` and (${time}, order_id) ${bound}`
  return `(select found.* from unnest(${scope.accounts}) a${keys} cross join lateral (
    select order_id, ${time} as sort_time, document from orders where ${condition}${scope.conditions}${stretch}
    order by ${time} ${direction}, order_id ${direction} limit ${limit}
  ) found)`
}

/** Whether there is an order in a stretch, whichever. */
function anyOf({ keys, condition, time }: Way, scope: Scope, bound: string): string {
  return `(select 1 from unnest(${scope.accounts}) a${keys} cross join lateral (
    select 1 from orders where ${condition}${scope.conditions} and (${time}, order_id) ${bound} limit 1
  ) found)`
}

function conditions({ from, to, side, orderId, clOrdId }: OrderFilter, parameter: Parameter): string {
  const all: string[] = []
  if (from !== undefined) all.push(`entry_time >= ${parameter(searchable(from), 'timestamptz')}`)
  if (to !== undefined) all.push(`entry_time <= ${parameter(searchable(to), 'timestamptz')}`)
  if (side !== undefined) all.push(`side = ${parameter(side, 'text')}`)
  if (orderId !== undefined) all.push(`order_id = ${parameter(orderId, 'uuid')}`)
  if (clOrdId !== undefined) all.push(`cl_ord_id = ${parameter(storable(clOrdId), 'text')}`)
  return all.map(condition => ` and ${condition}`).join('')
}
