/** Lists over several symbols in pages: by symbol, then by time, so many items in all. */

import type { Fault, Micros } from '../../frame/brokerage.ts'
import { badParameter } from '../answers.ts'
import type { Body } from '../body.ts'

/** Where a page begins. */
interface PagePosition {
  readonly page: number
  readonly symbol: string
  readonly at: Micros
}

export interface Item<Value> {
  readonly symbol: string
  readonly at: Micros
  readonly value: Value
}

export interface Page<Value> {
  readonly items: readonly Item<Value>[]
  readonly next_page_token: string | null
}

export interface PageOptions<Value> {
  readonly body: Body
  readonly limit: { readonly most: number; readonly fallback: number }
  readonly fault: Fault | undefined
  /** The items of a symbol, ascending; `from`: where to begin if not at their beginning. */
  readonly fetch: (symbol: string, from: Micros | null) => AsyncIterable<Item<Value>> | Iterable<Item<Value>>
}

/** One page. @throws AlpacaProblem */
export async function pageOf<Value>(symbols: readonly string[], { body, limit, fault, fetch }: PageOptions<Value>): Promise<Page<Value>> {
  if (fault?.do === 'empty') return { items: [], next_page_token: null }
  const most = body.count('limit', limit)
  const collect = async (position: PagePosition | null): Promise<readonly [readonly Item<Value>[], PagePosition | null]> => {
    const items: Item<Value>[] = []
    for (const symbol of symbols.toSorted()) {
      if (position !== null && symbol < position.symbol) continue
      for await (const item of fetch(symbol, symbol === position?.symbol ? position.at : null)) {
        if (items.length === most) return [items, { page: (position?.page ?? 1) + 1, symbol, at: item.at }]
        items.push(item)
      }
    }
    return [items, null]
  }
  const [items, next] = await collect(positionOf(body))
  const isLost = fault?.do === 'lose_page' && next !== null && next.page === fault.page
  const shown = isLost ? (await collect(next))[1] : next
  return { items, next_page_token: shown === null ? null : tokenOf(shown) }
}

function tokenOf({ page, symbol, at }: PagePosition): string {
  return Buffer.from(`${page}|${symbol}|${at}`).toString('base64url')
}

function positionOf(body: Body): PagePosition | null {
  const token = body.text('page_token')
  if (token === null) return null
  const [page = '', symbol, at = ''] = Buffer.from(token, 'base64url').toString().split('|')
  if (symbol === undefined || !/^\d{1,6}$/.test(page) || !/^-?\d{1,17}$/.test(at)) throw badParameter('invalid page_token')
  return { page: Number(page), symbol, at: Number(at) }
}
