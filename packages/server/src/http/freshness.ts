// The header with the freshness of every account of a read: a list in structured fields (RFC 9651).
import type { Freshness, FreshnessState } from '@trunkline/core/domain/freshness'
import Type from 'typebox'
import { WithHeaders } from './headed.ts'

export const FRESHNESS_HEADER = 'trunkline-freshness'

/** Proxies refuse answers with more than some kilobytes of headers. */
const MEMBERS_MAX = 30

/** What matters most comes first, so that what is left out is never worse than what is shown. */
const WORST_FIRST: readonly FreshnessState[] = ['unavailable', 'stale', 'unsupported', 'fresh', 'live']

export const FRESHNESS_DOC = {
  description: `How fresh the records of each account in scope are, also of accounts without any: a list in structured fields (RFC 9651). A member is the account id, with \`confirmed\` (when the broker last confirmed these records; left out: never), \`state\`: \`live\` (followed without a gap), \`fresh\` (confirmed for this read or just before), \`stale\` (the last known ones), \`unsupported\` (the broker has no such records) or \`unavailable\` (nothing was ever read), and, with \`stale\` and \`unavailable\`, \`reason\`: \`broker_unavailable\`, \`connection_broken\` or \`not_stored\` (the broker answered, and the service’s database takes no writes). Of more than ${MEMBERS_MAX} accounts the worst ${MEMBERS_MAX} are named, and a last member \`*\` says how many others there are (\`more\`) and the worst state among them. Left out without accounts.`,
  schema: Type.String({
    examples: [
      '"0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71";confirmed="2026-11-21T14:30:00.123456Z";state=live, "0198f0c2-7d2f-7a21-9c4b-3e7a6dadf5b2";state=unavailable;reason=connection_broken'
    ]
  })
}

/** The answer with its freshness. */
export function withFreshness<Body>(
  body: Body,
  freshness: readonly Freshness[],
  more: Readonly<Record<string, string>> = {}
): WithHeaders<Body> {
  const value = freshnessHeader(freshness)
  return new WithHeaders(body, value === null ? more : { ...more, [FRESHNESS_HEADER]: value })
}

/** Null for no accounts: an empty list in structured fields is no header. */
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
