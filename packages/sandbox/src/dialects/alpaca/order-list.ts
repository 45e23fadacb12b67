/** What a list of orders is narrowed by, and how it is paged: by an order's id or by time, there are no cursors. */

import { directionOf } from '../../brokerage/wire.ts'
import type { Micros, OrderFilter, OrderView } from '../../engine/types.ts'
import { Body } from './body.ts'
import { type CustomerView, numberOf } from './customer-view.ts'
import { CLASS_OF, positionSymbol } from './enums.ts'
import { badParameter } from './problems.ts'
import { instantOf } from './times.ts'

const LIMIT = { least: 1, most: 500, fallback: 50 }

export interface ListQuery {
  readonly live: boolean | null
  readonly limit: number
  readonly skip: number
  readonly oldestFirst: boolean
  /** Exclusive, both. */
  readonly after: Micros | null
  readonly until: Micros | null
  /** Internal ids. */
  readonly beforeOrder: string | null
  readonly afterOrder: string | null
  /** Without their slash. */
  readonly symbols: ReadonlySet<string> | null
  readonly side: 'buy' | 'sell' | null
  readonly classes: ReadonlySet<string> | null
  /** It continues after what was read before. */
  readonly isFurther: boolean
}

/** @throws AlpacaProblem */
export function listQuery(query: unknown, internalId: (id: string) => string | null): ListQuery {
  const body = new Body(query)
  const status = body.memberOr('status', ['open', 'closed', 'all']) ?? 'open'
  const [after, until] = [timeOf(body, 'after'), timeOf(body, 'until')]
  const [beforeOrder, afterOrder] = [orderOf(body, 'before_order_id', internalId), orderOf(body, 'after_order_id', internalId)]
  if ((beforeOrder !== null || afterOrder !== null) && (after !== null || until !== null))
    throw badParameter('before_order_id and after_order_id cannot be used with after or until')
  const symbols = body.list('symbols')
  const classes = body.list('asset_class')
  return {
    live: status === 'all' ? null : status === 'open',
    limit: body.count('limit', LIMIT),
    skip: 0,
    oldestFirst: body.memberOr('direction', ['asc', 'desc']) === 'asc',
    ...{ after, until, beforeOrder, afterOrder },
    symbols: symbols === null ? null : new Set(symbols.map(positionSymbol)),
    side: body.memberOr('side', ['buy', 'sell']),
    classes: classes === null || classes.includes('all') ? null : new Set(classes),
    isFurther: beforeOrder !== null || afterOrder !== null || after !== null || until !== null
  }
}

export function selectOrders(customerView: CustomerView, login: string, query: ListQuery): readonly OrderView[] {
  const { oldestFirst, after, until, live, beforeOrder, afterOrder } = query
  // Where the list goes on behind the order named, the engine begins there; else it is passed over until it is reached.
  const begin = oldestFirst ? afterOrder : beforeOrder
  const filter: OrderFilter = {
    oldestFirst,
    ...(live === null ? {} : { live }),
    ...(after === null ? {} : { from: after + 1 }),
    ...(until === null ? {} : { until }),
    ...(begin === null ? {} : { after: begin })
  }
  const found: OrderView[] = []
  let skip = query.skip
  for (const order of customerView.orders(login, filter)) {
    if (found.length >= query.limit) break
    if (!suits(order, query)) continue
    if (skip-- > 0) continue
    found.push(order)
  }
  return found
}

function suits(order: OrderView, { symbols, side, classes, beforeOrder, afterOrder }: ListQuery): boolean {
  const names = order.symbol === null ? (order.legs ?? []).map(leg => leg.symbol) : [positionSymbol(order.symbol)]
  if (symbols !== null && !names.some(name => symbols.has(name))) return false
  if (side !== null && (order.legs !== null || directionOf(order.side) !== side)) return false
  if (classes !== null && !classes.has(CLASS_OF[order.kind])) return false
  if (beforeOrder !== null && numberOf(order) >= numberOf({ orderId: beforeOrder })) return false
  return afterOrder === null || numberOf(order) > numberOf({ orderId: afterOrder })
}

function timeOf(body: Body, name: string): Micros | null {
  const text = body.text(name)
  if (text === null) return null
  return instantOf(text) ?? wrong(name, text)
}

function orderOf(body: Body, name: string, internalId: (id: string) => string | null): string | null {
  const text = body.text(name)
  return text === null ? null : (internalId(text) ?? wrong(name, text))
}

function wrong(name: string, text: string): never {
  throw badParameter(`invalid ${name}: ${text.slice(0, 64)}`)
}
