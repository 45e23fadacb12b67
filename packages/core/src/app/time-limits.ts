import { BrokerFault } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'

/** The result of `work`, or null after `ms`. `work` continues in either case; its owner handles a later rejection. */
export function within<T>(clock: Clock, work: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const alarm = clock.alarm(ms, () => resolve(null))
    work.then(
      value => {
        alarm[Symbol.dispose]()
        resolve(value)
      },
      cause => {
        alarm[Symbol.dispose]()
        reject(cause)
      }
    )
  })
}

/** Time for an aborted call to stop and to report whether anything was sent. */
const GRACE_MS = 1_000

/**
 * Calls a broker, for `ms` at most and no longer than `outer` permits: then `work`'s signal aborts. Work that ignores the signal is
 * abandoned a moment later, so that a faulty adapter blocks no caller; its result is discarded.
 * @throws what `work` throws; BrokerFault `unreachable` if it was abandoned.
 */
export function limited<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>, outer?: AbortSignal): Promise<T> {
  const late = new AbortController()
  const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal])
  return new Promise((resolve, reject) => {
    let alarm: Disposable | null = null
    const settled = () => {
      alarm?.[Symbol.dispose]()
      outer?.removeEventListener('abort', stop)
    }
    const stop = () => {
      settled()
      late.abort(new BrokerFault('unreachable', `the broker did not answer within ${ms} ms`))
      alarm = clock.alarm(GRACE_MS, () =>
        reject(new BrokerFault('unreachable', `the broker did not answer within ${ms} ms, and the call could not be aborted`))
      )
    }
    work(signal).then(
      value => {
        settled()
        resolve(value)
      },
      cause => {
        settled()
        reject(cause)
      }
    )
    if (outer?.aborted === true) stop()
    else {
      alarm = clock.alarm(ms, stop)
      outer?.addEventListener('abort', stop, { once: true })
    }
  })
}
