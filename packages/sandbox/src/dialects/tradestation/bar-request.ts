/** Reads a request for bars, with TradeStation's bounds. */

import { type Micros, microsOf } from '../frame/brokerage.ts'
import { type Interval, TEMPLATES, type Template, UNITS } from './bar-frames.ts'
import { bad, countOr } from './reading.ts'

export interface BarRequest {
  readonly interval: Interval
  /** How many back, or from when on. */
  readonly barsBack: number | null
  readonly from: Micros
  readonly to: Micros
}

const INTERVAL_MAX = 1_440
const BARS_MAX = 57_600
const MINUTES_MAX = 500_000
const YEARS_MAX = 3

/** @throws Problem `bad_request` */
export function requestedBars(query: Readonly<Record<string, string>>, now: Micros): BarRequest {
  const unit =
    UNITS.find(candidate => candidate.toLowerCase() === (query.unit ?? 'Daily').toLowerCase()) ??
    bad(`unit must be one of ${UNITS.join(', ')}`)
  const size = countOr(query.interval, 'interval', 1, INTERVAL_MAX) ?? 1
  if (unit !== 'Minute' && size !== 1) bad('Interval must be 1 for non-minute bars')
  const interval = { unit, size, template: templateOf(query.sessiontemplate) }
  const back = countOr(query.barsback, 'barsback', 1, BARS_MAX)
  if (back !== null && query.firstdate !== undefined) bad('barsback and firstdate parameters are mutually exclusive')
  const to = timeOf(query.lastdate ?? query.startdate, 'lastdate') ?? now
  const from = timeOf(query.firstdate, 'firstdate')
  if (back !== null && unit === 'Minute' && back * size > MINUTES_MAX) bad(`barsback times interval must not exceed ${MINUTES_MAX}`)
  if (from !== null && to - from > YEARS_MAX * 366 * 86_400_000_000) bad(`A date range cannot exceed ${YEARS_MAX} years`)
  return { interval, barsBack: from === null ? (back ?? 1) : null, from: from ?? 0, to }
}

/** Bars of one answer. */
export function mostOf({ barsBack, interval }: BarRequest): number {
  return barsBack ?? (interval.unit === 'Minute' ? BARS_MAX : Number.MAX_SAFE_INTEGER)
}

function templateOf(text: string | undefined): Template {
  const known = Object.keys(TEMPLATES) as Template[]
  if (text === undefined || text === '') return 'Default'
  return known.find(name => name.toLowerCase() === text.toLowerCase()) ?? bad(`sessiontemplate must be one of ${known.join(', ')}`)
}

/** A date is its midnight in UTC. */
function timeOf(text: string | undefined, name: string): Micros | null {
  if (text === undefined || text === '') return null
  return microsOf(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text) ?? bad(`${name} must be a date or an RFC 3339 time`)
}
