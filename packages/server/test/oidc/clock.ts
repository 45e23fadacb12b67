import type { Clock } from '@trunkline/core/ports/clock'
import { SystemClock } from '../../src/ops/clock.ts'

/** Of the tests' own time, but for the time of day, which the real provider's tokens have. */
export function providerClock(clock: Pick<Clock, 'monotonicMs'>): Pick<Clock, 'monotonicMs' | 'now'> {
  const system = new SystemClock()
  return { monotonicMs: () => clock.monotonicMs(), now: () => system.now() }
}
