import type { AccountId } from './ids.ts'
import type { Timestamp } from './timestamp.ts'

/**
 * How current an account's records are. `live`: follow the broker without a gap; `fresh`: confirmed for this read or just before; `stale`:
 * the last known; `unsupported`: the broker has no such records; `unavailable`: never read.
 */
export const FRESHNESS_STATES = ['live', 'fresh', 'stale', 'unsupported', 'unavailable'] as const
export type FreshnessState = (typeof FRESHNESS_STATES)[number]

/**
 * Why records are not fresh: the broker did not answer, its login has ended so that it was not called, or its answer could not be stored.
 */
export type FreshnessReason = 'broker_unavailable' | 'connection_broken' | 'not_stored'

/** The freshness of one account's records of one kind. */
export interface Freshness {
  readonly accountId: AccountId
  /** When the broker last confirmed them; null: never. */
  readonly confirmed: Timestamp | null
  readonly state: FreshnessState
  /** Set if the state is `stale` or `unavailable`. */
  readonly reason: FreshnessReason | null
}

/** The result of a read: records, and the freshness of every account in scope, including those without records. */
export interface Read<Row> {
  readonly rows: readonly Row[]
  readonly freshness: readonly Freshness[]
}
