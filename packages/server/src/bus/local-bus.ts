import type { Bus, BusMessage } from '@trunkline/core/ports/bus'
import type { Log } from '@trunkline/core/ports/log'

/** The bus of a single node: delivers at once, in the order published. */
export class LocalBus implements Bus {
  readonly #listeners = new Set<(message: BusMessage) => void>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  publish(message: BusMessage): void {
    for (const listener of this.#listeners) {
      try {
        listener(message)
      } catch (cause) {
        this.#log.error('a listener of the bus failed', { type: message.type, cause })
      }
    }
  }

  subscribe(listener: (message: BusMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
