/** What of the market the house's other tongues read: prints, quotes and bars of single symbols, as the engine has them. */

import type { Micros, QuoteCommand } from '../engine/types.ts'
import { toBar } from '../market/bar-series.ts'
import type { Bar, FeedCommand, FeedTrade } from '../market/types.ts'
import { type Beginning, LiveBar } from './market-stream/live-bar.ts'
import type { Listener } from './pump.ts'

/** Called as the market comes, in its order; must not throw. */
export interface Tap {
  trade?(trade: FeedTrade): void
  /** The whole displayed book. */
  quote?(quote: QuoteCommand): void
  /** The 1-minute bar: open whenever it has changed, at most four times a second, and once when it closes. */
  bar?(bar: Bar): void
}

export interface TapsDeps {
  /** Has these symbols' prices come. @throws Problem when the house follows too many contracts already */
  readonly hold: (symbols: readonly string[]) => void
  readonly release: (symbols: readonly string[]) => void
  readonly lastQuote: (symbol: string) => QuoteCommand | undefined
  readonly openBar: (symbol: string, through: Micros) => Promise<Beginning>
  /** Real time in milliseconds. */
  readonly now: () => number
  readonly onTrouble: (error: unknown) => void
}

interface Tapped {
  readonly tap: Tap
  readonly bar: LiveBar | null
}

export class Taps implements Listener {
  readonly #deps: TapsDeps
  readonly #bySymbol = new Map<string, Set<Tapped>>()
  readonly #bars = new Set<LiveBar>()
  #through: Micros = 0

  constructor(deps: TapsDeps) {
    this.#deps = deps
  }

  get busy(): boolean {
    return this.#bySymbol.size > 0
  }

  /** The last quote comes at once where there is one. @throws Problem when the house follows too many contracts already */
  add(symbol: string, tap: Tap): Disposable {
    this.#deps.hold([symbol])
    const tapped: Tapped = { tap, bar: tap.bar === undefined ? null : this.#barOf(symbol, tap.bar.bind(tap)) }
    const others = this.#bySymbol.get(symbol) ?? new Set()
    this.#bySymbol.set(symbol, others.add(tapped))
    const quote = this.#deps.lastQuote(symbol)
    if (quote !== undefined) tap.quote?.(quote)
    return { [Symbol.dispose]: () => this.#remove(symbol, tapped) }
  }

  hear(command: FeedCommand): void {
    if (command.type !== 'trade' && command.type !== 'quote') return
    for (const { tap, bar } of this.#bySymbol.get(command.symbol) ?? []) {
      if (command.type === 'quote') tap.quote?.(command)
      else {
        tap.trade?.(command)
        bar?.add(command)
      }
    }
  }

  reach(through: Micros): void {
    this.#through = Math.max(this.#through, through)
    if (this.#bars.size === 0) return
    const now = this.#deps.now()
    for (const bar of this.#bars) {
      bar.reach(this.#through)
      bar.tell(now)
    }
  }

  #barOf(symbol: string, tell: (bar: Bar) => void): LiveBar {
    const bar = new LiveBar({ open: raw => tell(toBar(raw, false)), closed: raw => tell(toBar(raw, true)) })
    this.#bars.add(bar)
    const begin = (beginning: Beginning) => {
      if (!this.#bars.has(bar)) return
      bar.begin(beginning, this.#through)
      bar.tell(this.#deps.now())
    }
    this.#deps.openBar(symbol, this.#through).then(begin, (error: unknown) => {
      this.#deps.onTrouble(error)
      begin({ bar: null, whole: false })
    })
    return bar
  }

  #remove(symbol: string, tapped: Tapped): void {
    const others = this.#bySymbol.get(symbol)
    if (others?.delete(tapped) !== true) return
    if (others.size === 0) this.#bySymbol.delete(symbol)
    if (tapped.bar !== null) this.#bars.delete(tapped.bar)
    this.#deps.release([symbol])
  }
}
