/** Bar intervals: `1m`, `4h`, `1d`, `1w`, `1M`, `1y`. */
import { Malformed } from '../malformed.ts'

export type IntervalUnit = 'minute' | 'day' | 'week' | 'month' | 'year'

/** The length of a bar. Hours are stored as minutes: `4h` and `240m` are the same interval. */
export interface Interval {
  readonly unit: IntervalUnit
  readonly count: number
}

const TEXT = /^([1-9]\d{0,3})([mhdwMy])$/
const EXPECTED = 'a number and a unit: 1m to 1440m, 1h to 24h, 1d to 365d, 1w to 52w, 1M to 12M or 1y'

// At most a year in all. Minutes and hours: at most a day, because such bars never extend beyond a session's day.
const UNITS: Readonly<Record<string, { readonly unit: IntervalUnit; readonly times: number; readonly most: number }>> = {
  m: { unit: 'minute', times: 1, most: 1_440 },
  h: { unit: 'minute', times: 60, most: 24 },
  d: { unit: 'day', times: 1, most: 365 },
  w: { unit: 'week', times: 1, most: 52 },
  M: { unit: 'month', times: 1, most: 12 },
  y: { unit: 'year', times: 1, most: 1 }
}

const LETTERS = { minute: 'm', day: 'd', week: 'w', month: 'M', year: 'y' } as const satisfies Record<IntervalUnit, string>

/**
 * Parses an interval. Case matters: `1m` is a minute, `1M` a month.
 * @throws Malformed unless it is a positive whole number without leading zeros and a unit, within bounds: 1 to 1440 minutes, 1 to 24 hours,
 * 1 to 365 days, 1 to 52 weeks, 1 to 12 months, 1 year
 */
export function parseInterval(text: unknown): Interval {
  const [, digits = '', letter = ''] = (typeof text === 'string' ? TEXT.exec(text) : null) ?? []
  const rule = UNITS[letter]
  const count = Number(digits)
  if (rule === undefined || count > rule.most) throw new Malformed('interval', EXPECTED, text)
  return { unit: rule.unit, count: count * rule.times }
}

/** The canonical text of an interval: `4h` → `240m`. Equal intervals have equal texts. */
export function canonicalInterval({ unit, count }: Interval): string {
  return `${count}${LETTERS[unit]}`
}

/** Minutes. Sessions of the exchanges open and close on the hour or half hour wherever another session adjoins. */
export const EXCHANGE_GRID_MINUTES = 30

/**
 * Whether bars of `interval` can be aggregated from `base` bars without cutting one: every bar begins and ends where a base bar does.
 *
 * Base bars of minutes may be aligned to the clock, as most brokers do, or to the session's open. `gridMinutes`: the session's opens and
 * inner ends are multiples of this, counted from midnight; see `gridMinutes` of a clock ({@link EXCHANGE_GRID_MINUTES} for exchanges). Base
 * bars of days and longer must be of the same session as the requested bars, which the caller has to ensure.
 */
export function fits(base: Interval, interval: Interval, gridMinutes: number = EXCHANGE_GRID_MINUTES): boolean {
  if (base.unit === 'minute') {
    if (gridMinutes % base.count !== 0) return false
    return interval.unit !== 'minute' || interval.count % base.count === 0
  }
  if (base.unit === interval.unit && base.count === interval.count) return true
  if (base.unit === 'year' || interval.unit === 'minute') return false
  // Only single days and weeks line up with longer intervals: multiples are counted from their own anchors.
  if (base.unit === 'day') return base.count === 1
  if (base.unit === 'week') return interval.unit === 'week' && interval.count % base.count === 0
  if (interval.unit === 'month') return interval.count % base.count === 0
  return interval.unit === 'year'
}
