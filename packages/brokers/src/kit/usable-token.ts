/** The access token for a new stream connection. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import { StreamFault } from './stream-fault.ts'
import type { TokenSource } from './tokens.ts'

/**
 * `refused` is the token that the last connection was refused with: it is checked first.
 * @throws BrokerFault credentials_rejected; StreamFault for transient failures.
 */
export async function usableToken(tokens: TokenSource, signal: AbortSignal, refused: string | null = null): Promise<string> {
  try {
    return refused === null ? (tokens.fresh() ?? (await tokens.current(signal))) : await tokens.replacement(refused, signal)
  } catch (cause) {
    if (cause instanceof BrokerFault && cause.kind === 'credentials_rejected') throw cause
    throw new StreamFault('token', 'no access token was obtained', cause)
  }
}
