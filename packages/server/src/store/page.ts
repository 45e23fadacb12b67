// Keyset pages: the rows to request, and what the answer says about the rows around them.
import type { Page, PageRequest } from '@trunkline/core/ports/store'

/** How a page is read: in walking order, one row more than requested, to see whether more follow. */
export interface Walk {
  readonly direction: 'asc' | 'desc'
  /** Rows beyond the edge, in walking order. */
  readonly beyond: '<' | '>'
  /** The edge's row and all before it. */
  readonly behind: '<=' | '>='
  readonly limit: number
}

export function walkOf({ descending, edge, limit }: PageRequest): Walk {
  const down = descending !== (edge?.side === 'before')
  return down
    ? { direction: 'desc', beyond: '<', behind: '>=', limit: limit + 1 }
    : { direction: 'asc', beyond: '>', behind: '<=', limit: limit + 1 }
}

/** The keys of an edge: the sort column's value and the unique one. @throws Error if there are not two */
export function edgeKeys(edge: NonNullable<PageRequest['edge']>): readonly [string, string] {
  const [value, unique] = edge.key
  if (value === undefined || unique === undefined || edge.key.length !== 2) throw new TypeError('a page key must have two values')
  return [value, unique]
}

/**
 * Makes the page of the rows of a walk.
 * @param found rows in walking order, at most the walk's limit
 * @param anythingBehind whether there is a row at the edge or before it
 */
export function pageOf<Row, T>(
  found: readonly Row[],
  request: PageRequest,
  anythingBehind: boolean,
  convert: { readonly row: (row: Row) => T; readonly key: (row: Row) => readonly string[] }
): Page<T> {
  const further = found.length > request.limit
  const backwards = request.edge?.side === 'before'
  const rows = found.slice(0, request.limit)
  if (backwards) rows.reverse()
  const [first, last] = [rows[0], rows.at(-1)]
  const [precedes, follows] = backwards ? [further, anythingBehind] : [anythingBehind, further]
  return {
    rows: rows.map(convert.row),
    prev: precedes && first !== undefined ? convert.key(first) : null,
    next: follows && last !== undefined ? convert.key(last) : null
  }
}
