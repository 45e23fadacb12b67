/** Commands whose success means only that the broker accepted the request. */

import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import type { Outcome } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

/**
 * What became of a request that the broker took: looks after each pause, in milliseconds, until `look` knows. Not to know in the end, or not to be able
 * to look, leaves it accepted without a report: it is the broker's to show. What prevented the look-up is returned with it. Never rejects.
 */
export async function settled<T>(
  { clock, pausesMs }: { readonly clock: Clock; readonly pausesMs: readonly number[] },
  look: () => Promise<Outcome<T> | null>,
  signal: AbortSignal
): Promise<Outcome<T | null>> {
  try {
    for (const pauseMs of pausesMs) {
      if (pauseMs > 0) await clock.sleep(pauseMs, signal)
      const outcome = await look()
      if (outcome !== null) return outcome
    }
  } catch (fault) {
    // A failed look-up says nothing of the request, and may say much of the login or of what the broker answers.
    return { kind: 'accepted', value: null, fault }
  }
  return { kind: 'accepted', value: null }
}

/** The command was not sent, because the broker would refuse it; `message` says what is possible. */
export function refusedUnsent(message: string, rejectCode: RejectCode | null): Outcome<never> {
  return { kind: 'refused', message, rejectCode, brokerStatus: null, isUnsent: true }
}

/** The broker proved that nothing was done; `message` says what is possible. */
export function refused(message: string, rejectCode: RejectCode | null, brokerStatus: string | null = null): Outcome<never> {
  return { kind: 'refused', message, rejectCode, brokerStatus }
}
