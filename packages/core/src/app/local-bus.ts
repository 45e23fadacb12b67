import { BUS_MESSAGE_TYPES, type Bus, type BusMessage, type BusMessageType } from '@trunkline/core/ports/bus'
import type { Log } from '@trunkline/core/ports/log'

type Listener = (message: BusMessage) => void

const NOTHING: Disposable = { [Symbol.dispose]() {} }

/** The bus of a single node: delivers at once, in the order published. */
export class LocalBus implements Bus {
  /** By type, because most messages are events, and most listeners want none of them. */
  readonly #listeners: ReadonlyMap<BusMessageType, Set<Listener>> = new Map(BUS_MESSAGE_TYPES.map(type => [type, new Set<Listener>()]))
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  publish(message: BusMessage): void {
    for (const listener of this.#listeners.get(message.type) ?? []) {
      try {
        listener(message)
      } catch (cause) {
        this.#log.error('a listener of the bus failed', { type: message.type, cause })
      }
    }
  }

  subscribe(listener: Listener, types: readonly BusMessageType[] = BUS_MESSAGE_TYPES): () => void {
    for (const type of types) this.#listeners.get(type)?.add(listener)
    return () => {
      for (const type of types) this.#listeners.get(type)?.delete(listener)
    }
  }

  /** There is no other node. */
  follow(): Disposable {
    return NOTHING
  }
}
