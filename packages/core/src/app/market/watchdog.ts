import type { MarketDataChannel } from '../../domain/vocabulary.ts'
import type { MarketInstrument } from '../../ports/market.ts'
import type { SharedTopic } from './shared-topic.ts'

/**
 * How long a channel may be silent while its market is open, before it is subscribed again. A quiet symbol is normal: a renewal is not
 * visible unless the broker does not answer it, and each renewal without new data doubles the wait for the next.
 */
const SILENCE_MS: { readonly [channel in MarketDataChannel]: number } = {
  quotes: 30_000,
  depth: 30_000,
  trades: 120_000,
  bars: 120_000,
  options_chain: 60_000
}
const SILENCE_MS_MAX = 1_800_000
/** A renewal without an answer for this long is a loss. */
const RENEWAL_MS = 5_000

/** Detects topics that have fallen silent although their connection seems to work. */
export class Watchdog {
  readonly #patience = new WeakMap<SharedTopic, number>()

  /** Must be called about once a second with every topic. */
  look(topic: SharedTopic, instrument: MarketInstrument | null, presentMs: number): void {
    const renewing = topic.renewingMs
    if (renewing !== null) {
      if (renewing >= RENEWAL_MS) topic.giveUpRenewal(`nothing arrived for too long, and the broker did not answer a new subscription`)
      return
    }
    if (topic.state !== 'live' && !topic.isGivenUp) return
    if (topic.state === 'live' && instrument?.calendar.phaseAt(presentMs) !== 'open') {
      // Silence counts from the open of the market: otherwise all quiet topics would be renewed in the second of the open.
      topic.excuseSilence()
      return
    }
    const usual = SILENCE_MS[topic.topic.channel]
    const patience = this.#patience.get(topic) ?? usual
    const silentMs = topic.silentMs()
    if (silentMs === 0) this.#patience.delete(topic)
    if (silentMs < patience) return
    this.#patience.set(topic, Math.min(patience * 2, SILENCE_MS_MAX))
    topic.renew()
  }
}
