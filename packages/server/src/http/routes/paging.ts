// The parameters of every paged list.
import { cursorParam, integer } from '../params.ts'

export function paging(limit: { readonly maximum: number; readonly fallback: number }) {
  return {
    limit: integer({ minimum: 1, ...limit }, 'Maximum number of rows on a page.'),
    next_cursor: cursorParam('The `next_cursor` of a page: returns the page after it. Cannot be combined with `prev_cursor`.'),
    prev_cursor: cursorParam('The `prev_cursor` of a page: returns the page before it.')
  }
}
