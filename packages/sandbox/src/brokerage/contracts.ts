/**
 * There are too many options and futures to feed all of them. The sandbox has the market feed those that customers hold, have ordered,
 * read, or requested recently.
 */

import type { Micros, OrderView } from '../engine/types.ts'
import { FOLLOWED_MAX, type Instrument, type Market } from '../market/types.ts'
import type { BrokerageClock } from './clock.ts'
import type { Customers } from './customers.ts'
import type { MarketDriver } from './market-driver.ts'
import { Problem } from './problems.ts'
import type { BrokerageState } from './state.ts'

/** The interval of the sandbox's search for unused contracts, and the minimum time that a requested one is retained. */
const SWEEP_EVERY_MS = 30_000
const RETAINED_MS = 60_000
/** Requested contracts retained at the same time; further ones have to wait. */
const REQUESTED_MAX = 5_000

export interface ContractsDeps {
  readonly market: Market
  readonly state: Pick<BrokerageState, 'engine'>
  readonly customers: Customers
  readonly clock: BrokerageClock
  readonly driver: Pick<MarketDriver, 'afresh' | 'forget'>
  /** Real time in milliseconds. */
  readonly now: () => number
}

export class Contracts {
  readonly #deps: ContractsDeps
  /** Shares and crypto, which are always fed. */
  readonly #always: ReadonlyMap<string, Instrument>
  /** The start, in sandbox time. */
  readonly #followed = new Map<string, Micros>()
  readonly #readers = new Map<string, number>()
  /** The last request for each. */
  readonly #requestedAt = new Map<string, number>()
  readonly #timer: NodeJS.Timeout

  constructor(deps: ContractsDeps) {
    this.#deps = deps
    this.#always = new Map(deps.market.instruments.map(instrument => [instrument.symbol, instrument]))
    this.#timer = setInterval(() => this.sweep(), SWEEP_EVERY_MS)
    this.#timer.unref()
  }

  /** The instrument that trades under this symbol now, or null. */
  find(symbol: string): Instrument | null {
    return this.#always.get(symbol) ?? this.#deps.market.find(symbol, this.#deps.clock.now())
  }

  /** Whether prices of this symbol arrive without a request. */
  comes(symbol: string): boolean {
    return this.#always.has(symbol) || this.#followed.has(symbol)
  }

  /** The start of a contract's prices; null: always, or not at all. */
  since(symbol: string): Micros | null {
    return this.#followed.get(symbol) ?? null
  }

  /**
   * Loads these symbols and their current prices into the state; symbols that do not exist are ignored.
   * @throws Problem `slow_down` if too many contracts are requested at once
   */
  async bring(symbols: readonly string[]): Promise<void> {
    const contracts = symbols.filter(symbol => !this.#always.has(symbol) && (this.#followed.has(symbol) || this.find(symbol) !== null))
    if (contracts.length === 0) return
    for (const symbol of contracts) this.#ask(symbol)
    if (this.#follow(contracts)) await this.#deps.driver.afresh()
  }

  /**
   * Adds a reader of these. Their first prices arrive with the market's next delivery.
   * @throws Problem `slow_down`, without adding any, if the sandbox follows too many contracts already
   */
  hold(symbols: readonly string[]): void {
    const fresh = this.#follow(symbols)
    for (const symbol of symbols) this.#readers.set(symbol, (this.#readers.get(symbol) ?? 0) + 1)
    // A frozen sandbox would never reach the next delivery by itself.
    if (fresh) void this.#deps.driver.afresh()
  }

  release(symbols: readonly string[]): void {
    for (const symbol of symbols) {
      const left = (this.#readers.get(symbol) ?? 1) - 1
      if (left <= 0) this.#readers.delete(symbol)
      else this.#readers.set(symbol, left)
    }
  }

  /** Follows all contracts that customers hold or have ordered, and drops unused ones. */
  sweep(): void {
    const now = this.#deps.now()
    for (const [symbol, at] of this.#requestedAt) if (now - at > RETAINED_MS) this.#requestedAt.delete(symbol)
    const owned = this.#owned()
    const idle = [...this.#followed.keys()].filter(
      symbol => !owned.has(symbol) && !this.#readers.has(symbol) && !this.#requestedAt.has(symbol)
    )
    for (const symbol of idle) this.#followed.delete(symbol)
    if (idle.length > 0) this.#deps.market.unfollow(idle)
    this.#deps.driver.forget(idle)
    // Up to the number that the market can deliver, contracts that customers own take precedence over those that are only read.
    this.#follow([...owned].filter(symbol => !this.#followed.has(symbol)).slice(0, FOLLOWED_MAX - this.#followed.size))
  }

  /** Handles the end of a contract. */
  ended(symbol: string): void {
    this.#followed.delete(symbol)
    this.#requestedAt.delete(symbol)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #ask(symbol: string): void {
    if (this.#requestedAt.size >= REQUESTED_MAX && !this.#requestedAt.has(symbol))
      throw new Problem('slow_down', `at most ${REQUESTED_MAX} contracts can be requested per minute; try again in a minute`, {
        retryAfter: 60
      })
    this.#requestedAt.set(symbol, this.#deps.now())
  }

  /** @returns whether any of them is new */
  #follow(symbols: Iterable<string>): boolean {
    const fresh = [...symbols].filter(symbol => !this.comes(symbol))
    if (this.#followed.size + fresh.length > FOLLOWED_MAX)
      throw new Problem('slow_down', `the sandbox follows ${FOLLOWED_MAX} contracts at most; try again in a minute`, { retryAfter: 60 })
    const now = this.#deps.clock.now()
    for (const symbol of fresh) this.#followed.set(symbol, now)
    if (fresh.length > 0) this.#deps.market.follow(fresh)
    return fresh.length > 0
  }

  #owned(): ReadonlySet<string> {
    const { engine } = this.#deps.state
    const owned = new Set<string>()
    for (const { id } of this.#deps.customers.accounts()) {
      if (engine.account(id) === undefined) continue
      for (const { symbol } of engine.positions(id)) owned.add(symbol)
      for (const order of engine.orders(id, { live: true })) for (const symbol of symbolsOf(order)) owned.add(symbol)
    }
    for (const symbol of this.#always.keys()) owned.delete(symbol)
    return owned
  }
}

function symbolsOf({ symbol, legs }: OrderView): readonly string[] {
  return symbol === null ? (legs ?? []).map(leg => leg.symbol) : [symbol]
}
