/** Market hours over REST: the clock with every group's phase, and the calendar of trading days. */

import type { Market, MarketGroup } from '../../market/types.ts'
import { type BrokerageClock, isoOf } from '../clock.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import { valuesOf } from '../wire.ts'
import { CLASS_MARKETS, tradingDays } from './calendar.ts'
import { whole } from './pages.ts'
import type { Call, Reply, Route } from './router.ts'

export interface HoursRoutesDeps {
  readonly market: Market
  readonly clock: BrokerageClock
}

const CALENDAR_DAYS_MAX = 366

export function hoursRoutes(deps: HoursRoutesDeps): readonly Route[] {
  return [
    { method: 'GET', path: '/clock', operation: 'clock.get', scope: 'read', handle: () => clock(deps) },
    { method: 'GET', path: '/calendar', operation: 'calendar.list', scope: 'read', handle: call => calendar(deps, call) }
  ]
}

function clock({ clock: brokerage, market }: HoursRoutesDeps): Reply {
  const now = brokerage.now()
  const shown = (group: MarketGroup) => {
    const { phase, nextChange } = market.phaseAt(group, now)
    return { phase, next_change: nextChange === null ? null : isoOf(nextChange) }
  }
  const groups = Object.fromEntries(valuesOf(CLASS_MARKETS).map(name => [name, shown(CLASS_MARKETS[name])]))
  return { body: { clock: { sandbox_time: isoOf(now), frozen: brokerage.frozen, market: market.kind, ...groups } } }
}

function calendar({ market, clock: brokerage }: HoursRoutesDeps, { request, fault }: Call): Reply {
  const fields = new Fields(request.query, ['from', 'to', 'class'])
  const group = CLASS_MARKETS[fields.memberOr('class', valuesOf(CLASS_MARKETS)) ?? 'share']
  const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(brokerage.now() / 1000))
    .toZonedDateTimeISO('America/New_York')
    .toPlainDate()
  const from = Temporal.PlainDate.from(fields.textOr('from') === null ? today : (fields.dateOr('from') ?? today))
  const to = Temporal.PlainDate.from(fields.dateOr('to') ?? from.add({ days: 30 }))
  const days = from.until(to).days
  if (days < 0 || days >= CALENDAR_DAYS_MAX)
    throw new Problem('bad_request', `from must not be after to, and at most ${CALENDAR_DAYS_MAX} days before it`, { field: 'from' })
  return whole(tradingDays(market, group, from, to), fault)
}
