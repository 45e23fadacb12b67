/** The market data for dialects: prints, quotes and bars of single symbols, as the engine has them. */

import type { Micros, QuoteCommand } from '../engine/types.ts'
import { toBar } from '../market/bar-series.ts'
import type { Bar, FeedCommand, FeedTrade } from '../market/types.ts'
import type { MarketListener } from './market-driver.ts'
import { type Beginning, LiveBar } from './market-stream/live-bar.ts'

/** Called in the market's order; must not throw. */
export interface MarketDataTap {
  trade?(trade: FeedTrade): void
  /** The whole displayed order book. */
  quote?(quote: QuoteCommand): void
  /** The 1-minute bar: open, after each change but at most four times a second, and once when it closes. */
  bar?(bar: Bar): void
}

export interface MarketDataTapsDeps {
  /** Feeds these symbols. @throws Problem if the sandbox follows too many contracts already */
  readonly hold: (symbols: readonly string[]) => void
  readonly release: (symbols: readonly string[]) => void
  readonly lastQuote: (symbol: string) => QuoteCommand | undefined
  readonly openBar: (symbol: string, through: Micros) => Promise<Beginning>
  /** Real time in milliseconds. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

interface Registered {
  readonly tap: MarketDataTap
  readonly bar: LiveBar | null
}

export class MarketDataTaps implements MarketListener {
  readonly #deps: MarketDataTapsDeps
  readonly #bySymbol = new Map<string, Set<Registered>>()
  readonly #bars = new Set<LiveBar>()
  #through: Micros = 0

  constructor(deps: MarketDataTapsDeps) {
    this.#deps = deps
  }

  get busy(): boolean {
    return this.#bySymbol.size > 0
  }

  /** The last quote is sent at once if there is one. @throws Problem if the sandbox follows too many contracts already */
  add(symbol: string, tap: MarketDataTap): Disposable {
    this.#deps.hold([symbol])
    const registered: Registered = { tap, bar: tap.bar === undefined ? null : this.#barOf(symbol, tap.bar.bind(tap)) }
    const others = this.#bySymbol.get(symbol) ?? new Set()
    this.#bySymbol.set(symbol, others.add(registered))
    const quote = this.#deps.lastQuote(symbol)
    if (quote !== undefined) tap.quote?.(quote)
    return { [Symbol.dispose]: () => this.#remove(symbol, registered) }
  }

  onCommand(command: FeedCommand): void {
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
      bar.publish(now)
    }
  }

  #barOf(symbol: string, publish: (bar: Bar) => void): LiveBar {
    const bar = new LiveBar({ open: raw => publish(toBar(raw, false)), closed: raw => publish(toBar(raw, true)) })
    this.#bars.add(bar)
    const begin = (beginning: Beginning) => {
      if (!this.#bars.has(bar)) return
      bar.begin(beginning, this.#through)
      bar.publish(this.#deps.now())
    }
    this.#deps.openBar(symbol, this.#through).then(begin, (error: unknown) => {
      this.#deps.onError(error)
      begin({ bar: null, whole: false })
    })
    return bar
  }

  #remove(symbol: string, registered: Registered): void {
    const others = this.#bySymbol.get(symbol)
    if (others?.delete(registered) !== true) return
    if (others.size === 0) this.#bySymbol.delete(symbol)
    if (registered.bar !== null) this.#bars.delete(registered.bar)
    this.#deps.release([symbol])
  }
}
