import type { BrokerDeps } from '../../../packages/brokers/src/kit/deps.ts'
import { TokenSource } from '../../../packages/brokers/src/kit/tokens.ts'
import { timestampOfMs } from '../../../packages/core/src/domain/timestamp.ts'
import type { Clock } from '../../../packages/core/src/ports/clock.ts'

const NOTHING: Disposable = { [Symbol.dispose]: () => undefined }

/** A clock whose timers never fire: the adapter does nothing besides reading. */
const clock: Clock = {
  now: () => timestampOfMs(performance.timeOrigin + performance.now()),
  monotonicMs: () => performance.now(),
  sleep: () => never(),
  alarm: () => NOTHING,
  nextTurn: () => never()
}

const fail = (message: string, fields?: unknown) => {
  throw new Error(`an adapter logged: ${message} ${JSON.stringify(fields)}`)
}

/** For measured adapters: any logged warning or error ends the run. */
export const STILL: BrokerDeps = {
  clock,
  fraction: () => 0.5,
  log: { debug: () => undefined, info: () => undefined, warn: fail, error: fail },
  meter: { count: name => fail(name), observe: () => undefined }
}

export function never(): Promise<never> {
  return new Promise(() => undefined)
}

/** A login whose token never expires and is never requested. */
export function still(): TokenSource {
  return new TokenSource({
    holder: { read: async () => ({ token: 'token' }), renew: async used => used },
    clock,
    log: STILL.log,
    tokenOf: () => ({ token: 'token', issuedAt: null, expiresAt: null }),
    refresh: never
  })
}
