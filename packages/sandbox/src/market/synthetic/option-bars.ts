/** Bars of an option contract: made of its prints, from the last one backwards, because most minutes have none. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Micros } from '../../engine/types.ts'
import { byLength, INTERVAL_LENGTHS, printBar, type RawBar, regrouped, toBar } from '../bar-series.ts'
import { daysOf } from '../day-starts.ts'
import { NEW_YORK } from '../hours.ts'
import { BARS_MAX, type Bar, type BarsQuery } from '../types.ts'
import { text, worthOf } from './ladder.ts'
import type { OptionContract } from './option-contract.ts'

const HOUR: Micros = 3_600_000_000
const CENT = worthOf('0.01')
/** Yields to other work after this many hours of prints. */
const HOURS_PER_SLICE = 48

export async function optionBars(contract: OptionContract, query: BarsQuery): Promise<readonly Bar[]> {
  const { interval, from, to, now, limit = BARS_MAX } = query
  const days = daysOf(NEW_YORK)
  const length = INTERVAL_LENGTHS[interval]
  const startOf = interval === '1d' ? (at: Micros): Micros => days(at).start : byLength(length)
  const endOf = interval === '1d' ? (start: Micros): Micros => days(start).end : (start: Micros): Micros => start + length
  const most = Math.min(limit, BARS_MAX)
  const first = Math.max(from, contract.listedFrom)
  // Newest first; the bar at which the search stops may lack its beginning.
  const bars: RawBar[] = []
  let hours = 0
  for (let until = Math.min(endOf(startOf(to - 1)) - 1, now); until >= first && bars.length <= most; until -= (until % HOUR) + 1) {
    const prints = contract.prints(Math.max(until - (until % HOUR), first) - 1, until)
    const parts = regrouped(
      prints.map(({ at, cents, size }) => printBar(at, text(cents, CENT), String(size))),
      startOf
    )
    for (const part of parts.toReversed()) {
      const later = bars.at(-1)
      if (later?.start === part.start) bars[bars.length - 1] = regrouped([part, later], startOf)[0] ?? part
      else bars.push(part)
    }
    if (++hours % HOURS_PER_SLICE === 0) await yieldToEventLoop()
  }
  return bars
    .filter(({ start }) => start >= from && start < to)
    .slice(0, most)
    .reverse()
    .map(bar => toBar(bar, endOf(bar.start) <= now))
}
