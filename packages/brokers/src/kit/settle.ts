/** Commands whose success means only that the broker accepted the request. */

import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import type { Outcome } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Refusal } from './order-rules.ts'

/**
 * The outcome of a request that the broker accepted. Calls `look` after each pause (milliseconds) until it returns an outcome. If none
 * does, or a look-up fails, the request is accepted without a report, and the order will show the result; the failure is returned with it.
 * Never rejects.
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
    // A failed look-up says nothing about the request, but it may report a problem of the login or of the broker's answers.
    return { kind: 'accepted', value: null, fault }
  }
  return { kind: 'accepted', value: null }
}

/** The command was not sent, because the broker would refuse it; `message` says what is possible. */
export function refusedUnsent({ message, rejectCode }: Refusal): Outcome<never> {
  return { kind: 'refused', message, rejectCode, brokerStatus: null, isUnsent: true }
}

/** The broker proved that nothing was done; `message` says what is possible. */
export function refused(message: string, rejectCode: RejectCode | null, brokerStatus: string | null = null): Outcome<never> {
  return { kind: 'refused', message, rejectCode, brokerStatus }
}

/** The broker's answer proves neither. */
export function undecided(answer: string): Outcome<never> {
  return { kind: 'unknown', cause: new Error(answer) }
}
