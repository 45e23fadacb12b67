// Whether a series of samples is flat. The rule is printed with every verdict, so that the meaning of "flat" is clear.

export interface Sample {
  readonly atMs: number
  readonly value: number
}

export interface Trend {
  /** The rise of the fitted line over the second half of the time. */
  readonly rise: number
  /** The allowed rise. */
  readonly allowed: number
  readonly isFlat: boolean
}

/** Fewer samples than this in the second half prove nothing. */
export const SAMPLES_MIN = 5

/**
 * The rise over the second half, by the median of the slopes between all pairs of its samples: a few outliers (a late collection,
 * a burst) do not affect it. @param shareAllowed of the median level. @param slack additional, in the unit of the values.
 * @throws RangeError if there are too few samples.
 */
export function trendOf(samples: readonly Sample[], shareAllowed: number, slack: number): Trend {
  const half = secondHalf(samples)
  const [first, last] = [half[0], half.at(-1)]
  if (first === undefined || last === undefined || half.length < SAMPLES_MIN)
    throw new RangeError(`a trend needs at least ${2 * SAMPLES_MIN} samples, found ${samples.length}`)
  const slopes = half.flatMap((a, index) => half.slice(index + 1).map(b => (b.value - a.value) / (b.atMs - a.atMs)))
  const rise = median(slopes) * (last.atMs - first.atMs)
  const allowed = shareAllowed * median(half.map(({ value }) => value)) + slack
  return { rise, allowed, isFlat: rise <= allowed }
}

/** By time, not by count. */
export function secondHalf(samples: readonly Sample[]): readonly Sample[] {
  const middle = middleOf(samples)
  return samples.filter(({ atMs }) => atMs >= middle)
}

/** The result of {@link secondHalf}. */
export function firstHalf(samples: readonly Sample[]): readonly Sample[] {
  const middle = middleOf(samples)
  return samples.filter(({ atMs }) => atMs < middle)
}

function middleOf(samples: readonly Sample[]): number {
  return ((samples[0]?.atMs ?? 0) + (samples.at(-1)?.atMs ?? 0)) / 2
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN]
  return sorted.length % 2 === 0 ? (low + high) / 2 : high
}
