/** Lists in answers of REST: in pages or whole, with the faults for lists. */

import type { Fields } from '../read.ts'
import { type Cursors, type Merge, mergePage, questionOf } from './cursor.ts'
import type { Call, Reply } from './router.ts'

export interface Page<Item> {
  readonly fields: Fields
  readonly merge: Pick<Merge<Item>, 'parts' | 'idOf' | 'before'>
  readonly show: (item: Item) => object
  readonly limit?: number
}

/** One page of a paged list. @throws Problem `bad_cursor` */
export function paged<Item>({ cursors }: { readonly cursors: Cursors }, call: Call, page: Page<Item>): Reply {
  const { fault } = call
  if (fault?.do === 'empty') return whole([], fault)
  const question = questionOf(call)
  const limit = page.limit ?? page.fields.countOr('limit', 1, 500) ?? 100
  const { items, next } = mergePage({ ...page.merge, limit, position: cursors.read(page.fields.textOr('cursor'), question) })
  const skips = fault?.do === 'lose_page' && next !== null && next.page === fault.page
  const after = skips ? mergePage({ ...page.merge, limit, position: next }).next : next
  return { body: { items: items.map(page.show), next: after === null ? null : cursors.issue(after, question) } }
}

/** A list without pages. */
export function whole(items: readonly object[], fault: Call['fault']): Reply {
  return { body: { items: fault?.do === 'empty' ? [] : items, next: null } }
}
