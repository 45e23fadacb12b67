/** Statistics of a series of latencies, in milliseconds. */
export interface Spread {
  readonly count: number
  readonly median: number
  readonly p99: number
  readonly max: number
}

export function spreadOf(milliseconds: readonly number[]): Spread {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { count: sorted.length, median: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? Number.NaN }
}

export function median(values: readonly number[]): number {
  return spreadOf(values).median
}

/** One line of the report: a figure, the project's target if there is one, and whether it was reached. */
export function line(what: string, found: string, target: string, reached: boolean | null): string {
  const verdict = reached === null ? '' : reached ? 'reached' : 'MISSED'
  return `  ${what.padEnd(58)} ${found.padStart(24)}   ${target.padEnd(26)} ${verdict}`.trimEnd()
}
