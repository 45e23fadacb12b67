/** Repeating what is safe to repeat: reads and reconnections, never a command. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

export interface Backoff {
  /** The first pause is at most this long, each later one at most twice the one before. */
  readonly firstMs: number
  readonly longestMs: number
}

/** A pause drawn evenly between nothing and the bound of this attempt (0, 1, …), so that many who fail together do not return together. */
export function pauseMs(backoff: Backoff, attempt: number, fraction: () => number): number {
  return fraction() * Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(attempt, 30))
}

export interface RetryPolicy extends Backoff {
  /** Times in all, the first included. */
  readonly attemptsMax: number
  /** A longer pause that a broker asks for is reported to the caller instead. */
  readonly retryAfterMsMax: number
}

export const READ_RETRIES: RetryPolicy = { firstMs: 250, longestMs: 2_000, attemptsMax: 3, retryAfterMsMax: 5_000 }

export interface RetryDeps {
  readonly clock: Clock
  readonly fraction: () => number
}

/** Runs `read` until it answers, the policy is used up or the signal aborts. @throws BrokerFault the last one, or the first lasting one. */
export async function withRetries<T>(policy: RetryPolicy, deps: RetryDeps, read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read()
    } catch (fault) {
      if (attempt + 1 >= policy.attemptsMax || !passes(fault) || signal.aborted) throw fault
      const requestedMs = fault.retryAfterMs
      if (requestedMs !== undefined && requestedMs > policy.retryAfterMsMax) throw fault
      try {
        // What the broker asked for is the least; the jitter comes on top, or all clients that received the same pause return together.
        await deps.clock.sleep((requestedMs ?? 0) + pauseMs(policy, attempt, deps.fraction), signal)
      } catch {
        throw fault
      }
    }
  }
}

function passes(fault: unknown): fault is BrokerFault {
  return fault instanceof BrokerFault && (fault.kind === 'unreachable' || fault.kind === 'rate_limited' || fault.kind === 'malformed')
}
