// Walking a list page by page, there and back.
import assert from 'node:assert/strict'
import type { Page, PageRequest } from '@trunkline/core/ports/store'

export interface Walked<T> {
  readonly forth: readonly T[]
  readonly back: readonly T[]
}

/** Follows `next` to the end, then `prev` to the start, running `between` before each page. Throws when the pages do not end. */
export async function walk<T>(
  page: (request: PageRequest) => Promise<Page<T>>,
  how: { readonly limit: number; readonly descending: boolean; readonly between?: () => Promise<void>; readonly pagesMax?: number }
): Promise<Walked<T>> {
  const [forth, back]: [T[], T[]] = [[], []]
  let current = await page({ ...how, edge: null })
  assert.equal(current.prev, null, 'nothing precedes the first page')
  forth.push(...current.rows)
  const pagesMax = how.pagesMax ?? 1_000
  let pages = 1
  while (current.next !== null) {
    pages += 1
    assert.ok(pages <= pagesMax, 'the pages end')
    await how.between?.()
    current = await page({ ...how, edge: { side: 'after', key: current.next } })
    assert.notEqual(current.prev, null, 'a page that follows another has one before it')
    forth.push(...current.rows)
  }
  back.push(...current.rows)
  while (current.prev !== null) {
    pages += 1
    assert.ok(pages <= 2 * pagesMax, 'the pages end')
    await how.between?.()
    current = await page({ ...how, edge: { side: 'before', key: current.prev } })
    assert.notEqual(current.next, null, 'a page that precedes another has one after it')
    back.unshift(...current.rows)
  }
  return { forth, back }
}

export function assertPages<T>({ forth, back }: Walked<T>, expected: readonly T[]): void {
  assert.deepEqual(forth, expected)
  assert.deepEqual(back, expected)
}
