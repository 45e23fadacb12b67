// Waiting for the next event of a user, for a bounded time and by a bounded number of requests.
import type { IncomingMessage } from 'node:http'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Store } from '@trunkline/core/ports/store'

export const WAIT_SECONDS_MAX = 25
export const WAITS_MAX = 64
/** Events of users whom another node owns reach this one only while it follows them: so the log is looked at, too. */
const LOOK_MS = 1_000

export interface EventWaitsDeps {
  readonly store: { readonly users: Pick<Store['users'], 'findByKey'>; readonly events: Pick<Store['events'], 'last'> }
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
}

export class EventWaits {
  readonly #deps: EventWaitsDeps
  readonly #stopping = new AbortController()
  #waiting = 0

  constructor(deps: EventWaitsDeps) {
    this.#deps = deps
  }

  /** The service stops: all waits end now. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Resolves with the first event after `after`, after `ms`, if the request is gone or the service stops, or at once if too many wait. */
  async until(userKey: UserKey, after: number, ms: number, request: IncomingMessage): Promise<void> {
    const { store, clock } = this.#deps
    const end = clock.monotonicMs() + ms
    if (this.#waiting >= WAITS_MAX) return
    this.#waiting += 1
    try {
      // Nothing comes for a user who is not there: that is said at once.
      if ((await store.users.findByKey(userKey)) === null) return
      const { signal } = this.#stopping
      while ((await store.events.last(userKey)) <= after && !request.destroyed && !signal.aborted) {
        const left = end - clock.monotonicMs()
        if (left <= 0) return
        await clock.sleep(Math.min(LOOK_MS, left), signal).catch(() => undefined)
      }
    } finally {
      this.#waiting -= 1
    }
  }
}
