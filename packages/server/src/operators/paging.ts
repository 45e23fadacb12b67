// Pages of lists, which are read in one direction.
import type { Page } from '@trunkline/core/ports/store'
import type { CursorScope, Cursors } from '../http/cursor.ts'
import { cursorParam, integer } from '../http/params.ts'

export const LIMIT = { minimum: 1, maximum: 100, fallback: 50 }

export const paging = {
  limit: integer(LIMIT, 'Maximum number of rows on a page.'),
  cursor: cursorParam('The `next_cursor` of a page: returns the page after it.')
}

/** The page as it is answered. */
export function pageOf<T, Row>(cursors: Cursors, { rows, next }: Page<T>, scope: CursorScope, present: (row: T) => Row) {
  return { data: rows.map(present), next_cursor: next === null ? null : cursors.after(next, scope) }
}

/** A list that has one page. */
export function onlyPage<T, Row>(rows: readonly T[], present: (row: T) => Row) {
  return { data: rows.map(present), next_cursor: null }
}
