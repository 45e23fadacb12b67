import { ServiceError } from '@trunkline/core/domain/errors'
import type { Clock } from '@trunkline/core/ports/clock'
import { addressGroup } from '../auth/address.ts'
import { RateLimiter } from '../auth/rate-limit.ts'
import type { HttpLimits } from './options.ts'

const TOO_MANY = 'Too many requests from this address. Wait as long as the retry-after header says, then go slower.'

/** What is asked of a request here. */
interface Asker {
  readonly ip: string
  readonly routeOptions: { readonly config?: { readonly limit?: 'probe' | 'page' | 'credentials' } }
}

/**
 * Bounds what one address may ask for without credentials, before anything is looked up or made. Health checks are counted apart, so that a
 * flood of pages by the same way in does not make the service look dead. Endpoints with credentials count their own failures.
 */
export class AddressLimits {
  readonly #clock: Clock
  readonly #limiters: Readonly<Record<'page' | 'probe', RateLimiter>>

  constructor(clock: Clock, { page, probe }: Pick<HttpLimits, 'page' | 'probe'>) {
    this.#clock = clock
    this.#limiters = { page: new RateLimiter(page), probe: new RateLimiter(probe) }
  }

  /** What to answer instead, when the address has asked too often. */
  refusal({ ip, routeOptions }: Asker): ServiceError | null {
    const kind = routeOptions.config?.limit ?? 'page'
    if (kind === 'credentials') return null
    const { retryAfterSeconds } = this.#limiters[kind].take(addressGroup(ip), this.#clock.monotonicMs())
    return retryAfterSeconds === null ? null : new ServiceError('rate_limited', TOO_MANY, { retryAfterSeconds })
  }
}
