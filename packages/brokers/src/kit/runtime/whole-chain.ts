/**
 * Reads the complete option chain of one expiration. Only the stream carries quotes of options, and it does not mark the end of its initial
 * state. The chain is therefore complete when a call and a put have arrived for every strike that the broker lists for the day.
 * An index can have several roots on one day (SPX and SPXW), and the list of strikes does not say which root a strike belongs to. So every
 * root that has been seen must deliver every strike. A root with fewer strikes makes the read fail. A root whose first contract arrives
 * after all others is left out, because nothing announces it.
 */

import { canonical, type Decimal } from '@trunkline/core/domain/decimal'
import type { ChainEntry } from '@trunkline/core/domain/market/records'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { TopicLease, TopicSink } from '@trunkline/core/ports/market'

/** Waits until `signal` aborts. @throws BrokerFault when the stream is lost or refused; the signal's reason */
export async function wholeChain(
  strikes: readonly Decimal[],
  stream: (sink: TopicSink) => TopicLease,
  signal: AbortSignal
): Promise<readonly ChainEntry[]> {
  const keys = strikes.flatMap(strike => (['C', 'P'] as const).map(right => keyOf({ right, strike })))
  if (keys.length === 0) return []
  const missing = new Map<string, Set<string>>()
  const entries = new Map<string, ChainEntry>()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const givenUp = () => reject(signal.reason)
  const nothing = () => undefined
  signal.addEventListener('abort', givenUp, { once: true })
  const lease = stream({
    ...{ live: nothing, trade: nothing, quote: nothing, depth: nothing, bar: nothing },
    lost: (_, reason) => reject(new BrokerFault('unreachable', `the chain was lost while it was read: ${reason}`)),
    refused: message => reject(new BrokerFault('refused', message)),
    chain: entry => {
      entries.set(entry.symbol, entry)
      const root = rootOf(entry)
      const ofRoot = missing.get(root) ?? new Set(keys)
      missing.set(root, ofRoot)
      ofRoot.delete(keyOf(entry))
      if ([...missing.values()].every(({ size }) => size === 0)) resolve()
    }
  })
  try {
    await promise
    return [...entries.values()]
  } finally {
    lease[Symbol.dispose]()
    signal.removeEventListener('abort', givenUp)
  }
}

/** Expiration, right and strike of a contract's symbol. */
const TERMS_LENGTH = 15

function rootOf({ symbol }: Pick<ChainEntry, 'symbol'>): string {
  return symbol.slice(0, -TERMS_LENGTH)
}

function keyOf({ right, strike }: Pick<ChainEntry, 'right' | 'strike'>): string {
  return `${right} ${canonical(strike)}`
}
