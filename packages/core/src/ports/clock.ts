import type { Timestamp } from '../domain/timestamp.ts'

/** Time, injected, so that tests can run a trading day in a millisecond. */
export interface Clock {
  /** The wall clock. */
  now(): Timestamp
  /** Milliseconds that never run backwards; for deadlines and measurements. Not comparable between processes. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Calls `ring` once, after `ms`, unless the returned alarm is disposed before; disposing it later does nothing. Much cheaper than
   * `sleep`, for timers by the thousand. `ring` must not throw.
   */
  alarm(ms: number, ring: () => void): Disposable
  /** Resolves in the next turn of the event loop. Long work is done in slices, so that other events are handled in between. */
  nextTurn(): Promise<void>
}
