/** Commands whose success says only that the broker took the request. */

import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import type { Outcome } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

/**
 * Looks after each pause, in milliseconds, until `look` knows what became of it. Not to know in the end, or not to be able to look, is `unknown`,
 * for which `stillOpen` are the words. Never rejects.
 */
export async function settled<T>(
  { clock, pausesMs, stillOpen }: { readonly clock: Clock; readonly pausesMs: readonly number[]; readonly stillOpen: string },
  look: () => Promise<Outcome<T> | null>,
  signal: AbortSignal
): Promise<Outcome<T>> {
  try {
    for (const pauseMs of pausesMs) {
      if (pauseMs > 0) await clock.sleep(pauseMs, signal)
      const outcome = await look()
      if (outcome !== null) return outcome
    }
    return { kind: 'unknown', cause: new Error(stillOpen) }
  } catch (cause) {
    return { kind: 'unknown', cause }
  }
}

/** Nothing was sent, or the broker proved that nothing was done; `message` says what is possible. */
export function refused(message: string, rejectCode: RejectCode | null, brokerStatus: string | null = null): Outcome<never> {
  return { kind: 'refused', message, rejectCode, brokerStatus }
}
