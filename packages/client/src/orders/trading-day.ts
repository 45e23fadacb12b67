/** How far the clocks of this machine and of the service may be apart. */
const CLOCKS_APART_MS = 15 * 60_000

/** Whether the trading day, which is the date in New York, may have changed between two instants of this machine's clock. */
export function mayDiffer(fromMs: number, toMs: number): boolean {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' })
  return day.format(Math.min(fromMs, toMs) - CLOCKS_APART_MS) !== day.format(Math.max(fromMs, toMs) + CLOCKS_APART_MS)
}
