/** The subscribed market data: receives every market command, and ignores symbols without a subscriber. */

import type { Micros, QuoteCommand } from '../../engine/types.ts'
import type { FeedCommand, Instrument } from '../../market/types.ts'
import type { Reader } from './batched-sender.ts'
import type { Beginning } from './live-bar.ts'
import { type SymbolChannel, Watch } from './watch.ts'

export interface BoardDeps {
  /** The last quote of a symbol. */
  readonly lastQuote: (symbol: string) => QuoteCommand | undefined
  /** The trades of an instant's minute, up to and including it; or, some time later, of the whole minute. */
  readonly openBar: (symbol: string, through: Micros) => Promise<Beginning>
  /** Real time in milliseconds. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

export class Board {
  readonly #deps: BoardDeps
  readonly #watches = new Map<string, Watch>()
  readonly #bars = new Set<Watch>()
  #through: Micros = 0

  constructor(deps: BoardDeps) {
    this.#deps = deps
  }

  /** Whether any symbol has readers. */
  get busy(): boolean {
    return this.#watches.size > 0
  }

  /** A market command that the engine has processed. */
  onCommand(command: FeedCommand): void {
    if (command.type === 'trade') this.#watches.get(command.symbol)?.trade(command)
    else if (command.type === 'quote') this.#watches.get(command.symbol)?.quote(command)
  }

  /** Everything up to and including this instant has been received. */
  reach(through: Micros): void {
    this.#through = Math.max(this.#through, through)
    if (this.#bars.size === 0) return
    const now = this.#deps.now()
    for (const { bar } of this.#bars) {
      bar?.reach(this.#through)
      bar?.publish(now)
    }
  }

  /** Sends the current state, then everything new. Sends nothing again to a reader that the channel already has. */
  add(channel: SymbolChannel, instrument: Instrument, reader: Reader): void {
    const { symbol } = instrument
    const watch = this.#watches.get(symbol) ?? new Watch(instrument)
    this.#watches.set(symbol, watch)
    if (watch.readers[channel].has(reader)) return
    watch.readers[channel].add(reader)
    watch.greet(channel, reader, this.#deps.lastQuote(symbol))
    if (channel === 'bars' && watch.bar === null) this.#keepBar(watch)
  }

  drop(channel: SymbolChannel, symbol: string, reader: Reader): void {
    const watch = this.#watches.get(symbol)
    if (watch === undefined) return
    watch.readers[channel].delete(reader)
    if (watch.readers.bars.size === 0) {
      watch.forgetBar()
      this.#bars.delete(watch)
    }
    if (watch.idle) this.#watches.delete(symbol)
  }

  #keepBar(watch: Watch): void {
    const bar = watch.keepBar()
    this.#bars.add(watch)
    const begin = (beginning: Beginning) => {
      // The readers may have been replaced meanwhile by others, which have another bar.
      if (watch.bar !== bar) return
      bar.begin(beginning, this.#through)
      bar.publish(this.#deps.now())
    }
    this.#deps.openBar(watch.instrument.symbol, this.#through).then(begin, (error: unknown) => {
      this.#deps.onError(error)
      begin({ bar: null, whole: false })
    })
  }
}
