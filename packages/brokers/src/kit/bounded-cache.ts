/** Bounded caches by key. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketInstrument } from '@trunkline/core/ports/market'

/** The newest entries: at the bound the oldest one is evicted. */
export class BoundedMap<T> {
  readonly #max: number
  readonly #entries = new Map<string, T>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)
  }

  put(key: string, value: T): void {
    this.#entries.delete(key)
    if (this.#entries.size >= this.#max)
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest)
        break
      }
    this.#entries.set(key, value)
  }

  delete(key: string): void {
    this.#entries.delete(key)
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
  readonly #entries: BoundedMap<{ readonly value: T; readonly untilMs: number }>

  constructor(options: TtlCacheOptions) {
    this.#options = options
    this.#entries = new BoundedMap(options.max)
  }

  /** Undefined when it is absent or has expired. */
  get(key: string): T | undefined {
    const known = this.#entries.get(key)
    return known === undefined || this.#options.clock.monotonicMs() >= known.untilMs ? undefined : known.value
  }

  put(key: string, value: T): void {
    const { clock, forMs } = this.#options
    this.#entries.put(key, { value, untilMs: clock.monotonicMs() + forMs })
  }
}

/** Caches a broker's instruments by symbol, null for unknown symbols; every request about a symbol needs it. */
export function instrumentCache(clock: Clock): TtlCache<MarketInstrument | null> {
  return new TtlCache({ clock, max: 10_000, forMs: 300_000 })
}
