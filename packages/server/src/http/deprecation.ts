/** How an operation that is to go says so, in each of its answers: `deprecation` (RFC 9745), `sunset` (RFC 8594) and a link. */

/** What the guide `versions` promises. */
const DAYS_LEAST = 365
const DAY_MS = 86_400_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** An operation that is to go. Days as `YYYY-MM-DD`; they begin at midnight UTC. */
export interface Deprecation {
  readonly since: string
  /** It is served until then at least, a year after `since` or later. */
  readonly until: string
  /** What replaces it, as a sentence for the reference. */
  readonly instead: string
}

/**
 * The headers of all answers of the operation, refusals among them.
 * @throws RangeError for what is no day, or sooner than promised
 */
export function deprecationHeaders(
  { since, until }: Deprecation,
  operationId: string,
  publicUrl: string
): Readonly<Record<'deprecation' | 'sunset' | 'link', string>> {
  const [sinceMs, untilMs] = [since, until].map(day => (DAY.test(day) ? Date.parse(day) : Number.NaN))
  if (sinceMs === undefined || untilMs === undefined || !(untilMs - sinceMs >= DAYS_LEAST * DAY_MS))
    throw new RangeError(`${operationId} must be served for ${DAYS_LEAST} days after it is deprecated, not from ${since} until ${until}`)
  return {
    deprecation: `@${sinceMs / 1_000}`,
    sunset: new Date(untilMs).toUTCString(),
    link: `<${publicUrl}/docs#${operationId}>; rel="deprecation"; type="text/html"`
  }
}
