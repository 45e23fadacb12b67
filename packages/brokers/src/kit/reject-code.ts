/** The reject code of a broker's message, where the broker has no code or an ambiguous one. Pure. */

import type { RejectCode } from '@trunkline/core/domain/vocabulary'

/** Patterns in order: the first match decides. */
export type RejectPatterns = readonly (readonly [pattern: RegExp, code: RejectCode])[]

/** `other` when no pattern matches: an uncertain reason is not guessed. */
export function rejectCodeOf(reason: string, patterns: RejectPatterns): RejectCode {
  return patterns.find(([pattern]) => pattern.test(reason))?.[1] ?? 'other'
}
