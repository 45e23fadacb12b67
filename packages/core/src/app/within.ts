import type { Clock } from '../ports/clock.ts'

/** What `work` gives, or null when `ms` pass first. `work` goes on either way; its later rejection is its owner's. */
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
