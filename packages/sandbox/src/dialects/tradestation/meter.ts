/** How much of each quota a login has used, in windows that begin with their first request. */

import { type Modes, shareOf } from './options.ts'
import type { Quota } from './resources.ts'

export interface Metered {
  readonly quota: Quota
  readonly remaining: number
  /** Seconds until the quota is whole again. */
  readonly resetS: number
  readonly isOver: boolean
}

interface Window {
  readonly endsAt: number
  used: number
}

/** Windows kept; the oldest make room, and begin again when they are asked for again. */
const WINDOWS_MAX = 10_000

export class Meter {
  readonly #modes: Modes
  readonly #now: () => number
  readonly #windows = new Map<string, Window>()

  /** `now`: real milliseconds. */
  constructor(modes: Modes, now: () => number) {
    this.#modes = modes
    this.#now = now
  }

  /** Counts one request; one beyond the limit is not counted. */
  use(login: string, quota: Quota): Metered {
    const window = this.#windowOf(login, quota)
    const limit = shareOf(quota.limit, this.#modes.now.quotaPercent)
    const isOver = window.used >= limit
    if (!isOver) window.used++
    return {
      quota: { ...quota, limit },
      remaining: Math.max(0, limit - window.used),
      resetS: Math.max(1, Math.ceil((window.endsAt - this.#now()) / 1_000)),
      isOver
    }
  }

  reset(): void {
    this.#windows.clear()
  }

  #windowOf(login: string, { resource, periodS }: Quota): Window {
    const key = `${login} ${resource}`
    const known = this.#windows.get(key)
    if (known !== undefined && known.endsAt > this.#now()) return known
    const fresh = { endsAt: this.#now() + periodS * 1_000, used: 0 }
    this.#windows.delete(key)
    this.#windows.set(key, fresh)
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= WINDOWS_MAX) break
      this.#windows.delete(oldest)
    }
    return fresh
  }
}

export function quotaHeaders({ quota, remaining, resetS }: Metered): Readonly<Record<string, string>> {
  return {
    'X-RateLimit-Limit': String(quota.limit),
    'X-RateLimit-Period': String(quota.periodS),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetS),
    'X-RateLimit-Resource': quota.resource
  }
}
