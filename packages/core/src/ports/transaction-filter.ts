import type { Day } from '../domain/timestamp.ts'
import type { TransactionType } from '../domain/vocabulary.ts'

/** Filters transactions by day, both ends inclusive, and by type. */
export interface TransactionFilter {
  readonly from: Day
  readonly to: Day
  /** Null: all types. */
  readonly types: readonly TransactionType[] | null
}
