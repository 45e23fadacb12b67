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
