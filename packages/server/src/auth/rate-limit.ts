/** How many requests a caller may make: `perSecond` for as long as it likes, and `burst` at once. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** The state of one caller's bucket. */
export interface Allowance {
  readonly limit: number
  /** Whole requests left. */
  readonly remaining: number
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number
  /** Seconds until the next request may be made; null if one may be made now. */
  readonly retryAfterSeconds: number | null
}

/** A limit that the nodes of a cluster share. */
export interface SharedLimit {
  /** The part of the rate that this node may grant: 1 while nodes report to each other what they grant. */
  readonly share: number
  /** This node has granted so many; negative: given back. */
  spent(caller: string, count: number): void
  /** `listener` receives what other nodes granted. */
  onSpent(listener: (caller: string, count: number, nowMs: number) => void): void
}

/** The shared limit of a name. */
export type SharedLimits = (name: string) => SharedLimit

interface Bucket {
  tokens: number
  at: number
}

/**
 * Token buckets by caller, in memory. At most `bucketsMax` of them: at the limit, full ones are dropped (which changes nothing), otherwise
 * the oldest, whose caller then starts with a full one. What other nodes grant is taken from the same buckets, up to one burst below empty.
 */
export class RateLimiter {
  readonly #rate: Rate
  readonly #bucketsMax: number
  readonly #buckets = new Map<string, Bucket>()
  readonly #shared: SharedLimit | null

  /** @param shared null: this node's alone */
  constructor(rate: Rate, bucketsMax = 50_000, shared: SharedLimit | null = null) {
    this.#rate = rate
    this.#bucketsMax = bucketsMax
    this.#shared = shared
    shared?.onSpent((caller, count, nowMs) => {
      const bucket = this.#bucketOf(caller, nowMs)
      bucket.tokens = Math.max(-rate.burst, Math.min(this.#granted().burst, bucket.tokens - count))
    })
  }

  /** Takes one request from the caller's bucket if there is one, and returns its state. `nowMs` is monotonic. */
  take(caller: string, nowMs: number): Allowance {
    const bucket = this.#bucketOf(caller, nowMs)
    const granted = bucket.tokens >= 1
    if (granted) {
      bucket.tokens -= 1
      this.#shared?.spent(caller, 1)
    }
    return this.#allowance(bucket, granted)
  }

  /** Whether a request could be made, without making it. */
  peek(caller: string, nowMs: number): Allowance {
    const bucket = this.#buckets.has(caller) ? this.#bucketOf(caller, nowMs) : { tokens: this.#granted().burst, at: nowMs }
    return this.#allowance(bucket, bucket.tokens >= 1)
  }

  /** Returns one granted {@link take} that led to nothing. */
  giveBack(caller: string): void {
    const bucket = this.#buckets.get(caller)
    if (bucket === undefined) return
    bucket.tokens = Math.min(this.#granted().burst, bucket.tokens + 1)
    this.#shared?.spent(caller, -1)
  }

  /** The part of the rate that this node may grant now. */
  #granted(): Rate {
    const share = this.#shared?.share ?? 1
    const { perSecond, burst } = this.#rate
    return share === 1 ? this.#rate : { perSecond: perSecond * share, burst: Math.max(1, burst * share) }
  }

  #allowance({ tokens }: Bucket, granted: boolean): Allowance {
    const { perSecond, burst } = this.#granted()
    return {
      limit: this.#rate.burst,
      remaining: Math.max(0, Math.floor(tokens)),
      resetSeconds: Math.ceil((burst - tokens) / perSecond),
      retryAfterSeconds: granted ? null : Math.max(1, Math.ceil((1 - tokens) / perSecond))
    }
  }

  #bucketOf(caller: string, nowMs: number): Bucket {
    const { perSecond, burst } = this.#granted()
    const known = this.#buckets.get(caller)
    if (known !== undefined) {
      known.tokens = Math.min(burst, known.tokens + ((nowMs - known.at) / 1_000) * perSecond)
      known.at = nowMs
      return known
    }
    if (this.#buckets.size >= this.#bucketsMax) this.#evict(nowMs)
    const bucket = { tokens: burst, at: nowMs }
    this.#buckets.set(caller, bucket)
    return bucket
  }

  #evict(nowMs: number): void {
    const { perSecond, burst } = this.#granted()
    for (const [caller, { tokens, at }] of this.#buckets) {
      if (tokens + ((nowMs - at) / 1_000) * perSecond >= burst) this.#buckets.delete(caller)
    }
    // A tenth at once, so that not every newcomer pays for a sweep.
    let surplus = this.#buckets.size - Math.floor(this.#bucketsMax * 0.9)
    for (const caller of this.#buckets.keys()) {
      if (surplus-- <= 0) break
      this.#buckets.delete(caller)
    }
  }
}
