/** Quotes for many single callers: calls within a moment are answered by one request. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { Wire } from '../parse.ts'

const GATHER_MS = 100

export class QuoteBatches implements AsyncDisposable {
  readonly #clock: Clock
  readonly #read: (symbols: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>
  readonly #closing = new AbortController()
  #next: { readonly symbols: Set<string>; readonly answer: Promise<ReadonlyMap<string, Wire>> } | null = null

  constructor(clock: Clock, read: (symbols: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>) {
    this.#clock = clock
    this.#read = read
  }

  /** Undefined when the broker does not know the symbol. @throws BrokerFault; the signal's reason */
  async quote(symbol: string, signal: AbortSignal): Promise<Wire | undefined> {
    signal.throwIfAborted()
    if (this.#next === null) {
      const symbols = new Set<string>()
      this.#next = { symbols, answer: this.#gathered(symbols) }
    }
    this.#next.symbols.add(symbol)
    return (await this.#next.answer).get(symbol)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the login was closed'))
    await this.#next?.answer.catch(() => undefined)
  }

  async #gathered(symbols: ReadonlySet<string>): Promise<ReadonlyMap<string, Wire>> {
    const { signal } = this.#closing
    await this.#clock.sleep(GATHER_MS, signal).finally(() => {
      this.#next = null
    })
    return await this.#read([...symbols], signal)
  }
}
