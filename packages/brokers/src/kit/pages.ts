/** Lists that come in pages. */

import { BrokerFault } from '@trunkline/core/ports/broker'

export interface Paged {
  /** The cursor of the next page; null at the last. */
  readonly next: string | null
}

/**
 * Every page or a fault: a list is never cut short. `read` receives the cursor of the previous page; null for the first.
 * @throws BrokerFault `malformed` when a page points to itself, `refused` beyond `max` pages; what `read` throws
 */
export async function* pages<Page extends Paged>(
  max: number,
  read: (next: string | null) => Promise<Page>
): AsyncGenerator<Page, void, undefined> {
  let next: string | null = null
  for (let count = 0; count < max; count += 1) {
    const page: Page = await read(next)
    yield page
    if (page.next === null) return
    if (page.next === next) throw new BrokerFault('malformed', 'a page of the broker’s list points to itself')
    next = page.next
  }
  throw new BrokerFault('refused', `the list has more than ${max} pages; request less, or a shorter time`)
}

/** All pages; at least one. */
export async function everyPage<Page extends Paged>(
  max: number,
  read: (next: string | null) => Promise<Page>
): Promise<readonly [Page, ...Page[]]> {
  const all: Page[] = []
  for await (const page of pages(max, read)) all.push(page)
  const [first, ...others] = all
  if (first === undefined) throw new BrokerFault('malformed', 'the list has no pages')
  return [first, ...others]
}
