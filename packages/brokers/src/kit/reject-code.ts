/** The reject code of a broker's message, where the broker has no code or an ambiguous one. Pure. */

import { REJECT_CODES, type RejectCode } from '@trunkline/core/domain/vocabulary'

/**
 * Words of a failure behind a broker's API. Whether an order reached the market is unknown then, whatever status and code the answer has.
 */
export const INTERNAL_FAILURE =
  /time[ds]?[ -]?out|unavailable|internal|server error|(?:unknown|unexpected) error|error (?:has )?occurred|went wrong|try again|no response|communicat/i

/** Patterns in order: the first match decides. */
export type RejectPatterns = readonly (readonly [pattern: RegExp, code: RejectCode])[]

/** `other` when no pattern matches: an uncertain reason is not guessed. */
export function rejectCodeOf(reason: string, patterns: RejectPatterns): RejectCode {
  return patterns.find(([pattern]) => pattern.test(reason))?.[1] ?? 'other'
}

/**
 * The reject code of a message that has one of the broker's own error codes in it, or else by its wording. `codes` has the broker's codes
 * by ours, separated by white space.
 */
export function rejectCodes(codes: { readonly [code in RejectCode]?: string }, patterns: RejectPatterns): (message: string) => RejectCode {
  const known = new Map<string, RejectCode>()
  for (const code of REJECT_CODES) for (const name of codes[code]?.split(/\s+/) ?? []) known.set(name, code)
  return message => {
    for (const [candidate] of message.matchAll(/[A-Za-z]\w{4,63}/g)) {
      const code = known.get(candidate)
      if (code !== undefined) return code
    }
    return rejectCodeOf(message, patterns)
  }
}
