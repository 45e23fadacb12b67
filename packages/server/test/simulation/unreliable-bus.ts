// A bus between the parts of one life whose hints are late, out of order or lost, as those between nodes may be.
import type { Bus, BusMessage, BusMessageType } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Life } from './life.ts'

/** When a message is delivered: after each of these milliseconds once; never when there are none. */
export type BusRoute = (message: BusMessage) => readonly number[]

export class UnreliableBus implements Bus {
  readonly #clock: Clock
  readonly #life: Life
  readonly #route: BusRoute
  readonly #listeners = new Map<(message: BusMessage) => void, readonly BusMessageType[] | undefined>()

  constructor(clock: Clock, life: Life, route: BusRoute) {
    this.#clock = clock
    this.#life = life
    this.#route = route
  }

  publish(message: BusMessage): void {
    for (const afterMs of this.#route(message)) {
      if (afterMs === 0) this.#deliver(message)
      else
        void this.#life.lived(this.#clock.sleep(afterMs)).then(() => {
          this.#deliver(message)
        })
    }
  }

  subscribe(listener: (message: BusMessage) => void, types?: readonly BusMessageType[]): () => void {
    this.#listeners.set(listener, types)
    return () => this.#listeners.delete(listener)
  }

  follow(): Disposable {
    return { [Symbol.dispose]() {} }
  }

  #deliver(message: BusMessage): void {
    for (const [listener, types] of this.#listeners) if (types?.includes(message.type) !== false) listener(message)
  }
}
