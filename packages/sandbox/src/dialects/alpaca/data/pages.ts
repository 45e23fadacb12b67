/** Lists over several symbols in pages: by symbol, then by time, so many items in all. */

import type { Fault, Micros } from '../../frame/brokerage.ts'
import type { Body } from '../body.ts'
import { badParameter } from '../problems.ts'
import { instantOf, newYorkOf } from '../times.ts'
import type { Stretch } from './source.ts'

const LIMIT = { least: 1, most: 10_000, fallback: 1_000 }
const SYMBOLS_MAX = 2_000

/** Where a page begins. */
interface PagePosition {
  readonly page: number
  readonly symbol: string
  readonly at: Micros
}

export interface PageQuery {
  readonly limit: number
  readonly stretch: Stretch
  readonly position: PagePosition | null
}

/** @throws AlpacaProblem */
export function pageQuery(body: Body, now: Micros): PageQuery {
  const midnight = newYorkOf(now).startOfDay().epochMilliseconds * 1000
  return {
    limit: body.count('limit', LIMIT),
    stretch: {
      from: timeOf(body, 'start') ?? midnight,
      to: Math.min(timeOf(body, 'end') ?? now, now)
    },
    position: positionOf(body)
  }
}

/** @throws AlpacaProblem */
export function symbolsIn(body: Body): readonly string[] {
  const symbols = [...new Set(body.list('symbols'))]
  if (symbols.length === 0) throw badParameter('symbols is required')
  if (symbols.length > SYMBOLS_MAX) throw badParameter(`at most ${SYMBOLS_MAX} symbols`)
  return symbols
}

export interface Listing<Item> {
  readonly items: Readonly<Record<string, readonly Item[]>>
  readonly next: string | null
}

export interface Source<Item> {
  readonly symbols: readonly string[]
  readonly query: PageQuery
  readonly fault: Fault | undefined
  readonly fetch: (symbol: string, stretch: Stretch) => AsyncIterable<Item>
  readonly atOf: (item: Item) => Micros
}

/** One page. */
export async function pageOf<Item>(source: Source<Item>): Promise<Listing<Item>> {
  const { fault, query } = source
  if (fault?.do === 'empty') return { items: {}, next: null }
  const [items, next] = await collect(source, query.position)
  const isLost = fault?.do === 'lose_page' && next !== null && next.page === fault.page
  const shown = isLost ? (await collect(source, next))[1] : next
  return { items, next: shown === null ? null : tokenOf(shown) }
}

async function collect<Item>(
  { symbols, query, fetch, atOf }: Source<Item>,
  position: PagePosition | null
): Promise<[Readonly<Record<string, readonly Item[]>>, PagePosition | null]> {
  const items: Record<string, Item[]> = {}
  let count = 0
  for (const symbol of symbols.toSorted()) {
    if (position !== null && symbol < position.symbol) continue
    for await (const item of fetch(symbol, symbol === position?.symbol ? { ...query.stretch, from: position.at } : query.stretch)) {
      if (count === query.limit) return [items, { page: (position?.page ?? 1) + 1, symbol, at: atOf(item) }]
      items[symbol] ??= []
      items[symbol].push(item)
      count++
    }
  }
  return [items, null]
}

function tokenOf({ page, symbol, at }: PagePosition): string {
  return Buffer.from(`${page}|${symbol}|${at}`).toString('base64url')
}

function positionOf(body: Body): PagePosition | null {
  const token = body.text('page_token')
  if (token === null) return null
  const [page, symbol, at] = Buffer.from(token, 'base64url').toString().split('|')
  if (symbol === undefined || !/^\d{1,6}$/.test(page ?? '') || !/^-?\d{1,17}$/.test(at ?? '')) throw badParameter('invalid page_token')
  return { page: Number(page), symbol, at: Number(at) }
}

function timeOf(body: Body, name: string): Micros | null {
  const text = body.text(name)
  if (text === null) return null
  const at = instantOf(text)
  if (at === undefined) throw badParameter(`invalid ${name}: ${text.slice(0, 40)}`)
  return at
}
