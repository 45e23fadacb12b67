import { BarBuilder } from '@trunkline/core/domain/market/bar-builder'
import type { BarClock } from '@trunkline/core/domain/market/bar-clock'
import type { Bar } from '@trunkline/core/domain/market/records'

/**
 * Aggregates past bars into larger ones, ascending.
 * @param bars ascending; the last may be open
 * @param base the clock of `bars`: same session, an interval that `fits`
 * @param until the instant up to which `bars` are complete: bars that end by then are closed
 */
export function aggregate(bars: Iterable<Bar>, clock: BarClock, base: BarClock, until: number): readonly Bar[] {
  const builder = new BarBuilder(clock, base)
  const made: Bar[] = []
  for (const bar of bars) made.push(...builder.bar(bar))
  made.push(...builder.closeUntil(until))
  const { open } = builder
  return open === null ? made : [...made, open]
}
