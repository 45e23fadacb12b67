// The paging parameters that every paged list has.
import { integer, plainText } from '../params.ts'

const cursor = (description: string) => plainText(2_048, description, 'WyIyMDI2LTExLTIxIl0.kqT0v3m1…')

export function paging(limit: { readonly maximum: number; readonly fallback: number }) {
  return {
    limit: integer({ minimum: 1, ...limit }, 'Rows on a page.'),
    next_cursor: cursor('The `next_cursor` of the page before: gives the page after it. Not together with `prev_cursor`.'),
    prev_cursor: cursor('The `prev_cursor` of the page after: gives the page before it.')
  }
}
