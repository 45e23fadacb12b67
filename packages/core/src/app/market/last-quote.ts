import type { Quote } from '../../domain/market/records.ts'
import type { Clock } from '../../ports/clock.ts'
import { within } from '../within.ts'
import { MarketRefusal } from './refusal.ts'
import type { Watch } from './watcher.ts'

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
