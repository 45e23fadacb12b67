/** The access token of one of the sandbox's streams: obtained before it begins, renewed while it runs. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Closing, Connection } from '../kit/stream-protocol.ts'
import { type TokenSource, usableToken } from '../kit/tokens.ts'

/** The sandbox allows a stream one minute after its token has expired; checking this often finds the new one well before. */
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

  /** The token sent to the sandbox last. */
  get text(): string {
    return this.#text
  }

  /** Renews the token of the running stream; returns the milliseconds until the next check. @throws BrokerFault credentials_rejected */
  async maintain<Event>(connection: Connection<Event>): Promise<number> {
    const token = this.#tokens.fresh() ?? (await this.#next(connection.signal))
    if (token !== this.#text) {
      this.#text = token
      connection.send(JSON.stringify({ op: 'token', token }))
    }
    return Math.min(Math.max(this.#tokens.renewsInMs(), CHECK_MS_LEAST), CHECK_MS_MAX)
  }

  /** The sandbox closes with 4001 or 4003 when the token is not, or no longer, valid: the next connection needs another one. */
  closed(code: number): Closing | null {
    if (code !== 4001 && code !== 4003) return null
    return {
      cause: 'token',
      recover: async signal => {
        await this.#tokens.replacement(this.#text, signal)
      }
    }
  }

  /**
   * The sandbox lets a stream outlive its token for a while, so one that cannot be obtained now is requested again. @throws
   * credentials_rejected
   */
  async #next(signal: AbortSignal): Promise<string> {
    try {
      return await usableToken(this.#tokens, signal)
    } catch (cause) {
      if (cause instanceof BrokerFault) throw cause
      return this.#text
    }
  }
}
