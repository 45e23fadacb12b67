import { originOf } from './by-origin.ts'
import { type Rate, RateLimiter } from './rate-limit.ts'

/** The limit of a network is that of so many addresses: changing addresses within it gains little. */
const NETWORK_TIMES = 4

/** A rate for each address (IPv4, or IPv6 /64), and four times that for each network (/24, /48). */
export class OriginLimiter {
  readonly #addresses: RateLimiter
  readonly #networks: RateLimiter

  constructor({ perSecond, burst }: Rate) {
    this.#addresses = new RateLimiter({ perSecond, burst })
    this.#networks = new RateLimiter({ perSecond: NETWORK_TIMES * perSecond, burst: NETWORK_TIMES * burst })
  }

  /**
   * Takes one; returns the seconds until the next, or null if this one is granted. A refusal for the address uses up nothing of its
   * network's.
   */
  take(ip: string, nowMs: number): number | null {
    const origin = originOf(ip)
    if (origin === null) return null
    const { retryAfterSeconds } = this.#addresses.take(origin.address, nowMs)
    return retryAfterSeconds ?? this.#networks.take(origin.network, nowMs).retryAfterSeconds
  }
}
