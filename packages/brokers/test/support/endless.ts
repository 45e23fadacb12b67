/** Lists of orders that lead to themselves, in the ways in which brokers page. */

/** Makes a page of the list of orders one that leads to itself; whatever else it is given stays as it is. */
export type Endless = (answer: unknown) => unknown

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Where a full page is followed by another one: every page is the first, filled up to `count` records. `recordsOf` gives null for what is
 * no page.
 */
export function fullPages(
  count: number,
  recordsOf: (answer: unknown) => readonly unknown[] | null,
  pageOf: (records: readonly unknown[]) => unknown
): Endless {
  let first: readonly unknown[] = []
  return answer => {
    const records = recordsOf(answer)
    if (records === null) return answer
    if (first.length === 0) first = records
    return pageOf(Array.from({ length: first.length === 0 ? 0 : count }, (_, index) => first[index % first.length]))
  }
}
