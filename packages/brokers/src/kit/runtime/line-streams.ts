/** Streams of lines over HTTP that are opened with the access token, and what an answer that is no stream means. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { HttpReply } from '../http.ts'
import type { LineStream } from '../line-transport.ts'
import type { Closing, StreamProtocol } from '../stream-protocol.ts'
import { type TokenSource, usableToken } from '../tokens.ts'

/** A full quota is waited for no longer than this before it is tried again. */
const PAUSE_MS_MAX = 60_000
const PAUSE_MS_DEFAULT = 5_000

export interface LineStreamsDefinition extends LineStream {
  /** URL of the API; its path precedes the path of every stream. */
  readonly apiUrl: string
  /** The header `Accept`. */
  readonly accept: string
  readonly unauthorized: (answer: HttpReply) => boolean
  /** The pause that an answer of 429 asks for; null: none. */
  readonly requestedPauseMs: (answer: HttpReply) => number | null
}

/** How one stream is requested, and what other answers mean. */
export type LineAddress = Pick<StreamProtocol<never>, 'url' | 'headers' | 'lines' | 'hello'> & {
  readonly refused: (answer: HttpReply) => Closing | null
}

/** @throws BrokerFault credentials_rejected; StreamFault for whatever passes. */
export async function lineAddress(
  { apiUrl, accept, mediaType, unauthorized, requestedPauseMs }: LineStreamsDefinition,
  path: string,
  { tokens, clock }: { readonly tokens: TokenSource; readonly clock: Clock },
  signal: AbortSignal
): Promise<LineAddress> {
  const token = await usableToken(tokens, signal)
  return {
    url: `${apiUrl}${path}`,
    headers: { authorization: `Bearer ${token}`, accept },
    lines: { mediaType },
    hello: [],
    refused(answer) {
      if (unauthorized(answer)) return { cause: 'token', recover: async own => void (await tokens.replacement(token, own)) }
      if (answer.status !== 429) return null
      const ms = Math.min(requestedPauseMs(answer) ?? PAUSE_MS_DEFAULT, PAUSE_MS_MAX)
      return { cause: 'refused', recover: own => clock.sleep(ms, own) }
    }
  }
}
