import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'

/**
 * Publishers are processes, and a living one sends something each second. One that was silent for a day has ended, or has other numbers by
 * then; what it sent before that is forgotten, so a recorded message of it may be played back once. A node that crashes each second makes
 * more than these in a day: those of a further one are dropped, since to forget one sooner would allow replays sooner.
 */
const SILENT_MS = 24 * 3_600_000
const PUBLISHERS_MAX = 65_536
const LOOK_MS = 60_000
const LOG_MS = 3_600_000

interface Publisher {
  readonly number: number
  readonly atMs: number
}

/** The numbers of the messages that came: each publisher's only rise, so a recorded message that is played back is known by its number. */
export class MessageNumbers {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #log: Pick<Log, 'error'>
  /** The highest number of each, and when it came. */
  readonly #publishers = new Map<string, Publisher>()
  #lookedMs = Number.NEGATIVE_INFINITY
  #loggedMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonicMs'>, log: Pick<Log, 'error'>) {
    this.#clock = clock
    this.#log = log
  }

  /** Whether the number is above all that this publisher's messages had. */
  isNew(publisher: string, number: unknown): boolean {
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return false
    const atMs = this.#clock.monotonicMs()
    const before = this.#publishers.get(publisher)
    if (before === undefined ? !this.#takesAnother(atMs) : number <= before.number) return false
    this.#publishers.set(publisher, { number, atMs })
    return true
  }

  #takesAnother(nowMs: number): boolean {
    if (this.#publishers.size >= PUBLISHERS_MAX && nowMs - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = nowMs
      for (const [publisher, { atMs }] of this.#publishers) if (nowMs - atMs >= SILENT_MS) this.#publishers.delete(publisher)
    }
    if (this.#publishers.size < PUBLISHERS_MAX) return true
    if (nowMs - this.#loggedMs >= LOG_MS) {
      this.#loggedMs = nowMs
      const why = 'messages of another node over NATS are dropped: too many nodes have been started within a day; see why they end'
      this.#log.error(why, { nodes: PUBLISHERS_MAX })
    }
    return false
  }
}
