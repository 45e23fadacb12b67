/** The reason why a recorded file cannot be used. */
export const BAD_DATA_REASONS = [
  'missing',
  'zip_damaged',
  'zip_too_big',
  'entry_missing',
  'line_too_long',
  'columns',
  'number',
  'inconsistent',
  'unsorted'
] as const
export type BadDataReason = (typeof BAD_DATA_REASONS)[number]

/** Recorded data violates its format. `line` counts from 1; null if the fault is not in a single line. */
export class BadMarketData extends Error {
  override readonly name = 'BadMarketData'
  readonly file: string
  readonly line: number | null
  readonly reason: BadDataReason

  constructor(reason: BadDataReason, at: { readonly file: string; readonly line?: number }, detail: string, cause?: unknown) {
    super(`${at.file}${at.line === undefined ? '' : `, line ${at.line}`}: ${detail}`, cause === undefined ? undefined : { cause })
    this.file = at.file
    this.line = at.line ?? null
    this.reason = reason
  }
}
