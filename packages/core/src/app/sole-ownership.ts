import { ALL_PARTITIONS } from '../domain/partition.ts'
import type { Owner, Ownership } from '../ports/ownership.ts'

const THIS: Owner = { kind: 'this' }

/** The ownership of the only node: it owns every user, always. */
export const soleOwnership: Ownership = {
  ownerOf: () => THIS,
  fenceOf: () => 0,
  changed: async () => undefined,
  listen(listener) {
    listener.gained(new Set(ALL_PARTITIONS))
    return () => undefined
  }
}
