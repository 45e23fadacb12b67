// Time that moves only on command, so that a trading day runs in a moment and the same steps give the same day.
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/** A Monday within the trading session: 2026-01-05T15:00:00Z. */
const START_MS = Date.UTC(2026, 0, 5, 15)
/** Idle turns of the event loop before time moves. */
const QUIET_TICKS = 2
/** This many turns at one time mean an endless loop. */
const STANDSTILL_TICKS = 100_000

export class VirtualClock implements Clock {
  #passedMs = 1_000
  #startMs: number
  readonly #sleepers = new Set<Sleeper>()
  /** Turns since time last moved. */
  #ticks = 0
  #ticksYielded = 0
  #rest: () => Promise<boolean> = async () => false

  constructor(startMs = START_MS) {
    this.#startMs = startMs - this.#passedMs
  }

  now(): Timestamp {
    return timestampOfMs(this.#startMs + this.#passedMs)
  }

  monotonicMs(): number {
    return this.#passedMs
  }

  /** Sets the wall clock forward or back by this time; the monotonic clock is unchanged. */
  setWall(byMs: number): void {
    this.#startMs += byMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const giveUp = () => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      // Whole milliseconds, as timers have: the rest of a fraction would never pass.
      const sleeper: Sleeper = { until: this.#passedMs + Math.max(0, Math.ceil(ms)), wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  alarm(ms: number, ring: () => void): Disposable {
    const sleeper: Sleeper = { until: this.#passedMs + Math.max(0, Math.ceil(ms)), wake: ring }
    this.#sleepers.add(sleeper)
    return { [Symbol.dispose]: () => void this.#sleepers.delete(sleeper) }
  }

  async nextTurn(): Promise<void> {
    this.#ticksYielded += 1
  }

  /** How often other work was given a turn. */
  get ticksYielded(): number {
    return this.#ticksYielded
  }

  /** Sleepers, and alarms that were not cancelled. */
  get sleepers(): number {
    return this.#sleepers.size
  }

  /** Waits for work outside the event loop, such as a database's; returns whether there was any. Without it only promises are awaited. */
  restWith(rest: () => Promise<boolean>): void {
    this.#rest = rest
  }

  /** Waits until no task has work left. Time does not move. @throws Error if that never happens */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TICKS; ) {
      this.#ticks += 1
      if (this.#ticks > STANDSTILL_TICKS) throw new Error(`time stands still at ${this.#passedMs} ms: some task works without end`)
      await new Promise<void>(resolve => setImmediate(resolve))
      quiet = (await this.#rest()) ? 0 : quiet + 1
    }
  }

  /** Moves time from sleeper to sleeper; each does its work before time moves again. */
  async advance(ms: number): Promise<void> {
    const end = this.#passedMs + ms
    await this.settled()
    while (this.#step(end)) await this.settled()
    this.#pass(end)
  }

  /** Moves time until `condition` holds. @throws Error after `limitMs` of virtual time, naming the condition */
  async until(condition: () => boolean | Promise<boolean>, what: string, limitMs = 3_600_000): Promise<void> {
    const end = this.#passedMs + limitMs
    await this.settled()
    while (!(await condition())) {
      if (!this.#step(end)) throw new Error(`waited ${limitMs} ms of virtual time in vain until ${what}`)
      await this.settled()
    }
  }

  /** Wakes the earliest sleepers, all of one time together; false if there is none by `end`. */
  #step(end: number): boolean {
    const next = Math.min(...[...this.#sleepers].map(({ until }) => until))
    if (!(next <= end)) return false
    this.#pass(Math.max(this.#passedMs, next))
    for (const sleeper of [...this.#sleepers]) {
      if (sleeper.until > this.#passedMs) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
    return true
  }

  #pass(toMs: number): void {
    if (toMs > this.#passedMs) this.#ticks = 0
    this.#passedMs = toMs
  }
}
