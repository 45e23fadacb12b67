/** Requests counted against quotas, in windows of real time that each begin with their first request. */

export interface Quota {
  /** Whose requests of what. */
  readonly key: string
  readonly limit: number
  readonly periodMs: number
}

export interface QuotaState {
  readonly used: number
  readonly remaining: number
  /** Real time in milliseconds at which the quota is whole again. */
  readonly endsAt: number
}

interface Window {
  readonly endsAt: number
  used: number
}

/** Windows kept; the oldest make room, and begin again with their next request. */
const WINDOWS_MAX = 10_000

export class Quotas {
  readonly #now: () => number
  readonly #windows = new Map<string, Window>()

  /** `now` is real time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Counts a request; one beyond the limit is not counted. @returns whether it is within the limit */
  take(quota: Quota): boolean {
    const window = this.#windowOf(quota)
    if (window.used >= quota.limit) return false
    window.used++
    return true
  }

  state(quota: Quota): QuotaState {
    const { used, endsAt } = this.#windowOf(quota)
    return { used, remaining: Math.max(0, quota.limit - used), endsAt }
  }

  reset(): void {
    this.#windows.clear()
  }

  #windowOf({ key, periodMs }: Quota): Window {
    const known = this.#windows.get(key)
    if (known !== undefined && known.endsAt > this.#now()) return known
    const fresh = { endsAt: this.#now() + periodMs, used: 0 }
    this.#windows.delete(key)
    this.#windows.set(key, fresh)
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined && this.#windows.size > WINDOWS_MAX) this.#windows.delete(oldest)
    return fresh
  }
}
