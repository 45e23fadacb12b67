/** Long enough for the notice to be read. */
const LEAST_MS = 300
const FIRST_MS = 500
const LONGEST_MS = 30_000

/**
 * How long to wait before the next attempt: exponential backoff with jitter, so that many pages do not reconnect at the same time.
 * @param {number} failures in a row so far
 * @param {number} fraction random, from 0 to 1
 */
export function waitMs(failures, fraction) {
  return Math.round(LEAST_MS + fraction * (Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) - LEAST_MS))
}
