/** The dependencies of every broker. */

import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'

export interface BrokerDeps {
  readonly clock: Clock
  /** A fraction in [0, 1), for jitter. */
  readonly fraction: () => number
  readonly log: Log
  readonly meter: Meter
  /** The part of a quota of the whole application that this process may use, 0 to 1; absent: all of it. */
  readonly quotaShare?: () => number
}
