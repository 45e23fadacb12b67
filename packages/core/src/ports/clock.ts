import type { Timestamp } from '../domain/timestamp.ts'

/** Time, passed in: a trading day can run in a millisecond. */
export interface Clock {
  /** The wall clock. */
  now(): Timestamp
  /** Milliseconds that never go back; for deadlines and measurements, meaningless between processes. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
