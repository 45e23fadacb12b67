import { ServiceError } from '@trunkline/core/domain/errors'
import type { Clock } from '@trunkline/core/ports/clock'
import { OriginLimiter } from '../auth/origin-limiter.ts'
import type { HttpLimits } from './options.ts'

const TOO_MANY = 'Too many requests from this address. Wait as long as the retry-after header says, then go slower.'

/** What is asked of a request here. */
interface Requester {
  readonly ip: string
  readonly routeOptions: { readonly config?: { readonly limit?: 'probe' | 'page' | 'credentials' } }
}

/**
 * Bounds what one address, and one network, may ask for without credentials, before anything is looked up or made. Health checks are counted
 * apart, so that a flood of pages by the same way in does not make the service look dead. Endpoints with credentials count their own failures;
 * only what is refused before it gets there is counted here.
 */
export class AddressLimits {
  readonly #clock: Clock
  readonly #limiters: Readonly<Record<'page' | 'probe', OriginLimiter>>

  constructor(clock: Clock, { page, probe }: Pick<HttpLimits, 'page' | 'probe'>) {
    this.#clock = clock
    this.#limiters = { page: new OriginLimiter(page), probe: new OriginLimiter(probe) }
  }

  /** What to answer instead, when the address has sent too many requests. `isRefused`: the request leads nowhere, wherever it was meant to go. */
  refusal({ ip, routeOptions }: Requester, isRefused = false): ServiceError | null {
    const limit = routeOptions.config?.limit ?? 'page'
    if (limit === 'credentials' && !isRefused) return null
    const retryAfterSeconds = this.#limiters[limit === 'probe' ? 'probe' : 'page'].take(ip, this.#clock.monotonicMs())
    return retryAfterSeconds === null ? null : new ServiceError('rate_limited', TOO_MANY, { retryAfterSeconds })
  }
}
