// How often an address may fail, apart for each way in: wrong keys or logins of others behind a proxy keep no code out.
import { CODES } from '@trunkline/core/app/operators/access'
import type { Bus } from '@trunkline/core/ports/bus'
import { FailedAttempts } from '../auth/failed-attempts.ts'
import type { Rate } from '../auth/rate-limit.ts'

/** As at the platforms' API. */
const FAILURES: Rate = { perSecond: 1, burst: 300 }
/** Each costs requests to the provider, and a note in the database. */
const PROVIDER_FAILURES: Rate = { perSecond: 0.2, burst: 20 }

export interface WaysIn extends Disposable {
  readonly code: FailedAttempts
  readonly session: FailedAttempts
  readonly key: FailedAttempts
  readonly provider: FailedAttempts
}

/** @param bus says which codes were made: these are looked up even where others of the address have failed too often. */
export function waysIn(monotonicMs: () => number, bus: Pick<Bus, 'subscribe'>): WaysIn {
  const counted = (rate: Rate) => new FailedAttempts(rate, monotonicMs)
  const code = counted(FAILURES)
  const unsubscribe = bus.subscribe(
    message => {
      if (message.type !== 'secret_issued' || message.name !== CODES) return
      code.proved({ of: 'key', address: null, name: null, secretHash: message.secretHash })
    },
    ['secret_issued']
  )
  return { code, session: counted(FAILURES), key: counted(FAILURES), provider: counted(PROVIDER_FAILURES), [Symbol.dispose]: unsubscribe }
}
