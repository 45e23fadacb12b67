import type { BrokerDeps } from '../../../packages/brokers/src/kit/deps.ts'
import { TokenSource } from '../../../packages/brokers/src/kit/tokens.ts'
import { timestampOfMs } from '../../../packages/core/src/domain/timestamp.ts'
import type { Clock } from '../../../packages/core/src/ports/clock.ts'

const NOTHING: Disposable = { [Symbol.dispose]: () => undefined }

/** Time passes, but nothing rings: what an adapter would do beside reading is left undone. */
const clock: Clock = {
  now: () => timestampOfMs(performance.timeOrigin + performance.now()),
  monotonicMs: () => performance.now(),
  sleep: () => never(),
  alarm: () => NOTHING,
  nextTurn: () => never()
}

const fail = (message: string, fields?: unknown) => {
  throw new Error(`an adapter complained: ${message} ${JSON.stringify(fields)}`)
}

/** For adapters that are measured: whatever they would complain of ends the run. */
export const STILL: BrokerDeps = {
  clock,
  fraction: () => 0.5,
  log: { debug: () => undefined, info: () => undefined, warn: fail, error: fail },
  meter: { count: name => fail(name), observe: () => undefined }
}

export function never(): Promise<never> {
  return new Promise(() => undefined)
}

/** A login whose token neither ends nor is asked for. */
export function still(): TokenSource {
  return new TokenSource({
    holder: { read: async () => ({ token: 'token' }), renew: async used => used },
    clock,
    log: STILL.log,
    tokenOf: () => ({ token: 'token', issuedAt: null, expiresAt: null }),
    refresh: never
  })
}
