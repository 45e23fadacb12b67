/** Ids for records to which the broker gives none. Pure. */

import { createHash } from 'node:crypto'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { Wire } from './parse.ts'

export interface Dated {
  readonly record: Wire
  readonly day: Day
}

/**
 * Newest first. An id is derived from a record's content and the number of equal ones before it, so that reading the record again gives the
 * same id whatever else is read with it.
 */
export function identifiedByContent<T extends Dated>(items: readonly T[]): readonly (T & { readonly id: string })[] {
  const seen = new Map<string, number>()
  return items
    .toSorted((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0))
    .map(item => {
      const { record, day } = item
      const hash = createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 24)
      const times = (seen.get(hash) ?? 0) + 1
      seen.set(hash, times)
      return { ...item, id: `${day}-${hash}-${times}` }
    })
}
