// Reads that are answered once: an options chain, a quote, a search for symbols.
import { compare } from '../../domain/decimal.ts'
import type { ChainEntry, Quote } from '../../domain/market/records.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FoundSymbol } from '../../ports/market.ts'
import { within } from '../time-limits.ts'
import { MarketRefusal } from './refusal.ts'
import type { Watch } from './watcher.ts'

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

/** How long to wait for the first quote: a market may be closed, or without quotes. */
const QUOTE_MS = 3_000

/**
 * The present best bid and ask; null if none arrives in time. Ends the watch. @throws MarketRefusal if the broker is lost; the signal's
 * reason
 */
export async function lastQuote(clock: Clock, watch: Watch, signal: AbortSignal): Promise<Quote | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Quote>()
  const lost = () =>
    reject(new MarketRefusal('broker_unavailable', 'The connection to the broker was lost during the request; try again in a few seconds.'))
  const givenUp = () => reject(signal.reason)
  signal.addEventListener('abort', givenUp, { once: true })
  try {
    watch.begin({ trade() {}, depth() {}, chain() {}, bar() {}, quote: resolve, interrupted: lost })
    return await within(clock, promise, QUOTE_MS)
  } finally {
    signal.removeEventListener('abort', givenUp)
    watch.end()
  }
}

/** Each symbol once: an exact match, then symbols that begin with the text, then the others in the broker's order. */
export function ranked(found: readonly FoundSymbol[], typed: string): readonly FoundSymbol[] {
  const wanted = typed.toUpperCase()
  const rankOf = ({ symbol }: FoundSymbol): number => (symbol === wanted ? 0 : symbol.startsWith(wanted) ? 1 : 2)
  const each = new Map(found.map(entry => [entry.symbol, entry]))
  return [...each.values()].toSorted((a, b) => rankOf(a) - rankOf(b))
}
