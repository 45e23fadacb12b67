import { ServiceError } from '@trunkline/core/domain/errors'
import type { Clock } from '@trunkline/core/ports/clock'
import { OriginLimiter } from '../auth/origin-limiter.ts'
import type { HttpLimits } from './options.ts'

const TOO_MANY = 'Too many requests from this address. Wait for the time in the retry-after header, then send fewer.'

interface Requester {
  readonly ip: string
  readonly routeOptions: { readonly config?: { readonly limit?: 'probe' | 'page' | 'credentials' } }
}

/**
 * Limits requests without credentials, per address and per network, before any work is done for them. Health checks have a separate limit,
 * so that a flood of page requests through the same proxy does not make the service look dead. Endpoints with credentials count their own
 * failures; of their requests, only those refused before they reach the endpoint count here.
 */
export class AddressLimits {
  readonly #clock: Clock
  readonly #limiters: Readonly<Record<'page' | 'probe', OriginLimiter>>

  constructor(clock: Clock, { page, probe }: Pick<HttpLimits, 'page' | 'probe'>) {
    this.#clock = clock
    this.#limiters = { page: new OriginLimiter(page), probe: new OriginLimiter(probe) }
  }

  /** The error to return if the address has sent too many requests, else null. `isRefused`: the request will be refused at any endpoint. */
  refusal({ ip, routeOptions }: Requester, isRefused = false): ServiceError | null {
    const limit = routeOptions.config?.limit ?? 'page'
    if (limit === 'credentials' && !isRefused) return null
    const retryAfterSeconds = this.#limiters[limit === 'probe' ? 'probe' : 'page'].take(ip, this.#clock.monotonicMs())
    return retryAfterSeconds === null ? null : new ServiceError('rate_limited', TOO_MANY, { retryAfterSeconds })
  }
}
