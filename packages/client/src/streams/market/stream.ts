import type { Reading } from '../reader.ts'
import { bars, chain, depth, quotes, trades } from './channels.ts'
import type { Bar, BarsOptions, Contract, Depth, HistoryOptions, Quote, Session, Subscribing, Trade } from './items.ts'
import { type MarketStreamOptions, marketSessions } from './sessions.ts'

/** Market data of one connection of a user, over one WebSocket that is open while somebody reads. Subscriptions outlive it. */
export class MarketStream {
  readonly #sessions

  /** @throws StreamError setting_invalid */
  constructor(options: MarketStreamOptions) {
    this.#sessions = marketSessions(options)
  }

  /** Milliseconds since the service was last received, null before the first message. */
  get ageMs(): number | null {
    return this.#sessions.ageMs()
  }

  /** Past bars, then the open one whenever it changes, and each once when it closes. Those of an interruption come when it is over. */
  bars(options: BarsOptions): Reading<Bar> {
    return this.#sessions.read(bars(options), options)
  }

  /** Every trade while connected. Those of an interruption are not sent; `onStatus` reports it. */
  trades(options: Subscribing & { readonly session?: Session }): Reading<Trade> {
    return this.#sessions.read(trades(options.symbol, options.session), options)
  }

  /** The present quote, then each newer one that the reader is in time for. */
  quotes(options: Subscribing): Reading<Quote> {
    return this.#sessions.read(quotes(options.symbol), options)
  }

  /** The present book, then each newer one that the reader is in time for. */
  depth(options: Subscribing & { readonly levels?: number }): Reading<Depth> {
    return this.#sessions.read(depth(options.symbol, options.levels), options)
  }

  /** Every contract of the expiration, then each that changes. */
  chain(options: Subscribing & { readonly expiration: string; readonly greeks?: boolean }): Reading<Contract> {
    return this.#sessions.read(chain(options.symbol, options.expiration, options.greeks ?? false), options)
  }

  /** Past bars, at most 50,000. Asked for again if the connection breaks meanwhile. @throws StreamError */
  history(options: HistoryOptions): Promise<readonly Bar[]> {
    return this.#sessions.history(options)
  }
}
