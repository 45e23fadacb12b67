// How values are shown. What would mislead an operator is decided here: null is never shown as zero, and no amount is calculated with.
import type { WebhookLag } from './generated/admin.ts'

/** Shown for null. Where null has a meaning of its own, the page names that instead. */
export const UNKNOWN = 'unknown'

/** A value of a record as text. Decimals arrive as text and stay as they are, with all their digits. */
export function shown(value: unknown, nullMeans: string = UNKNOWN): string {
  if (value === null || value === undefined) return nullMeans
  if (typeof value === 'string') return value === '' ? '(empty)' : value
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  return JSON.stringify(value)
}

/** A count with its thousands separated: `12345` becomes `12,345`. Only for counts of the service, never for amounts. */
export function counted(count: number | null | undefined): string {
  return count === null || count === undefined ? UNKNOWN : COUNT.format(count)
}

/** What an endpoint would be sent now. Counting ends at a bound, and what lies beyond is said. */
export function lagText({ updates, users, is_lower_bound: isLowerBound }: WebhookLag): string {
  if (updates === 0 && !isLowerBound) return 'none'
  const of = `${counted(updates)} ${updates === 1 ? 'update' : 'updates'} of ${counted(users)} ${users === 1 ? 'user' : 'users'}`
  return isLowerBound ? `at least ${of}` : of
}

/**
 * The parts of a long id or name between which a line may end: a UUID in three, others at hyphens before letters, and what is long then
 * after every sixteen characters. Amounts are not given to it: a broken one can be read as another.
 */
export function partsOf(text: string): readonly string[] {
  if (text.length <= WORD_MAX) return [text]
  return text
    .split(WITHIN_UUID)
    .flatMap(part => (part.length <= WORD_MAX ? [part] : part.split(/(?<=-)(?=[a-z])|(?<= )/i)))
    .flatMap(word => (word.length <= WORD_MAX ? [word] : (word.match(/.{1,16}/gsu) ?? [])))
}

const WORD_MAX = 20
/** Before the third and the fifth group, and between a kind and its id. */
const WITHIN_UUID =
  /(?<=\b[0-9a-f]{8}-[0-9a-f]{4}-)(?=[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)|(?<=\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-)(?=[0-9a-f]{12}\b)|(?<=:)(?=[0-9a-f]{8}-)/
const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/

/** Microseconds since the epoch, exact; null for what is no timestamp. */
export function microsecondsOf(timestamp: string): bigint | null {
  const [, seconds, fraction = '', zone = ''] = TIMESTAMP.exec(timestamp) ?? []
  if (seconds === undefined) return null
  const whole = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(whole) ? null : BigInt(whole) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6))
}

/**
 * A timestamp in a time zone, to the second: `2026-11-27 14:03:21`. The fraction is left out, not rounded, so that no later second is
 * shown than was recorded. A time that occurs twice, when clocks go back, has its offset from UTC: `2026-11-01 01:30:00 -04:00`.
 * Text that is no timestamp is shown as it is.
 */
export function localTime(timestamp: string, timeZone: string): string {
  const microseconds = microsecondsOf(timestamp)
  if (microseconds === null) return timestamp
  const at = Number(floorDivided(microseconds, 1000n))
  const { text, offsetMs } = wallTime(at, timeZone)
  return occursTwice(at, offsetMs, timeZone) ? `${text} ${offsetText(offsetMs)}` : text
}

interface WallTime {
  readonly text: string
  /** What the zone's clocks are ahead of UTC. */
  readonly offsetMs: number
}

function wallTime(at: number, timeZone: string): WallTime {
  const parts = new Map(
    clockOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value])
  )
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? ''
  const [date, time] = [`${part('year')}-${part('month')}-${part('day')}`, `${part('hour')}:${part('minute')}:${part('second')}`]
  return { text: `${date} ${time}`, offsetMs: Date.parse(`${date}T${time}Z`) - Math.floor(at / 1000) * 1000 }
}

/** No zone changes its clocks twice within this time, nor by more than it. */
const CHANGE_MS = 24 * 3_600_000

/** Whether the clocks of the zone show this time at another instant too: by the offset of before or after a change. */
function occursTwice(at: number, offsetMs: number, timeZone: string): boolean {
  return [at - CHANGE_MS, at + CHANGE_MS].some(neighbour => {
    const other = wallTime(neighbour, timeZone).offsetMs
    return other !== offsetMs && wallTime(at + offsetMs - other, timeZone).offsetMs === other
  })
}

function offsetText(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map(each => String(each).padStart(2, '0'))
  return `${offsetMs < 0 ? '-' : '+'}${hours}:${rest}`
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known !== undefined) return known
  const clock = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' }
  })
  clocks.set(timeZone, clock)
  return clock
}

const UNITS: readonly (readonly [microseconds: bigint, name: string])[] = [
  [86_400_000_000n, 'd'],
  [3_600_000_000n, 'h'],
  [60_000_000n, 'min'],
  [1_000_000n, 's'],
  [1_000n, 'ms']
]

/** A duration with at most three digits after its unit's point, cut and not rounded: `1.204 s`, `350 µs`, `-2 ms`. */
export function durationText(microseconds: bigint): string {
  const [sign, length] = microseconds < 0n ? ['-', -microseconds] : ['', microseconds]
  const [size, name] = UNITS.find(([each]) => length >= each) ?? [1n, 'µs']
  const thousandths = ((length % size) * 1000n) / size
  const fraction = thousandths === 0n ? '' : `.${String(thousandths).padStart(3, '0').replace(/0+$/, '')}`
  return `${sign}${length / size}${fraction} ${name}`
}

/** A duration in milliseconds as the service measured it, cut to the microsecond: `92.212 ms`. */
export function tookText(milliseconds: number): string {
  const microseconds = wholeMicroseconds(milliseconds)
  return microseconds === null ? UNKNOWN : durationText(microseconds)
}

/** Measured milliseconds in whole microseconds, cut; null for what is no number. */
export function wholeMicroseconds(milliseconds: number): bigint | null {
  if (!Number.isFinite(milliseconds)) return null
  // The product of 2.01 and 1000 is a little below 2010. Its neighbours, divided again, are rounded as 2.01 itself is.
  const near = Math.floor(milliseconds * 1000)
  const whole = [near + 1, near].find(each => each / 1000 <= milliseconds) ?? near - 1
  return BigInt(whole)
}

function floorDivided(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value % by < 0n ? quotient - 1n : quotient
}
