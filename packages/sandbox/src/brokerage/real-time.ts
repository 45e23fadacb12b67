/** Real time for a sandbox: the machine's wall clock, which continues when that is set back. */

/** Readings of two clocks differ by this much without either being set. */
const JITTER_MS = 1_000

/**
 * Milliseconds since the epoch by `wall`. When that is set back, time goes on from where it was at the pace of `monotonic`, and stays ahead by
 * what was lost: a brokerage whose market stood still for hours because its machine's clock was put right would be of no use. Set forward it is
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
