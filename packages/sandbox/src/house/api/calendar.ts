/** Trading days of the share market, read off its phases. */

import type { Micros, Phase } from '../../engine/types.ts'
import type { Market } from '../../market/types.ts'
import { isoOf } from '../clock.ts'

const ZONE = 'America/New_York'
/** More changes of phase than any day has; a market that answers with ever more is not believed. */
const CHANGES_MAX = 24

/** One entry per day with regular trading, both ends included. */
export function tradingDays(market: Market, from: Temporal.PlainDate, to: Temporal.PlainDate): readonly object[] {
  const days: object[] = []
  for (let day = from; Temporal.PlainDate.compare(day, to) <= 0; day = day.add({ days: 1 })) {
    const found = tradingDay(market, day)
    if (found !== undefined) days.push(found)
  }
  return days
}

function tradingDay(market: Market, day: Temporal.PlainDate): object | undefined {
  const [begin, end] = [midnight(day), midnight(day.add({ days: 1 }))]
  const stretches: { readonly phase: Phase; readonly from: Micros; readonly to: Micros }[] = []
  for (let at = begin; at < end && stretches.length < CHANGES_MAX; ) {
    const { phase, nextChange } = market.phaseAt('us-equity', at)
    const to = nextChange === null || nextChange <= at ? end : Math.min(nextChange, end)
    stretches.push({ phase, from: at, to })
    at = to
  }
  const open = stretches.filter(({ phase }) => phase === 'open')
  const first = open[0]
  const last = open.at(-1)
  if (first === undefined || last === undefined) return undefined
  const pre = stretches.find(({ phase }) => phase === 'pre')
  const post = stretches.findLast(({ phase }) => phase === 'post')
  return {
    date: day.toString(),
    pre_opens: pre === undefined ? null : isoOf(pre.from),
    opens: isoOf(first.from),
    closes: isoOf(last.to),
    post_closes: post === undefined ? null : isoOf(post.to)
  }
}

function midnight(day: Temporal.PlainDate): Micros {
  return day.toZonedDateTime({ timeZone: ZONE }).epochMilliseconds * 1000
}
