const FRIDAY = 5
const WEEKS = 9
const DAY_MS = 86_400_000

/**
 * The next Fridays, on which listed options usually expire. The broker may have other expirations.
 * @param {number} nowMs milliseconds since the epoch
 * @returns {readonly string[]} ascending, as `YYYY-MM-DD`
 */
export function fridaysFrom(nowMs) {
  const today = new Date(nowMs)
  const first = nowMs + ((FRIDAY - today.getUTCDay() + 7) % 7) * DAY_MS
  return Array.from({ length: WEEKS }, (_, week) => new Date(first + week * 7 * DAY_MS).toISOString().slice(0, 10))
}

/**
 * The next third Friday of a month at least two weeks away, when the most traded options expire.
 * @param {number} nowMs milliseconds since the epoch
 */
export function monthlyAfter(nowMs) {
  const found = fridaysFrom(nowMs + 14 * DAY_MS).find(day => {
    const date = Number(day.slice(8))
    return date >= 15 && date <= 21
  })
  return found ?? ''
}
