/** Connects the market with its readers: finds and follows what they subscribe to, and sends them the events. */

import type { Micros, QuoteCommand } from '../../engine/types.ts'
import type { RawBar } from '../../market/bar-series.ts'
import { billionths } from '../../market/lean/numbers.ts'
import type { Bar, FeedCommand, Market } from '../../market/types.ts'
import type { BrokerageClock } from '../clock.ts'
import type { Contracts } from '../contracts.ts'
import type { MarketListener } from '../market-driver.ts'
import type { Reader } from './batched-sender.ts'
import { Board } from './board.ts'
import { Chains } from './chains.ts'
import type { Beginning } from './live-bar.ts'
import type { Wanted } from './session.ts'

const MINUTE: Micros = 60_000_000

export interface FeedDeps {
  readonly market: Market
  readonly contracts: () => Contracts
  readonly clock: BrokerageClock
  readonly lastQuote: (symbol: string) => QuoteCommand | undefined
  /** Real time in milliseconds. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

export class Feed implements MarketListener {
  readonly #deps: FeedDeps
  readonly #board: Board
  readonly #chains: Chains
  /** Callers that wait until the market has reached an instant. */
  #waiting: { readonly until: Micros; readonly reached: () => void }[] = []

  constructor(deps: FeedDeps) {
    const { market, clock, contracts, lastQuote, now, onError } = deps
    this.#deps = deps
    this.#board = new Board({ lastQuote, now, onError, openBar: (symbol, through) => this.openBar(symbol, through) })
    this.#chains = new Chains({
      lastQuote,
      contractsOf: (underlying, expiration) => market.chain(underlying, expiration, clock.now()),
      figures: (symbol, at) => market.figures(symbol, at),
      hold: symbols => contracts().hold(symbols),
      release: symbols => contracts().release(symbols)
    })
  }

  get busy(): boolean {
    return this.#board.busy || this.#chains.busy
  }

  onCommand(command: FeedCommand): void {
    this.#board.onCommand(command)
    this.#chains.onCommand(command)
    if (command.type === 'expire') this.#deps.contracts().ended(command.symbol)
  }

  reach(through: Micros): void {
    this.#board.reach(through)
    this.#chains.reach(through)
    if (this.#waiting.length === 0) return
    for (const { until, reached } of this.#waiting) if (until <= through) reached()
    this.#waiting = this.#waiting.filter(({ until }) => until > through)
  }

  /**
   * Sends the current state and everything new. @returns false if it does not exist
   * @throws Problem if the sandbox follows too many contracts already
   */
  add({ channel, symbol, expiration }: Wanted, reader: Reader): boolean {
    if (channel === 'chain') return this.#chains.add(symbol, expiration ?? '', reader)
    const contracts = this.#deps.contracts()
    const instrument = contracts.find(symbol)
    if (instrument === null) return false
    contracts.hold([symbol])
    this.#board.add(channel, instrument, reader)
    return true
  }

  drop({ channel, symbol, expiration }: Wanted, reader: Reader): void {
    if (channel === 'chain') this.#chains.drop(symbol, expiration ?? '', reader)
    else {
      this.#board.drop(channel, symbol, reader)
      this.#deps.contracts().release([symbol])
    }
  }

  /** The beginning of an instant's minute, for a bar that gets its first reader during it. */
  async openBar(symbol: string, through: Micros): Promise<Beginning> {
    const { market, contracts } = this.#deps
    const from = through - (through % MINUTE)
    const end = from + MINUTE
    // For a recorded contract that was just followed, the beginning of its minute is unknown until the minute ends.
    const whole = market.kind === 'replay' && (contracts().since(symbol) ?? 0) >= from
    if (whole) await this.#reached(end)
    const [bar] = await market.bars({ symbol, interval: '1m', from, to: end, now: whole ? end : through })
    return { bar: bar === undefined ? null : rawOf(bar), whole }
  }

  #reached(until: Micros): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ until, reached: resolve })
    return promise
  }
}

function rawOf({ start, open, high, low, close, volume }: Bar): RawBar {
  return {
    start,
    open: billionths(open),
    high: billionths(high),
    low: billionths(low),
    close: billionths(close),
    volume: billionths(volume)
  }
}
