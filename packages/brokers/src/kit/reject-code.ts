/** What a broker's reason for a rejection comes to, where it has no code for it, or codes that mean several things. Pure. */

import type { RejectCode } from '@trunkline/core/domain/vocabulary'

/** The first pattern that the reason matches decides. */
export type RejectPatterns = readonly (readonly [pattern: RegExp, code: RejectCode])[]

/** `other` for a reason that no pattern matches: what is not known for sure is not guessed. */
export function rejectCodeOf(reason: string, patterns: RejectPatterns): RejectCode {
  return patterns.find(([pattern]) => pattern.test(reason))?.[1] ?? 'other'
}
