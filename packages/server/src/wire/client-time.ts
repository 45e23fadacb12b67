import { Malformed } from '@trunkline/core/domain/malformed'
import { type Timestamp, timestampOf } from '@trunkline/core/domain/timestamp'

/** The time format for clients and operators: in REST, on both streams and on the command line. */
export const TIME_PROFILE = 'an RFC 3339 date-time with seconds and an offset, such as 2026-11-21T14:30:00Z or 2026-11-21T09:30:00.25-05:00'

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** Parses a time from a client or an operator. Broker adapters parse their own formats. @throws Malformed naming `what`. */
export function parseClientTime(text: unknown, what: string): Timestamp {
  if (typeof text === 'string' && RFC_3339.test(text)) {
    try {
      return timestampOf(Temporal.Instant.from(text.toUpperCase()))
    } catch {
      // A date that does not exist (February 30) is malformed, too.
    }
  }
  throw new Malformed(what, TIME_PROFILE, text)
}
