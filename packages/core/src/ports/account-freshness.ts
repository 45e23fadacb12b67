import type { Day, Timestamp } from '../domain/timestamp.ts'

/** Kinds of records that a broker confirms as a whole. */
export type ConfirmedKind = keyof AccountFreshness

export interface AccountFreshness {
  readonly balances: Timestamp | null
  readonly positions: Timestamp | null
  readonly orders: Timestamp | null
  /** The days that transactions were read for, and when. */
  readonly transactions: { readonly from: Day; readonly to: Day; readonly at: Timestamp } | null
}
