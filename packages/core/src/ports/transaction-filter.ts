import type { Day } from '../domain/timestamp.ts'
import type { TransactionType } from '../domain/vocabulary.ts'

/** Which transactions a list is of: those of inclusive days. */
export interface TransactionFilter {
  readonly from: Day
  readonly to: Day
  /** Null: of all types. */
  readonly types: readonly TransactionType[] | null
}
