/** Trading days of a market group, derived from its phases. */

import type { AssetClass } from '../../control-terms.ts'
import type { Micros, Phase } from '../../engine/types.ts'
import type { Market, MarketGroup } from '../../market/types.ts'
import { isoOf } from '../clock.ts'

/** The market group of each asset class. */
export const CLASS_MARKETS = { share: 'us-equity', coin: 'crypto', option: 'us-option', future: 'cme' } as const satisfies Record<
  AssetClass,
  MarketGroup
>

/** The start of a group's days: futures trade from 18:00 of the previous evening, crypto by UTC. */
const DAYS: { readonly [Group in MarketGroup]: { readonly zone: string; readonly hoursBefore: number } } = {
  'us-equity': { zone: 'America/New_York', hoursBefore: 0 },
  'us-option': { zone: 'America/New_York', hoursBefore: 0 },
  cme: { zone: 'America/New_York', hoursBefore: 6 },
  crypto: { zone: 'UTC', hoursBefore: 0 }
}
/** A day with regular trading: `YYYY-MM-DD`, and its instants. */
export interface TradingDay {
  readonly date: string
  readonly pre_opens: string | null
  readonly opens: string
  readonly closes: string
  readonly post_closes: string | null
}

/** More phase changes than any day has; the bound for a market that keeps returning more. */
const CHANGES_MAX = 24

/** One entry per day with regular trading, from the first to the last day inclusive. */
export function tradingDays(market: Market, group: MarketGroup, from: Temporal.PlainDate, to: Temporal.PlainDate): readonly TradingDay[] {
  const days: TradingDay[] = []
  for (let day = from; Temporal.PlainDate.compare(day, to) <= 0; day = day.add({ days: 1 })) {
    const found = tradingDay(market, group, day)
    if (found !== undefined) days.push(found)
  }
  return days
}

function tradingDay(market: Market, group: MarketGroup, day: Temporal.PlainDate): TradingDay | undefined {
  const [begin, end] = [beginning(group, day), beginning(group, day.add({ days: 1 }))]
  const stretches: { readonly phase: Phase; readonly from: Micros; readonly to: Micros }[] = []
  for (let at = begin; at < end && stretches.length < CHANGES_MAX; ) {
    const { phase, nextChange } = market.phaseAt(group, at)
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

function beginning(group: MarketGroup, day: Temporal.PlainDate): Micros {
  const { zone, hoursBefore } = DAYS[group]
  return day.toZonedDateTime({ timeZone: zone }).subtract({ hours: hoursBefore }).epochMilliseconds * 1000
}
