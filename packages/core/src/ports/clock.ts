import type { Timestamp } from '../domain/timestamp.ts'

/** Time, passed in: a trading day can run in a millisecond. */
export interface Clock {
  /** The wall clock. */
  now(): Timestamp
  /** Milliseconds that never go back; for deadlines and measurements, meaningless between processes. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Calls `ring` once, after `ms`, unless what it gives is disposed before; disposing it later is a no-op. For what thousands wait for: it
   * costs a fraction of a sleep. `ring` must not throw.
   */
  alarm(ms: number, ring: () => void): Disposable
  /** Lets whatever else is due have its turn, and resolves then: work that takes long is done in slices. */
  nextTurn(): Promise<void>
}
