// Where the steps of an order stand on a common scale. Only recorded times are used: between two of them nothing is assumed.
import { durationText, microsecondsOf, wholeMicroseconds } from './format.ts'

/** A step as the waterfall needs it. */
export interface TimedStep {
  /** Null: it was not recorded. */
  readonly at: string | null
  /** How long the step took, where that was recorded. */
  readonly took_ms?: number | null
}

export interface Place {
  /** From 0 (the earliest recorded time) to 1 (the latest); null without a time. */
  readonly start: number | null
  /** Where the step before it that has a time stands: the time between them is drawn as a line. */
  readonly from: number | null
  /** The end of a step with a recorded duration, on the same scale; otherwise null: the step is an instant. */
  readonly end: number | null
  /** After the earliest recorded time; null without a time. */
  readonly offset: string | null
  /** After the step before it that has a time; negative if the times run backwards. Null without one of the two times. */
  readonly sincePrevious: string | null
}

export interface Waterfall {
  /** In the order of the steps. */
  readonly places: readonly Place[]
  /** `logarithmic` when neighbours would stand at one place on a linear scale. The page names it. */
  readonly scale: 'linear' | 'logarithmic'
  /** From the earliest to the latest recorded time; null if fewer than two are known. */
  readonly total: string | null
  /** Times that run backwards: of nodes and brokers whose clocks differ. They are shown as recorded. */
  readonly isOutOfOrder: boolean
}

/** A gap below this share of the whole is too narrow to see. */
const SHARE_MIN = 0.01
const NO_PLACE: Place = { start: null, from: null, end: null, offset: null, sincePrevious: null }

/** Places of steps, in the order in which they were given. */
export function waterfallOf(steps: readonly TimedStep[]): Waterfall {
  const times = steps.map(({ at }) => (at === null ? null : microsecondsOf(at)))
  const ends = steps.map(({ took_ms: took }, index) => endOf(times[index] ?? null, took ?? null))
  const known = [...times, ...ends].filter(time => time !== null).sort(byValue)
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined) {
    return { places: steps.map(() => NO_PLACE), scale: 'linear', total: null, isOutOfOrder: false }
  }
  const span = last - first
  const scale = isCrowded(known, span) ? 'logarithmic' : 'linear'
  const on = (time: bigint | null) => (time === null ? null : position(Number(time - first), Number(span), scale))
  let previous: bigint | null = null
  let isOutOfOrder = false
  const places = times.map((time, index): Place => {
    if (time === null) return NO_PLACE
    const since = previous === null ? null : time - previous
    if (since !== null && since < 0n) isOutOfOrder = true
    const from = on(previous)
    previous = time
    return {
      ...{ start: on(time), from, end: on(ends[index] ?? null), offset: `+${durationText(time - first)}` },
      sincePrevious: since === null ? null : `${since < 0n ? '' : '+'}${durationText(since)}`
    }
  })
  const isSpan = known.length > 1
  return { places, scale, total: isSpan ? durationText(span) : null, isOutOfOrder }
}

function endOf(start: bigint | null, tookMs: number | null): bigint | null {
  const took = tookMs === null ? null : wholeMicroseconds(tookMs)
  return start === null || took === null || took < 0n ? null : start + took
}

function isCrowded(sorted: readonly bigint[], span: bigint): boolean {
  const gaps = sorted.slice(1).map((time, index) => time - (sorted[index] ?? time))
  return gaps.some(gap => gap > 0n && Number(gap) < Number(span) * SHARE_MIN)
}

/** On the logarithmic scale, the unit is a millisecond: below it, the times of different clocks cannot be compared. */
function position(microseconds: number, span: number, scale: Waterfall['scale']): number {
  if (span === 0) return 0
  return scale === 'linear' ? microseconds / span : Math.log1p(microseconds / 1000) / Math.log1p(span / 1000)
}

function byValue(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0
}
