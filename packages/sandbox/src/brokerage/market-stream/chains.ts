/** Options chains with subscribers: one row per contract, published again after its prices have moved. */

import type { Micros, QuoteCommand } from '../../engine/types.ts'
import type { FeedCommand, Instrument, OptionFigures } from '../../market/types.ts'
import { chainRowWire } from '../wire.ts'
import type { Reader } from './batched-sender.ts'

export interface ChainsDeps {
  /** The contracts of a chain; empty if there is none. */
  readonly contractsOf: (underlying: string, expiration: string) => readonly Instrument[]
  readonly figures: (symbol: string, at: Micros) => OptionFigures | null
  readonly lastQuote: (symbol: string) => QuoteCommand | undefined
  /** Feeds these contracts, and no others. */
  readonly hold: (symbols: readonly string[]) => void
  readonly release: (symbols: readonly string[]) => void
}

interface Chain {
  readonly contracts: ReadonlyMap<string, Instrument>
  readonly readers: Set<Reader>
  /** The last row of each contract that has prices. */
  readonly rows: Map<string, string>
  readonly moved: Set<string>
}

export class Chains {
  readonly #deps: ChainsDeps
  readonly #chains = new Map<string, Chain>()
  readonly #chainOf = new Map<string, Chain>()

  constructor(deps: ChainsDeps) {
    this.#deps = deps
  }

  get busy(): boolean {
    return this.#chains.size > 0
  }

  /** Sends the existing rows, then every new one. @returns false if there is no such chain */
  add(underlying: string, expiration: string, reader: Reader): boolean {
    const key = keyOf(underlying, expiration)
    const known = this.#chains.get(key)
    const chain = known ?? this.#open(key, this.#deps.contractsOf(underlying, expiration))
    if (chain === undefined) return false
    chain.readers.add(reader)
    for (const [symbol, row] of chain.rows) reader.put(row, rowKey(symbol))
    return true
  }

  drop(underlying: string, expiration: string, reader: Reader): void {
    const key = keyOf(underlying, expiration)
    const chain = this.#chains.get(key)
    chain?.readers.delete(reader)
    if (chain === undefined || chain.readers.size > 0) return
    this.#chains.delete(key)
    const symbols = [...chain.contracts.keys()]
    for (const symbol of symbols) this.#chainOf.delete(symbol)
    this.#deps.release(symbols)
  }

  onCommand(command: FeedCommand): void {
    if (command.type === 'quote' || command.type === 'trade') this.#chainOf.get(command.symbol)?.moved.add(command.symbol)
  }

  /** Everything up to and including this instant has been received. */
  reach(through: Micros): void {
    for (const chain of this.#chains.values()) this.#publish(chain, through)
  }

  #open(key: string, contracts: readonly Instrument[]): Chain | undefined {
    if (contracts.length === 0) return undefined
    const chain: Chain = {
      contracts: new Map(contracts.map(contract => [contract.symbol, contract])),
      readers: new Set(),
      rows: new Map(),
      moved: new Set(contracts.map(({ symbol }) => symbol).filter(symbol => this.#deps.lastQuote(symbol) !== undefined))
    }
    this.#deps.hold([...chain.contracts.keys()])
    this.#chains.set(key, chain)
    for (const { symbol } of contracts) this.#chainOf.set(symbol, chain)
    return chain
  }

  #publish({ contracts, moved, rows, readers }: Chain, at: Micros): void {
    for (const symbol of moved) {
      const contract = contracts.get(symbol)
      if (contract === undefined) continue
      const row = `{"t":"option",${JSON.stringify(chainRowWire(contract, this.#deps.lastQuote(symbol), this.#deps.figures(symbol, at))).slice(1)}`
      if (rows.get(symbol) === row) continue
      rows.set(symbol, row)
      for (const reader of readers) reader.put(row, rowKey(symbol))
    }
    moved.clear()
  }
}

function keyOf(underlying: string, expiration: string): string {
  return `${underlying} ${expiration}`
}

function rowKey(symbol: string): string {
  return `option ${symbol}`
}
