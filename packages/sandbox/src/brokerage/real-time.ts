/** Real time for a sandbox: the machine's wall clock, without steps backwards. */

/** The difference between two clocks that is tolerated as normal. */
const JITTER_MS = 1_000

/**
 * Milliseconds since the epoch by `wall`. If that is set back, time continues from there at the pace of `monotonic`, and stays ahead by
 * the difference: otherwise a correction of the machine's clock could stop the market for hours. A clock that is set forward is
 * followed.
 */
export function goingOn(wall: () => number, monotonic: () => number): () => number {
  let aheadMs = 0
  let last = { realMs: wall(), atMs: monotonic() }
  return () => {
    const atMs = monotonic()
    const expected = last.realMs + (atMs - last.atMs)
    const shown = wall() + aheadMs
    if (shown < expected - JITTER_MS) aheadMs += expected - shown
    last = { realMs: wall() + aheadMs, atMs }
    return last.realMs
  }
}
