/** Lists over several symbols in pages: by symbol, then by time, so many items in all. */

import type { Body } from '../../frame/body.ts'
import type { Micros } from '../../frame/brokerage.ts'
import { badParameter } from '../answers.ts'

export interface Item<Value> {
  readonly symbol: string
  readonly at: Micros
  readonly value: Value
}

export interface Page<Value> {
  readonly items: readonly Item<Value>[]
  /** Names the item that the next page begins with. */
  readonly next_page_token: string | null
}

export interface PageOptions<Value> {
  readonly body: Body
  readonly limit: { readonly most: number; readonly fallback: number }
  /** The items of a symbol, ascending; `from`: where to begin if not at their beginning. */
  readonly fetch: (symbol: string, from: Micros | null) => AsyncIterable<Item<Value>> | Iterable<Item<Value>>
}

/** @throws AlpacaProblem */
export async function pageOf<Value>(symbols: readonly string[], { body, limit, fetch }: PageOptions<Value>): Promise<Page<Value>> {
  const [most, token] = [body.countOr('limit', 1, limit.most) ?? limit.fallback, body.textOr('page_token')]
  const [first, at = ''] = token === null ? [] : Buffer.from(token, 'base64url').toString().split('|')
  if (token !== null && !/^-?\d{1,17}$/.test(at)) throw badParameter('invalid page_token')
  const items: Item<Value>[] = []
  for (const symbol of symbols.toSorted()) {
    if (first !== undefined && symbol < first) continue
    for await (const item of fetch(symbol, symbol === first ? Number(at) : null)) {
      if (items.length === most) return { items, next_page_token: Buffer.from(`${symbol}|${item.at}`).toString('base64url') }
      items.push(item)
    }
  }
  return { items, next_page_token: null }
}
