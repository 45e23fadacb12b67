export interface BackoffLimits {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * The pause after `failures` failures in a row (from 1), in milliseconds. It doubles each time and is drawn from the upper half, so that
 * many callers that fail together do not return together.
 */
export function backoffMs({ firstMs, longestMs }: BackoffLimits, failures: number, fraction: number): number {
  return (Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30)) * (1 + fraction)) / 2
}
