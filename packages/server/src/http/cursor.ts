import { timingSafeEqual } from 'node:crypto'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { Page, PageRequest } from '@trunkline/core/ports/store'
import type { Hasher } from '@trunkline/core/ports/vault'
import { Rendered } from './rendered.ts'

const VERSION = 'cursor-1'
const MAC_BYTES = 16
const LENGTH_MAX = 2_048

type Edge = NonNullable<PageRequest['edge']>

/** The page envelope of the contract. */
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

/**
 * What a cursor is good for: one route, one owner, one set of filters and one sort. Anything that makes a different list makes a different
 * scope, and a cursor opens in its own scope only.
 */
export type CursorScope = readonly unknown[]

const HEAD = Buffer.from('{"data":[')
const COMMA = Buffer.from(',')

/** Makes and opens opaque cursors. They hold the edge row's keys and a MAC over these and the scope; the service keeps nothing. */
export class Cursors {
  readonly #hasher: Pick<Hasher, 'derive'>
  readonly #rendered = new WeakMap<object, Rendered>()

  constructor(hasher: Pick<Hasher, 'derive'>) {
    this.#hasher = hasher
  }

  /** @throws ServiceError query_invalid when both cursors are given, or one that was altered or belongs elsewhere. */
  request(requested: PageParameters, scope: CursorScope, limitDefault: number, descending: boolean): PageRequest {
    const { limit = limitDefault, next_cursor: next, prev_cursor: prev } = requested
    if (next !== undefined && prev !== undefined) {
      throw invalid('next_cursor', 'and prev_cursor exclude each other; send the one of the direction you want')
    }
    if (next !== undefined) return { limit, descending, edge: this.#open('next_cursor', 'after', next, scope) }
    if (prev !== undefined) return { limit, descending, edge: this.#open('prev_cursor', 'before', prev, scope) }
    return { limit, descending, edge: null }
  }

  /** Of a list that is read from its beginning on: the page after `cursor`. @throws ServiceError query_invalid */
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

  /** The same as JSON, of rows that are JSON already. A page that is given again (as the same object, in the same scope) is not joined again. */
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

  // One buffer, one flat text: a text glued together makes the JSON writer leave its fast path for the whole page, four times slower.
  #seal(side: Edge['side'], key: readonly string[], scope: CursorScope): string {
    const payload = JSON.stringify(key)
    return Buffer.concat([this.#mac(side, payload, scope), Buffer.from(payload)]).toString('base64url')
  }

  #open(name: string, side: Edge['side'], cursor: string, scope: CursorScope): Edge {
    const bytes = Buffer.from(cursor, 'base64url')
    // Written back and compared, because the decoder forgives characters that are not part of the text.
    if (bytes.length > MAC_BYTES && cursor.length <= LENGTH_MAX && bytes.toString('base64url') === cursor) {
      const payload = bytes.subarray(MAC_BYTES).toString('utf8')
      if (timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(side, payload, scope))) return { side, key: JSON.parse(payload) }
    }
    throw invalid(name, 'is not a cursor of this list with these filters and this sort; start again without it')
  }

  #mac(side: Edge['side'], payload: string, scope: CursorScope): Buffer {
    return Buffer.from(this.#hasher.derive(JSON.stringify([VERSION, side, payload, scope]))).subarray(0, MAC_BYTES)
  }
}

function invalid(path: string, message: string): ServiceError {
  return new ServiceError('query_invalid', `${path} ${message}.`, { details: [{ path, message }] })
}
