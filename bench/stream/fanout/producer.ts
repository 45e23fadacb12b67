import { once } from 'node:events'
import type { Socket } from 'node:net'

export interface ProducerOptions {
  readonly users: number
  readonly eventsPerTick: number
  /** The sockets whose buffers must be empty before the next turn. */
  readonly sockets: () => Iterable<Socket>
  /** Makes one event of the user. */
  readonly produce: (user: number) => void
  /** Called after the events of a turn. */
  readonly onTickEnd?: () => void
}

/** Consecutive events are of users far apart, and every user is covered. Prime, so that it fits any number of users. */
const STRIDE = 7_919

/**
 * Makes events as fast as they can be sent: a fixed number per turn of the event loop, and the next ones once no socket has bytes waiting.
 * The service and its floors use this same loop.
 */
export class Producer {
  readonly #options: ProducerOptions
  readonly #events: Uint32Array
  #running: Promise<void> | null = null
  #isOver = false
  #next = 0

  constructor(options: ProducerOptions) {
    this.#options = options
    this.#events = new Uint32Array(options.users)
  }

  start(): void {
    this.#isOver = false
    this.#running ??= this.#run()
  }

  /** Resolves when the sockets' buffers are empty. Returns each user's number of events since the first start. */
  async stop(): Promise<Uint32Array> {
    this.#isOver = true
    await this.#running
    this.#running = null
    return this.#events
  }

  async #run(): Promise<void> {
    const { users, eventsPerTick, produce, onTickEnd } = this.#options
    while (!this.#isOver) {
      for (let made = 0; made < eventsPerTick; made += 1) {
        const user = this.#next
        this.#next = (this.#next + STRIDE) % users
        this.#events[user] = (this.#events[user] ?? 0) + 1
        produce(user)
      }
      onTickEnd?.()
      await new Promise(setImmediate)
      await this.#drained()
    }
  }

  async #drained(): Promise<void> {
    for (;;) {
      const full = [...this.#options.sockets()].filter(socket => socket.writableNeedDrain && !socket.destroyed)
      if (full.length === 0) return
      await Promise.all(full.map(socket => Promise.race([once(socket, 'drain'), once(socket, 'close')])))
      // What waited behind the buffer has been written by now, or is written in this turn.
      await new Promise(setImmediate)
    }
  }
}
