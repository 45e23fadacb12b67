import type { MarketDataChannel } from '../../domain/vocabulary.ts'
import type { MarketInstrument } from '../../ports/market.ts'
import type { SharedTopic } from './shared-topic.ts'

/**
 * How long a channel may say nothing, while its market is open, before the broker is asked again. A quiet symbol is no fault: the renewal is
 * silent unless the broker does not answer it, and each time nothing more comes the next one waits longer.
 */
const SILENCE_MS: { readonly [channel in MarketDataChannel]: number } = {
  quotes: 30_000,
  depth: 30_000,
  trades: 120_000,
  bars: 120_000,
  options_chain: 60_000
}
const SILENCE_MS_MAX = 1_800_000
/** A renewal that was not answered for so long is a loss. */
const RENEWAL_MS = 5_000

/** Notices topics that have fallen silent although their connection seems well. */
export class Watchdog {
  readonly #patience = new WeakMap<SharedTopic, number>()

  /** To be called about once a second with every topic. */
  look(topic: SharedTopic, instrument: MarketInstrument | null, presentMs: number): void {
    const renewing = topic.renewingMs
    if (renewing !== null) {
      if (renewing >= RENEWAL_MS) topic.giveUpRenewal(`nothing came for too long, and the broker did not answer when it was asked again`)
      return
    }
    if (topic.state !== 'live' && !topic.isGivenUp) return
    if (topic.state === 'live' && instrument?.calendar.phaseAt(presentMs) !== 'open') {
      // Its silence begins with the market: else whatever was quiet over night would be asked again in the second of the open.
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
