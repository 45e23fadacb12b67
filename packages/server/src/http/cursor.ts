import { timingSafeEqual } from 'node:crypto'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Page, PageRequest } from '@trunkline/core/ports/store'
import type { Hasher } from '@trunkline/core/ports/vault'
import { Rendered } from './rendered.ts'

const VERSION = 'cursor-1'
const MAC_BYTES = 16
const LENGTH_MAX = 2_048

type Edge = NonNullable<PageRequest['edge']>

/** The envelope of a paged list, as in the API. */
export interface PageEnvelope<Row> {
  readonly data: Row[]
  readonly next_cursor: string | null
  readonly prev_cursor: string | null
}

/** The paging parameters of the request. */
export interface PageParameters {
  readonly limit: number | undefined
  readonly next_cursor: string | undefined
  readonly prev_cursor: string | undefined
}

/** Route, owner, filters and sort: everything that makes a different list. A cursor is valid only in the scope that it was made for. */
export type CursorScope = readonly unknown[]

const HEAD = Buffer.from('{"data":[')
const COMMA = Buffer.from(',')

/**
 * Seals and opens opaque cursors. A cursor holds the sort keys of the edge row, and a MAC over these keys and the scope. Nothing is stored.
 */
export class Cursors {
  readonly #hasher: Pick<Hasher, 'derive'>
  readonly #rendered = new WeakMap<object, Rendered>()

  constructor(hasher: Pick<Hasher, 'derive'>) {
    this.#hasher = hasher
  }

  /** @throws ServiceError query_invalid if both cursors are given, or if a cursor was altered or belongs to another scope. */
  request(requested: PageParameters, scope: CursorScope, limitDefault: number, descending: boolean): PageRequest {
    const { limit = limitDefault, next_cursor: next, prev_cursor: prev } = requested
    if (next !== undefined && prev !== undefined) {
      throw invalid('next_cursor', 'and prev_cursor exclude each other; send only one of them')
    }
    if (next !== undefined) return { limit, descending, edge: this.#open('next_cursor', 'after', next, scope) }
    if (prev !== undefined) return { limit, descending, edge: this.#open('prev_cursor', 'before', prev, scope) }
    return { limit, descending, edge: null }
  }

  /** For a list that is read in one direction: the page after `cursor`. @throws ServiceError query_invalid */
  forward(
    requested: { readonly limit: number | undefined; readonly cursor: string | undefined },
    scope: CursorScope,
    limitDefault: number
  ): PageRequest {
    const { limit = limitDefault, cursor } = requested
    return { limit, descending: true, edge: cursor === undefined ? null : this.#open('cursor', 'after', cursor, scope) }
  }

  after(key: readonly string[], scope: CursorScope): string {
    return this.#seal('after', key, scope)
  }

  envelope<T, Row>(page: Page<T>, scope: CursorScope, present: (row: T) => Row): PageEnvelope<Row> {
    return {
      data: page.rows.map(present),
      next_cursor: page.next === null ? null : this.#seal('after', page.next, scope),
      prev_cursor: page.prev === null ? null : this.#seal('before', page.prev, scope)
    }
  }

  /** The envelope as JSON bytes, for rows that are JSON bytes already. Cached by the identity of `page`, which belongs to one scope. */
  rendered<T>(page: Page<T>, scope: CursorScope, bytesOf: (row: T) => Uint8Array): Rendered {
    const known = this.#rendered.get(page)
    if (known !== undefined) return known
    const { next_cursor: next, prev_cursor: prev } = this.envelope(page, scope, () => null)
    const rows = page.rows.flatMap((row, index) => (index === 0 ? [bytesOf(row)] : [COMMA, bytesOf(row)]))
    const tail = Buffer.from(`],"next_cursor":${JSON.stringify(next)},"prev_cursor":${JSON.stringify(prev)}}`)
    const rendered = new Rendered(Buffer.concat([HEAD, ...rows, tail]))
    this.#rendered.set(page, rendered)
    return rendered
  }

  // One buffer, so that the cursor is a flat string: a concatenated one takes JSON.stringify off its fast path, which is four times slower.
  #seal(side: Edge['side'], key: readonly string[], scope: CursorScope): string {
    const payload = JSON.stringify(key)
    return Buffer.concat([this.#mac(side, payload, scope), Buffer.from(payload)]).toString('base64url')
  }

  #open(name: string, side: Edge['side'], cursor: string, scope: CursorScope): Edge {
    const bytes = Buffer.from(cursor, 'base64url')
    // Encoded again and compared, because the base64url decoder ignores invalid characters.
    if (bytes.length > MAC_BYTES && cursor.length <= LENGTH_MAX && bytes.toString('base64url') === cursor) {
      const payload = bytes.subarray(MAC_BYTES).toString('utf8')
      if (timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(side, payload, scope))) return { side, key: JSON.parse(payload) }
    }
    throw invalid(name, 'is not a cursor of this list with these filters and this sort; start again without a cursor')
  }

  #mac(side: Edge['side'], payload: string, scope: CursorScope): Buffer {
    return Buffer.from(this.#hasher.derive(JSON.stringify([VERSION, side, payload, scope]))).subarray(0, MAC_BYTES)
  }
}

function invalid(path: string, message: string): ServiceError {
  return new ServiceError('query_invalid', `${path} ${message}.`, { details: [{ path, message }] })
}
