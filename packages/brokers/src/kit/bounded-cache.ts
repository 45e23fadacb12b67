/** Bounded caches by key. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketInstrument } from '@trunkline/core/ports/market'

/** The newest entries: at the bound the oldest one is evicted. */
export class BoundedMap<T> {
  readonly #max: number
  readonly #facts = new Map<string, T>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): T | undefined {
    return this.#facts.get(key)
  }

  put(key: string, fact: T): void {
    this.#facts.delete(key)
    if (this.#facts.size >= this.#max)
      for (const oldest of this.#facts.keys()) {
        this.#facts.delete(oldest)
        break
      }
    this.#facts.set(key, fact)
  }

  delete(key: string): void {
    this.#facts.delete(key)
  }
}

interface TtlCacheOptions {
  readonly clock: Clock
  readonly max: number
  /** How long an entry is valid. */
  readonly forMs: number
}

/** Entries that expire after a while. */
export class TtlCache<T> {
  readonly #options: TtlCacheOptions
  readonly #facts: BoundedMap<{ readonly fact: T; readonly untilMs: number }>

  constructor(options: TtlCacheOptions) {
    this.#options = options
    this.#facts = new BoundedMap(options.max)
  }

  /** Undefined when it is absent or has expired. */
  get(key: string): T | undefined {
    const known = this.#facts.get(key)
    return known === undefined || this.#options.clock.monotonicMs() >= known.untilMs ? undefined : known.fact
  }

  put(key: string, fact: T): void {
    const { clock, forMs } = this.#options
    this.#facts.put(key, { fact, untilMs: clock.monotonicMs() + forMs })
  }
}

/** Caches a broker's instruments by symbol, null for unknown symbols; every request about a symbol needs it. */
export function instrumentCache(clock: Clock): TtlCache<MarketInstrument | null> {
  return new TtlCache({ clock, max: 10_000, forMs: 300_000 })
}
