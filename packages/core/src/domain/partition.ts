import type { Brand } from './brand.ts'
import type { UserKey } from './ids.ts'

/** A share of all users, from 0 to 255. All work for the users of a partition is done by one node at a time. */
export type Partition = Brand<number, 'Partition'>

export const PARTITIONS = 256

/** The partition of a user: the last byte of its key, which is random in every version of UUID that the service makes. */
export function partitionOf(userKey: UserKey): Partition {
  return Number.parseInt(userKey.slice(-2), 16) as Partition
}
