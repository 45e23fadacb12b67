import type { AccountId } from './ids.ts'
import type { Timestamp } from './timestamp.ts'

/**
 * What records of an account are worth: `live` follows the broker without a gap, `fresh` was confirmed for this read or just before, `stale` is
 * the last that is known, `unsupported` are records that the broker does not have, and of `unavailable` ones nothing was ever read.
 */
export const FRESHNESS_STATES = ['live', 'fresh', 'stale', 'unsupported', 'unavailable'] as const
export type FreshnessState = (typeof FRESHNESS_STATES)[number]

/**
 * Why records are not fresh: the broker was asked and did not answer, its login has ended and it cannot be asked, or what it answered could not be
 * stored.
 */
export type FreshnessReason = 'broker_unavailable' | 'connection_broken' | 'not_stored'

/** How fresh one account's records of one kind are. */
export interface Freshness {
  readonly accountId: AccountId
  /** When the broker last confirmed them; null: never. */
  readonly confirmed: Timestamp | null
  readonly state: FreshnessState
  /** Set where the state is `stale` or `unavailable`. */
  readonly reason: FreshnessReason | null
}

/** What a read gives: records, and for every account in scope how fresh they are, also where it has none. */
export interface Read<Row> {
  readonly rows: readonly Row[]
  readonly freshness: readonly Freshness[]
}
