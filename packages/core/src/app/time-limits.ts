import { BrokerFault } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'

/** The result of `work`, or null after `ms`. `work` continues in either case; its owner handles a later rejection. */
export async function within<T>(clock: Clock, work: Promise<T>, ms: number): Promise<T | null> {
  const alarm = new AbortController()
  const late = clock.sleep(ms, alarm.signal).then(
    () => null,
    () => null
  )
  try {
    return await Promise.race([work, late])
  } finally {
    alarm.abort()
  }
}

/** Time for an aborted call to stop and to report whether anything was sent. */
const GRACE_MS = 1_000

/**
 * Calls a broker, for `ms` at most and no longer than `outer` permits: then `work`'s signal aborts. Work that ignores the signal is
 * abandoned a moment later, so that a faulty adapter blocks no caller; its result is discarded.
 * @throws what `work` throws; BrokerFault `unreachable` if it was abandoned.
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
    throw new BrokerFault('unreachable', `the broker did not answer within ${ms} ms, and the call could not be aborted`)
  }
  try {
    return await Promise.race([work(signal), givenUp()])
  } finally {
    done.abort()
  }
}
