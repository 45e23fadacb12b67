// How often an address may fail, apart for each way in: wrong keys or logins of others behind a proxy keep no code out. And how much of the
// database visitors take at once, who need no credentials for it: orders wait in the same queue.
import { CODES, type LookUps, type OperatorLimits } from '@trunkline/core/app/operators/access'
import type { Bus } from '@trunkline/core/ports/bus'
import { FailedAttempts, type UnderWay } from '../auth/failed-attempts.ts'
import type { Rate } from '../auth/rate-limit.ts'
import { Places } from './places.ts'

/** As at the platforms' API. */
const FAILURES: Rate = { perSecond: 1, burst: 300 }
/** Each costs requests to the provider, and a note in the database. */
const PROVIDER_FAILURES: Rate = { perSecond: 0.2, burst: 20 }

/** More than the six requests that a browser has under way: after a start none of its secrets is known to be good. */
const UNDER_WAY: UnderWay = { ofAddress: 8, inAll: 16 }
/** Each may wait for the provider for seconds. */
const PROVIDER_UNDER_WAY: UnderWay = { ofAddress: 4, inAll: 8 }
/**
 * Look-ups under way by codes, sessions and keys together. Those of secrets that nobody knows take 48 of them at most, so 16 are left to
 * operators, as many as their requests have places. As many as requests that wait for events: when the wait ends, each is proven again.
 */
const LOOK_UPS = 64

export interface WaysIn extends Disposable {
  readonly code: OperatorLimits
  readonly session: OperatorLimits
  readonly key: OperatorLimits
  readonly provider: OperatorLimits
  readonly lookUps: LookUps
}

/** @param bus says which codes were made: these are looked up even where others of the address have failed too often. */
export function waysIn(monotonicMs: () => number, bus: Pick<Bus, 'subscribe'>): WaysIn {
  const counted = (rate = FAILURES, underWay = UNDER_WAY) => new FailedAttempts(rate, monotonicMs, undefined, underWay)
  const code = counted()
  const unsubscribe = bus.subscribe(
    message => {
      if (message.type !== 'secret_issued' || message.name !== CODES) return
      code.proved({ of: 'key', address: null, name: null, secretHash: message.secretHash })
    },
    ['secret_issued']
  )
  const provider = counted(PROVIDER_FAILURES, PROVIDER_UNDER_WAY)
  return { code, session: counted(), key: counted(), provider, lookUps: new Places(LOOK_UPS), [Symbol.dispose]: unsubscribe }
}
