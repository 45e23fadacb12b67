/**
 * States that a broker pushes more often than they are of use, such as a balance after every execution: the first is published at once, and
 * then the newest at intervals, because each one that is published is also stored.
 */

import type { Clock } from '@trunkline/core/ports/clock'

interface Pause<State> {
  /** Pushed since the last one that was published. */
  newest: State | null
  readonly alarm: Disposable
}

export interface SpacedStatesOptions<State> {
  readonly clock: Pick<Clock, 'alarm'>
  /** From one published state of a key to the next. */
  readonly spacingMs: number
  readonly publish: (state: State) => void
}

export class SpacedStates<State> implements Disposable {
  readonly #options: SpacedStatesOptions<State>
  /** Of the keys that were published a short time ago. */
  readonly #pauses = new Map<string, Pause<State>>()

  constructor(options: SpacedStatesOptions<State>) {
    this.#options = options
  }

  put(key: string, state: State): void {
    const pause = this.#pauses.get(key)
    if (pause === undefined) this.#publish(key, state)
    else pause.newest = state
  }

  /** The next state waits, but for no longer than after one that was published, for {@link release}. */
  hold(key: string): void {
    if (!this.#pauses.has(key)) this.#pause(key)
  }

  /** What waits is published now. */
  release(key: string): void {
    const pause = this.#pauses.get(key)
    if (pause === undefined || pause.newest === null) return
    pause.alarm[Symbol.dispose]()
    this.#publish(key, pause.newest)
  }

  /** What waits is dropped: the account is read after every end of its stream. */
  [Symbol.dispose](): void {
    for (const { alarm } of this.#pauses.values()) alarm[Symbol.dispose]()
    this.#pauses.clear()
  }

  #publish(key: string, state: State): void {
    this.#pause(key)
    this.#options.publish(state)
  }

  #pause(key: string): void {
    const { clock, spacingMs } = this.#options
    this.#pauses.set(key, { newest: null, alarm: clock.alarm(spacingMs, () => this.#isOver(key)) })
  }

  #isOver(key: string): void {
    const newest = this.#pauses.get(key)?.newest ?? null
    this.#pauses.delete(key)
    if (newest !== null) this.#publish(key, newest)
  }
}
