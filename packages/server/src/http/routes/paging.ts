// The paging parameters that every paged list has.
import { cursorParam, integer } from '../params.ts'

export function paging(limit: { readonly maximum: number; readonly fallback: number }) {
  return {
    limit: integer({ minimum: 1, ...limit }, 'Rows on a page.'),
    next_cursor: cursorParam('The `next_cursor` of the page before: gives the page after it. Not together with `prev_cursor`.'),
    prev_cursor: cursorParam('The `prev_cursor` of the page after: gives the page before it.')
  }
}
