/** Why a connection to a broker's account stream ended, or never began. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'

export class StreamFault extends Error {
  override readonly name = 'StreamFault'
  readonly gap: GapCause

  constructor(gap: GapCause, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.gap = gap
  }
}

/** As {@link gapOf}, for what is read: a login that was refused is `token`. */
export function lossOf(error: unknown): { readonly cause: GapCause; readonly reason: string } {
  const gap = gapOf(error)
  return error instanceof BrokerFault && error.kind === 'credentials_rejected' ? { ...gap, cause: 'token' } : gap
}

/** The cause and a message for the error that ended it. An unclassified error is a lost connection. */
export function gapOf(error: unknown): { readonly cause: GapCause; readonly reason: string } {
  if (error instanceof StreamFault) return { cause: error.gap, reason: error.message }
  const reason = error instanceof Error ? error.message : 'the stream failed'
  if (error instanceof BrokerFault && error.kind !== 'unreachable')
    return { cause: error.kind === 'malformed' ? 'malformed' : 'refused', reason }
  return { cause: 'lost', reason }
}
