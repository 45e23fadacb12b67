// When a message is tried again, and when an endpoint is given up.
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY_MS = 24 * HOUR
/** After the first failure, the second, and so on; then the last one again and again. */
const WAITS_MS = [
  ...[5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE],
  ...[HOUR, 3 * HOUR, 7 * HOUR, 16 * HOUR, 24 * HOUR, 24 * HOUR]
]
/** Of the wait, in both directions: endpoints that failed together are not tried together. */
const JITTER = 0.2
/** Without a success for so long, an endpoint is disabled. */
export const FAILING_MS = 5 * DAY_MS

/**
 * When a message with so many failed attempts is tried again. `retryAfter` is the header of the answer: seconds or a date, obeyed up to a
 * day, when it is later.
 */
export function retryAt(failed: number, now: Timestamp, fraction: number, retryAfter: string | null): Timestamp {
  const wait = WAITS_MS[Math.min(failed, WAITS_MS.length) - 1] ?? 0
  const ms = wait * (1 + JITTER * (2 * fraction - 1))
  return timestampOfMs(Math.floor(epochMs(now) + Math.max(ms, requestedMs(retryAfter, now))))
}

function requestedMs(retryAfter: string | null, now: Timestamp): number {
  if (retryAfter === null) return 0
  const ms = /^\d{1,15}$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - epochMs(now)
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), DAY_MS) : 0
}
