import { within } from '@trunkline/core/app/time-limits'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'

interface Part {
  readonly name: string
  readonly stop: () => Promise<void>
}

/** Started parts, to be stopped in reverse. A part that fails or hangs does not prevent the others from stopping. */
export class Parts {
  readonly #parts: Part[] = []
  readonly #clock: Clock
  readonly #log: Log
  #stopping: Promise<void> | null = null

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** Call it before the part is started: a part that fails half-way is stopped too. */
  add(name: string, stop: () => Promise<void>): void {
    this.#parts.push({ name, stop })
  }

  /** Stops everything once, each part within `msEach`. */
  stop(msEach: number): Promise<void> {
    this.#stopping ??= this.#stop(msEach)
    return this.#stopping
  }

  async #stop(msEach: number): Promise<void> {
    for (const { name, stop } of this.#parts.toReversed()) {
      const stopped = stop().then(
        () => true,
        cause => {
          this.#log.error('a part did not stop cleanly', { part: name, cause })
          return true
        }
      )
      if ((await within(this.#clock, stopped, msEach)) === null) this.#log.error('a part did not stop in time', { part: name, ms: msEach })
    }
  }
}
