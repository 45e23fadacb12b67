/** Retries of what is safe to repeat: reads and reconnections, never a command. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

export interface Backoff {
  /** The first pause is at most this long, each later one at most twice the one before. */
  readonly firstMs: number
  readonly longestMs: number
}

/** Full jitter: a pause between 0 and the bound of this attempt (0, 1, …), so that clients that fail together do not retry together. */
export function pauseMs(backoff: Backoff, attempt: number, fraction: () => number): number {
  return fraction() * Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(attempt, 30))
}

export interface RetryPolicy extends Backoff {
  /** Attempts in total, including the first. */
  readonly attemptsMax: number
  /** If the broker demands a longer pause, the fault is thrown instead. */
  readonly retryAfterMsMax: number
}

export const READ_RETRIES: RetryPolicy = { firstMs: 250, longestMs: 2_000, attemptsMax: 3, retryAfterMsMax: 5_000 }

export interface RetryDeps {
  readonly clock: Clock
  readonly fraction: () => number
}

/**
 * Runs `read` until it succeeds, the attempts are used up or the signal aborts. @throws BrokerFault the last one, or the first that is not
 * transient.
 */
export async function withRetries<T>(policy: RetryPolicy, deps: RetryDeps, read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read()
    } catch (fault) {
      if (attempt + 1 >= policy.attemptsMax || !isTransient(fault) || signal.aborted) throw fault
      const requestedMs = fault.retryAfterMs
      if (requestedMs !== undefined && requestedMs > policy.retryAfterMsMax) throw fault
      try {
        // The broker's pause is the minimum; jitter is added, so that clients that received the same pause do not return together.
        await deps.clock.sleep((requestedMs ?? 0) + pauseMs(policy, attempt, deps.fraction), signal)
      } catch {
        throw fault
      }
    }
  }
}

function isTransient(fault: unknown): fault is BrokerFault {
  return fault instanceof BrokerFault && (fault.kind === 'unreachable' || fault.kind === 'rate_limited' || fault.kind === 'malformed')
}
