/** Long enough to be read. */
const LEAST_MS = 300
const FIRST_MS = 500
const LONGEST_MS = 30_000

/**
 * How long to wait before trying again: a random time below a bound that doubles, so that many pages do not come back at once.
 * @param {number} failures in a row so far
 * @param {number} fraction chance, from 0 to 1
 */
export function waitMs(failures, fraction) {
  return Math.round(LEAST_MS + fraction * (Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) - LEAST_MS))
}
