/** Limits and order of complete options chains. */
import { compare } from '../../domain/decimal.ts'
import type { ChainEntry } from '../../domain/market/records.ts'
import { MarketRefusal } from './refusal.ts'

/** Time limit: a chain is read in several calls, or from a stream, until it is complete. */
export const CHAIN_MS = 15_000
/** Chains that a connection reads at once: each takes several calls of the broker's rate limit. */
export const CHAINS_AT_ONCE = 2
/** Most contracts in a response: twice the largest chains, about 500 bytes each. */
export const CHAIN_CONTRACTS_MAX = 5_000

/**
 * Sorted by strike, calls before puts; contracts of one strike and right (an index has several roots) by symbol. @throws MarketRefusal if
 * there are too many
 */
export function orderedChain(entries: readonly ChainEntry[]): readonly ChainEntry[] {
  if (entries.length > CHAIN_CONTRACTS_MAX) {
    const message = `This chain has ${entries.length} contracts, and ${CHAIN_CONTRACTS_MAX} is the most that are read at once; follow it on the market data stream.`
    throw new MarketRefusal('unsupported_symbol', message)
  }
  return entries.toSorted((a, b) => compare(a.strike, b.strike) || order(a.right, b.right) || order(a.symbol, b.symbol))
}

function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
