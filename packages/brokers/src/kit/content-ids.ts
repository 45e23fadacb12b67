/** Ids for records to which the broker gives none. Pure. */

import { createHash } from 'node:crypto'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { Wire } from './parse.ts'

export interface Identified {
  readonly record: Wire
  readonly day: Day
  readonly id: string
}

/**
 * Newest first. An id is derived from a record's content and the number of equal ones before it, so that reading the record again gives the same
 * id whatever else is read with it.
 */
export function identifiedByContent(records: readonly Wire[], dayOf: (record: Wire) => Day): readonly Identified[] {
  const seen = new Map<string, number>()
  return records
    .map(record => ({ record, day: dayOf(record) }))
    .sort((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0))
    .map(({ record, day }) => {
      const hash = createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 24)
      const times = (seen.get(hash) ?? 0) + 1
      seen.set(hash, times)
      return { record, day, id: `${day}-${hash}-${times}` }
    })
}
