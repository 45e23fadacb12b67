/**
 * The followed options, by underlying and expiration. All of an underlying are quoted at the same instants, so that a chain is consistent.
 */
import type { MarketCommand, Micros } from '../../engine/types.ts'
import { OptionContract } from './option-contract.ts'
import type { OptionSource } from './option-source.ts'
import { PRINT_DELAY } from './walk.ts'

const SECOND: Micros = 1_000_000
const MINUTE: Micros = 60_000_000

interface Group {
  readonly source: OptionSource
  readonly chains: Map<Micros, Set<OptionContract>>
  /** The underlying's price and minute at the last check. */
  cents: number
  minute: Micros
}

export class OptionFeed {
  readonly #contracts = new Map<string, OptionContract>()
  readonly #groups = new Map<OptionSource, Group>()

  get size(): number {
    return this.#contracts.size
  }

  get(symbol: string): OptionContract | undefined {
    return this.#contracts.get(symbol)
  }

  all(): Iterable<OptionContract> {
    return this.#contracts.values()
  }

  add(contract: OptionContract): void {
    const { source, lastTradeAt, instrument } = contract
    this.#contracts.set(instrument.symbol, contract)
    const group = this.#groups.get(source) ?? { source, chains: new Map(), cents: 0, minute: 0 }
    this.#groups.set(source, group)
    const chain = group.chains.get(lastTradeAt) ?? new Set()
    group.chains.set(lastTradeAt, chain)
    chain.add(contract)
  }

  delete(symbol: string): void {
    const contract = this.#contracts.get(symbol)
    if (contract === undefined) return
    this.#contracts.delete(symbol)
    contract.forget()
    const group = this.#groups.get(contract.source)
    const chain = group?.chains.get(contract.lastTradeAt)
    chain?.delete(contract)
    if (chain?.size === 0) group?.chains.delete(contract.lastTradeAt)
    if (group?.chains.size === 0) this.#groups.delete(contract.source)
  }

  /** Every update after `from`, up to and including `through`. */
  updates(from: Micros, through: Micros, into: MarketCommand[]): void {
    for (const group of this.#groups.values()) {
      // The print of a quote follows it, and may be in the next delivery.
      const first = OptionContract.quotedAt(group.source, from - PRINT_DELAY + SECOND)
      for (let at = first; at <= through; at += SECOND) this.#update(group, at, { from, through, into })
    }
  }

  /** The prints of an interval with their quotes, and the quotes at its end. */
  summarise(from: Micros, through: Micros, into: MarketCommand[]): void {
    for (const contract of this.#contracts.values()) contract.summarise(from, Math.min(through, contract.lastTradeAt - 1), into)
    for (const group of this.#groups.values()) group.minute = 0
  }

  #update(group: Group, at: Micros, { from, through, into }: Stretch): void {
    const { source } = group
    const cents = source.centsAt(at)
    const minute = at - (at % MINUTE)
    const moved = cents !== group.cents || minute !== group.minute
    group.cents = cents
    group.minute = minute
    const printAt = at + PRINT_DELAY
    const prints = printAt > from && printAt <= through
    for (const [lastTradeAt, chain] of group.chains) {
      let slice = moved ? source.slice(lastTradeAt, at, cents) : null
      for (const contract of chain) {
        if (!contract.active(at)) {
          contract.forget()
          continue
        }
        if (!contract.quoted) slice ??= source.slice(lastTradeAt, at, cents)
        if (at > from) contract.requote(slice, at, into)
        const print = prints ? contract.printOf(at) : null
        if (print !== null) into.push(print)
      }
    }
  }
}

interface Stretch {
  readonly from: Micros
  readonly through: Micros
  readonly into: MarketCommand[]
}
