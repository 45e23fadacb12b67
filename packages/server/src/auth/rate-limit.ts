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

interface Bucket {
  tokens: number
  at: number
}

/**
 * Token buckets by caller, in memory. At most `bucketsMax` of them: at the limit, full ones are dropped (which changes nothing), otherwise
 * the oldest, whose caller then starts with a full one.
 */
export class RateLimiter {
  readonly #rate: Rate
  readonly #bucketsMax: number
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate, bucketsMax = 50_000) {
    this.#rate = rate
    this.#bucketsMax = bucketsMax
  }

  /** Takes one request from the caller's bucket if there is one, and returns its state. `nowMs` is monotonic. */
  take(caller: string, nowMs: number): Allowance {
    const bucket = this.#bucketOf(caller, nowMs)
    const granted = bucket.tokens >= 1
    if (granted) bucket.tokens -= 1
    return this.#allowance(bucket, granted)
  }

  /** Whether a request could be made, without making it. */
  peek(caller: string, nowMs: number): Allowance {
    const bucket = this.#buckets.has(caller) ? this.#bucketOf(caller, nowMs) : { tokens: this.#rate.burst, at: nowMs }
    return this.#allowance(bucket, bucket.tokens >= 1)
  }

  /** Returns one granted {@link take} that led to nothing. */
  giveBack(caller: string): void {
    const bucket = this.#buckets.get(caller)
    if (bucket !== undefined) bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + 1)
  }

  #allowance({ tokens }: Bucket, granted: boolean): Allowance {
    const { perSecond, burst } = this.#rate
    return {
      limit: burst,
      remaining: Math.floor(tokens),
      resetSeconds: Math.ceil((burst - tokens) / perSecond),
      retryAfterSeconds: granted ? null : Math.max(1, Math.ceil((1 - tokens) / perSecond))
    }
  }

  #bucketOf(caller: string, nowMs: number): Bucket {
    const { perSecond, burst } = this.#rate
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
    const { perSecond, burst } = this.#rate
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
