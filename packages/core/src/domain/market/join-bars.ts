/** Joins past bars with live ones: no gap and no repeat. */
import { compare, type Decimal } from '../decimal.ts'
import type { Bar } from './records.ts'

export interface Joined {
  /** Closed bars, ascending, each start once. */
  readonly closed: readonly Bar[]
  /** The bar under way; a builder is to adopt it. Null when nothing has traded in it. */
  readonly open: Bar | null
  /** Starts of closed bars that neither side knows whole: history had not closed them yet. Ask it again. */
  readonly incomplete: readonly number[]
}

/**
 * Joins what history answered with what came live meanwhile. There is no gap when history was asked after the live feed began: a bar is
 * then whole on one side at least, or on its way in both.
 *
 * Of two bars with one start history's closed one counts, else a live one that is whole. Where both are parts, the open bar has history's open,
 * the extremes of both, the live close and the larger volume, which is never more than what was traded; when it closes it must be taken
 * from history, because no builder saw it whole.
 * @param past ascending; its last may be open
 * @param live what closed live, ascending, and last the open bar, if any
 * @param isWhole whether the live feed saw all of a live bar
 */
export function joinBars(past: readonly Bar[], live: readonly Bar[], isWhole: (bar: Bar) => boolean): Joined {
  const byStart = new Map<number, Bar>()
  const incomplete: number[] = []
  for (const bar of past) byStart.set(bar.startMs, bar)
  for (const bar of live) {
    const known = byStart.get(bar.startMs)
    if (known?.closed === true) continue
    if (known === undefined || isWhole(bar)) byStart.set(bar.startMs, bar)
    else {
      byStart.set(bar.startMs, combined(known, bar))
      if (bar.closed) incomplete.push(bar.startMs)
    }
  }
  const bars = [...byStart.values()].toSorted((a, b) => a.startMs - b.startMs)
  const last = bars.at(-1)
  const open = last === undefined || last.closed ? null : last
  // Of history's bars only the last can be open; a later live bar shows that its time is over.
  for (const bar of open === null ? bars : bars.slice(0, -1)) if (!bar.closed) incomplete.push(bar.startMs)
  const without = new Set(incomplete)
  return { closed: bars.filter(bar => bar.closed && !without.has(bar.startMs)), open, incomplete: [...without].toSorted((a, b) => a - b) }
}

function combined(past: Bar, live: Bar): Bar {
  return {
    startMs: past.startMs,
    open: past.open,
    high: larger(past.high, live.high),
    low: compare(past.low, live.low) < 0 ? past.low : live.low,
    close: live.close,
    volume: larger(past.volume, live.volume),
    closed: live.closed
  }
}

function larger(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) < 0 ? b : a
}
