/** An order and its amendments as the one order that Tradier shows: the id of the first, the terms of the last, the fills of all. */

import { divideHalfUp, type FillView, formatScaled, type OrderView, readScaled } from '../../frame/brokerage.ts'

/** By the internal id; null where the state has forgotten it. */
export type FindOrder = (accountId: string, orderId: string) => OrderView | null

export interface Chain {
  readonly first: OrderView
  readonly last: OrderView
  /** Oldest first. */
  readonly links: readonly OrderView[]
}

export interface Totals {
  readonly quantity: string
  /** Zero while there is none. */
  readonly average: string
  readonly last: FillView | null
}

/** The whole chain that an order belongs to. */
export function chainOf(order: OrderView, find: FindOrder): Chain {
  const before = walk(order, ({ replaces }) => replaces, find).reverse()
  const after = walk(order, ({ replacedBy }) => replacedBy, find)
  return chain([...before, order, ...after])
}

/** The chain up to an order as it was: what came after it has not happened yet. */
export function chainUpTo(order: OrderView, find: FindOrder): Chain {
  return chain([...walk(order, ({ replaces }) => replaces, find).reverse(), order])
}

function chain(links: readonly OrderView[]): Chain {
  const [first] = links
  const last = links.at(-1)
  if (first === undefined || last === undefined) throw new Error('a chain has a link at least')
  return { first, last, links }
}

function walk(order: OrderView, next: (order: OrderView) => string | null, find: FindOrder): OrderView[] {
  const found: OrderView[] = []
  for (let id = next(order); id !== null; ) {
    const link = find(order.accountId, id)
    if (link === null) break
    found.push(link)
    id = next(link)
  }
  return found
}

export function totalsOf(fills: readonly FillView[]): Totals {
  let [quantity, value] = [0n, 0n]
  for (const fill of fills) {
    const units = scaled(fill.quantity)
    quantity += units
    value += units * scaled(fill.price)
  }
  const average = quantity === 0n ? 0n : value < 0n ? -divideHalfUp(-value, quantity) : divideHalfUp(value, quantity)
  return { quantity: formatScaled(quantity), average: formatScaled(average), last: fills.at(-1) ?? null }
}

/** Of the whole chain; of its `leg`th leg where one is named. */
export function fillsOf({ links }: Chain, leg?: number): readonly FillView[] {
  return links.flatMap(({ fills, legs }) => (leg === undefined ? fills : (legs?.[leg]?.fills ?? [])))
}

function scaled(text: string): bigint {
  const value = readScaled(text)
  if (value === undefined) throw new Error(`${text} is no figure of the state`)
  return value
}
