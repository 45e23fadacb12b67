/** The market data that is subscribed to: receives every command of the market, and ignores symbols without a subscriber. */

import type { Micros, QuoteCommand } from '../../engine/types.ts'
import type { FeedCommand, Instrument } from '../../market/types.ts'
import type { Reader } from './batched-sender.ts'
import type { Beginning } from './live-bar.ts'
import { type SymbolChannel, Watch } from './watch.ts'

export interface BoardDeps {
  /** The last quote of a symbol. */
  readonly lastQuote: (symbol: string) => QuoteCommand | undefined
  /** What the minute of an instant has traded up to and including it, or some time later all that it traded. */
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

  /** Whether anybody reads anything that happens in the market. */
  get busy(): boolean {
    return this.#watches.size > 0
  }

  /** A command of the market, after the engine has had it. */
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

  /** Gives the present state, then everything new. A reader that reads the channel already is given nothing again. */
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
      // All readers may have left meanwhile, and others come, who have another bar.
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
