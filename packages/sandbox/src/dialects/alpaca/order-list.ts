/** What a list of orders is narrowed by, and how it is paged: by an order's id or by time, there are no cursors. */

import type { Micros, OrderFilter, OrderView } from '../frame/brokerage.ts'
import { Body } from './body.ts'
import { type CustomerView, numberOf } from './customer-view.ts'
import { positionSymbol } from './enums.ts'
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
  /** Internal id. */
  readonly afterOrder: string | null
  /** Without their slash. */
  readonly symbols: ReadonlySet<string> | null
  /** It continues after what was read before. */
  readonly isFurther: boolean
}

/** @throws AlpacaProblem */
export function listQuery(query: unknown, internalId: (id: string) => string | null): ListQuery {
  const body = new Body(query)
  const status = body.memberOr('status', ['open', 'closed', 'all']) ?? 'open'
  const [after, until] = [timeOf(body, 'after'), timeOf(body, 'until')]
  const afterOrder = orderOf(body, 'after_order_id', internalId)
  if (afterOrder !== null && (after !== null || until !== null)) throw badParameter('after_order_id cannot be used with after or until')
  const symbols = body.list('symbols')
  return {
    live: status === 'all' ? null : status === 'open',
    limit: body.count('limit', LIMIT),
    skip: 0,
    oldestFirst: body.memberOr('direction', ['asc', 'desc']) === 'asc',
    ...{ after, until, afterOrder },
    symbols: symbols === null ? null : new Set(symbols.map(positionSymbol)),
    isFurther: afterOrder !== null || after !== null || until !== null
  }
}

export function selectOrders(customerView: CustomerView, login: string, query: ListQuery): readonly OrderView[] {
  const { oldestFirst, after, until, live, afterOrder } = query
  const filter: OrderFilter = {
    oldestFirst,
    ...(live === null ? {} : { live }),
    ...(after === null ? {} : { from: after + 1 }),
    ...(until === null ? {} : { until }),
    ...(afterOrder === null || !oldestFirst ? {} : { after: afterOrder })
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

function suits(order: OrderView, { symbols, afterOrder }: ListQuery): boolean {
  const names = order.symbol === null ? (order.legs ?? []).map(leg => leg.symbol) : [positionSymbol(order.symbol)]
  if (symbols !== null && !names.some(name => symbols.has(name))) return false
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
