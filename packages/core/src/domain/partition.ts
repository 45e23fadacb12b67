import type { Brand } from './brand.ts'
import type { UserKey } from './ids.ts'
import { Malformed } from './malformed.ts'

/** A share of all users, from 0 to 255. All work for the users of a partition is done by one node at a time. */
export type Partition = Brand<number, 'Partition'>

export const PARTITIONS = 256

/** The partition of a user: the last byte of its key, which is random in every version of UUID that the service makes. */
export function partitionOf(userKey: UserKey): Partition {
  return Number.parseInt(userKey.slice(-2), 16) as Partition
}

/** @throws Malformed unless a whole number from 0 to 255. */
export function parsePartition(value: unknown, what = 'partition'): Partition {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < PARTITIONS) return value as Partition
  throw new Malformed(what, `a whole number from 0 to ${PARTITIONS - 1}`, value)
}

export const ALL_PARTITIONS: readonly Partition[] = Array.from({ length: PARTITIONS }, (_, index) => parsePartition(index))
