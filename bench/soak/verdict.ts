import type { Reading } from './sampler.ts'
import { firstHalf, type Sample, secondHalf, type Trend, trendOf } from './trend.ts'

const MEGABYTE = 1024 * 1024
/** The service keeps this many of the newest orders in memory; until it has them, it may grow with each. */
const CACHED_ORDERS = 20_000
const BYTES_PER_ORDER = 6 * 1024
/**
 * The embedded database, in the same process, caches the pages of an order, its events and its audit entries, up to the size of its
 * buffers.
 */
const RESIDENT_BYTES_PER_ORDER = 20 * 1024

const DESCRIPTORS = 4
/**
 * Streams that are all reopened at once read in parallel, and leave as many idle connections to the broker for a while. A soak that
 * is no longer than that cannot distinguish them from a leak.
 */
const DESCRIPTORS_IDLE = 40
const WHILE_MS = 300_000

/** The allowed rise of each series over the second half: a share of its level, a constant, and the memory of new orders. */
const RULES = [
  {
    what: 'memory in use, garbage collected',
    unit: 'MB',
    share: 0.02,
    slack: 2 * MEGABYTE,
    perOrder: BYTES_PER_ORDER,
    comesBack: false,
    scale: MEGABYTE,
    of: (reading: Reading) => reading.heldBytes
  },
  {
    what: 'resident memory',
    unit: 'MB',
    share: 0.05,
    slack: 8 * MEGABYTE,
    perOrder: RESIDENT_BYTES_PER_ORDER,
    comesBack: false,
    scale: MEGABYTE,
    of: (reading: Reading) => reading.rssBytes
  },
  {
    what: 'open descriptors',
    unit: '',
    share: 0.05,
    slack: DESCRIPTORS,
    perOrder: 0,
    // Dropped streams are reopened: a return to the earlier level is not a leak.
    comesBack: true,
    scale: 1,
    of: (reading: Reading) => reading.descriptors
  }
] as const

export interface Verdict {
  readonly lines: readonly string[]
  readonly isFlat: boolean
}

/** Judges the readings of a soak. @throws RangeError if there are too few. */
export function verdictOf(readings: readonly Reading[]): Verdict {
  const orders = secondHalf(readings.map(({ atMs, orders }) => ({ atMs, value: orders }))).map(({ value }) =>
    Math.min(value, CACHED_ORDERS)
  )
  const added = (orders.at(-1) ?? 0) - (orders[0] ?? 0)
  const lastedMs = (readings.at(-1)?.atMs ?? 0) - (readings[0]?.atMs ?? 0)
  const descriptors = lastedMs < WHILE_MS ? DESCRIPTORS_IDLE : DESCRIPTORS
  const judged = RULES.map(({ what, unit, share, slack, perOrder, comesBack, scale, of }) => {
    const samples = readings.map(reading => ({ atMs: reading.atMs, value: of(reading) }))
    const trend = trendOf(samples, share, (comesBack ? descriptors : slack) + perOrder * added)
    const isFlat = trend.isFlat || (comesBack && isNoHigher(samples, trend))
    const amount = (value: number) => `${(value / scale).toFixed(1)} ${unit}`.trim()
    const verdict = trend.isFlat ? 'flat' : isFlat ? 'flat: it was as high before' : 'NOT FLAT'
    return {
      isFlat,
      line: `  ${what.padEnd(34)} rose by ${amount(trend.rise).padStart(9)}, may rise by ${amount(trend.allowed).padStart(9)}   ${verdict}`
    }
  })
  return {
    lines: [
      'Over the second half, by the median slope between all pairs of readings:',
      ...judged.map(({ line }) => line),
      `  (2 % of memory in use and 2 MB, 5 % of resident memory and 8 MB, 5 % of descriptors and ${descriptors}; and for each of the ${added} orders`,
      `  new among the ${CACHED_ORDERS} that a service keeps in memory, 6 KB and 20 KB.)`
    ],
    isFlat: judged.every(({ isFlat }) => isFlat)
  }
}

/** Whether the second half exceeds the maximum of the first by no more than the allowed rise. */
function isNoHigher(samples: readonly Sample[], { allowed }: Trend): boolean {
  const highest = (half: readonly Sample[]) => Math.max(...half.map(({ value }) => value))
  return highest(secondHalf(samples)) <= highest(firstHalf(samples)) + allowed
}
