import { BrokerFault } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'

/** What it takes to give up in good order, and to say whether anything was sent. */
const GRACE_MS = 1_000

/**
 * Asks a broker for something, for `ms` at most and no longer than `outer` lasts: then `work`'s signal aborts. Work that does not heed it is
 * given up a moment later, so that an adapter's fault does not hold anyone else up; its result is discarded.
 * @throws what `work` throws; BrokerFault unreachable when it was given up.
 */
export async function limited<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>, outer?: AbortSignal): Promise<T> {
  const late = new AbortController()
  const done = new AbortController()
  const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal])
  const givenUp = async (): Promise<never> => {
    const ended = outer === undefined ? done.signal : AbortSignal.any([outer, done.signal])
    await clock.sleep(ms, ended).catch(() => done.signal.throwIfAborted())
    late.abort(new BrokerFault('unreachable', `the broker did not answer within ${ms} ms`))
    await clock.sleep(GRACE_MS, done.signal)
    throw new BrokerFault('unreachable', `the broker did not answer within ${ms} ms, nor was it given up`)
  }
  try {
    return await Promise.race([work(signal), givenUp()])
  } finally {
    done.abort()
  }
}
