export interface BackoffLimits {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * How long to pause after `failures` failures in a row (from 1), in milliseconds: twice as long each time, drawn from the upper half of that, so
 * that many who fail together do not return together.
 */
export function backoffMs({ firstMs, longestMs }: BackoffLimits, failures: number, fraction: number): number {
  return (Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30)) * (1 + fraction)) / 2
}
