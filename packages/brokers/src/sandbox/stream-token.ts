/** The access token of one of the house's streams: had before it begins, renewed while it runs. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Closing, Connection } from '../kit/stream-protocol.ts'
import type { TokenSource } from '../kit/tokens.ts'
import { usableToken } from '../kit/usable-token.ts'

/** The house gives a stream a minute after its token has ended; asking this often finds the new one well before. */
const CHECK_MS_MAX = 15_000
const CHECK_MS_LEAST = 1_000

export class StreamToken {
  readonly #tokens: TokenSource
  #text: string

  private constructor(tokens: TokenSource, text: string) {
    this.#tokens = tokens
    this.#text = text
  }

  /** @throws BrokerFault credentials_rejected; StreamFault for whatever passes. */
  static async of(tokens: TokenSource, signal: AbortSignal): Promise<StreamToken> {
    return new StreamToken(tokens, await usableToken(tokens, signal))
  }

  /** What the house was told last. */
  get text(): string {
    return this.#text
  }

  /** Renews the token of the running stream; gives the milliseconds until it should be asked again. @throws BrokerFault credentials_rejected */
  async maintain<Event>(connection: Connection<Event>): Promise<number> {
    const token = this.#tokens.fresh() ?? (await this.#next(connection.signal))
    if (token !== this.#text) {
      this.#text = token
      connection.send(JSON.stringify({ op: 'token', token }))
    }
    return Math.min(Math.max(this.#tokens.renewsInMs(), CHECK_MS_LEAST), CHECK_MS_MAX)
  }

  /** The house closes with 4001 or 4003 when the token is not, or no longer, valid: the next connection needs another one. */
  closed(code: number): Closing | null {
    if (code !== 4001 && code !== 4003) return null
    return {
      cause: 'token',
      recover: async signal => {
        await this.#tokens.replacement(this.#text, signal)
      }
    }
  }

  /** The house lets a stream outlive its token for a while, so one that cannot be had now is asked for again. @throws credentials_rejected */
  async #next(signal: AbortSignal): Promise<string> {
    try {
      return await usableToken(this.#tokens, signal)
    } catch (cause) {
      if (cause instanceof BrokerFault) throw cause
      return this.#text
    }
  }
}
