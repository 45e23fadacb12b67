/** Opaque, signed cursors: the position in a list, bound to the query that they were issued for. */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Customer } from '../customers.ts'
import { Problem } from '../problems.ts'

/** The id after which each account's part of a list continues, and the number of the next page. */
export interface PagePosition {
  readonly after: Readonly<Record<string, string>>
  readonly page: number
}

export const BEGINNING: PagePosition = { after: {}, page: 1 }

export class Cursors {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** `question` is the request without its cursor and limit. */
  issue(position: PagePosition, question: string): string {
    const text = Buffer.from(JSON.stringify([position.page, position.after])).toString('base64url')
    return `${text}.${this.#sign(text, question)}`
  }

  /** @throws Problem `bad_cursor` if the sandbox did not issue it, or issued it for another query. */
  read(cursor: string | null, question: string): PagePosition {
    if (cursor === null) return BEGINNING
    const dot = cursor.lastIndexOf('.')
    const text = cursor.slice(0, Math.max(0, dot))
    const given = Buffer.from(cursor.slice(dot + 1))
    const due = Buffer.from(this.#sign(text, question))
    if (given.length !== due.length || !timingSafeEqual(given, due))
      throw new Problem('bad_cursor', 'this cursor was altered or belongs to another query; begin again without it', { field: 'cursor' })
    const [page, after] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [number, Record<string, string>]
    return { page, after }
  }

  #sign(text: string, question: string): string {
    return createHmac('sha256', this.#key).update(`${question}\n${text}`).digest('base64url').slice(0, 24)
  }
}

export interface Part<Item> {
  readonly account: string
  readonly fetch: (after: string | undefined, limit: number) => readonly Item[]
}

export interface Merge<Item> {
  readonly parts: readonly Part<Item>[]
  readonly position: PagePosition
  readonly limit: number
  readonly idOf: (item: Item) => string
  /** Whether `a` comes before `b` in the list. Equal items keep the order of the parts. */
  readonly before: (a: Item, b: Item) => boolean
}

/** One page of several sorted lists, merged, and the position of the next page (null: there is none). */
export function mergePage<Item>({ parts, position, limit, idOf, before }: Merge<Item>): {
  readonly items: readonly Item[]
  readonly next: PagePosition | null
} {
  const queues = parts.map(part => ({ account: part.account, items: part.fetch(position.after[part.account], limit + 1), taken: 0 }))
  const items: Item[] = []
  const after: Record<string, string> = { ...position.after }
  for (;;) {
    let best: (typeof queues)[number] | undefined
    let bestItem: Item | undefined
    for (const queue of queues) {
      const head = queue.items[queue.taken]
      if (head === undefined || (bestItem !== undefined && !before(head, bestItem))) continue
      best = queue
      bestItem = head
    }
    if (best === undefined || bestItem === undefined) return { items, next: null }
    if (items.length === limit) return { items, next: { after, page: position.page + 1 } }
    items.push(bestItem)
    after[best.account] = idOf(bestItem)
    best.taken++
  }
}

/** The query that a cursor is bound to: all parameters except the cursor and the limit. */
export function questionOf({ request, customer }: { readonly request: FastifyRequest; readonly customer: Customer }): string {
  const { cursor, limit, ...asked } = request.query as Record<string, unknown>
  const path = request.url.split('?', 1)[0]
  return createHash('sha256')
    .update(JSON.stringify([customer.id, path, asked]))
    .digest('base64url')
}
