// The header with the freshness of each account in a read, as a structured field list (RFC 9651).
import type { Freshness, FreshnessState } from '@trunkline/core/domain/freshness'
import Type from 'typebox'
import { WithHeaders } from './headed.ts'

const FRESHNESS_HEADER = 'trunkline-freshness'

/** Proxies refuse responses with more than a few kilobytes of headers. */
const MEMBERS_MAX = 30

/** Worst first, so that an account that is left out is never worse than one that is shown. */
const WORST_FIRST: readonly FreshnessState[] = ['unavailable', 'stale', 'unsupported', 'fresh', 'live']

/** The header as the reference documents it, for reads of records. */
export const FRESHNESS = {
  [FRESHNESS_HEADER]: {
    description: `How fresh the records of each account in scope are, including accounts without records. A structured field list (RFC 9651). Each member is an account id with these parameters. \`confirmed\`: when the broker last confirmed these records; absent if never. Of balances, positions and transactions that is the last time all of them could be read (see \`records_left_out\` of the connection). \`state\`: \`live\` (followed without a gap), \`fresh\` (confirmed for this read or just before), \`stale\` (the last known records), \`unsupported\` (the broker has no such records) or \`unavailable\` (nothing was ever read). \`reason\`, with \`stale\` and \`unavailable\`: \`broker_unavailable\`, \`connection_broken\` or \`not_stored\` (the broker answered, but the service’s database takes no writes). With more than ${MEMBERS_MAX} accounts, the ${MEMBERS_MAX} worst are listed, and a last member \`*\` gives the number of the others (\`more\`) and the worst state among them. The header is absent if there are no accounts.`,
    schema: Type.String({
      examples: [
        '"0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71";confirmed="2026-11-21T14:30:00.123456Z";state=live, "0198f0c2-7d2f-7a21-9c4b-3e7a6dadf5b2";state=unavailable;reason=connection_broken'
      ]
    })
  }
}

export function withFreshness<Body>(
  body: Body,
  freshness: readonly Freshness[],
  more: Readonly<Record<string, string>> = {}
): WithHeaders<Body> {
  const value = freshnessHeader(freshness)
  return new WithHeaders(body, value === null ? more : { ...more, [FRESHNESS_HEADER]: value })
}

/** Null for no accounts: an empty structured field list is written by leaving the header out (RFC 9651). */
export function freshnessHeader(freshness: readonly Freshness[]): string | null {
  if (freshness.length === 0) return null
  if (freshness.length <= MEMBERS_MAX) return freshness.map(member).join(', ')
  const sorted = freshness.toSorted((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state))
  const [firstLeftOut] = sorted.slice(MEMBERS_MAX)
  const rest = `*;more=${freshness.length - MEMBERS_MAX};state=${firstLeftOut?.state ?? 'live'}`
  return [...sorted.slice(0, MEMBERS_MAX).map(member), rest].join(', ')
}

function member({ accountId, confirmed, state, reason }: Freshness): string {
  const at = confirmed === null ? '' : `;confirmed="${confirmed}"`
  return `"${accountId}"${at};state=${state}${reason === null ? '' : `;reason=${reason}`}`
}
