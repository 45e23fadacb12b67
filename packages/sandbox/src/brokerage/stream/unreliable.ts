/** How frames leave a stream: rightly, or as whatever is wrong with the login's streams wants it. */

import type { StreamFaultState } from './stream-faults.ts'

export interface UnreliableDeps {
  /** Real time in milliseconds. */
  readonly now: () => number
  /** What is wrong with the streams of the login this one belongs to. */
  readonly faults: () => readonly StreamFaultState[]
  /** Puts a frame on the wire. */
  readonly out: (frame: string) => void
}

export class Unreliable {
  readonly #deps: UnreliableDeps
  #reordering: string[] = []

  constructor(deps: UnreliableDeps) {
    this.#deps = deps
  }

  /** Something that happened: it can be lost, repeated, held up, or told after what came later. */
  event(frame: string): void {
    const faults = this.#deps.faults()
    if (faults.length === 0) {
      // Out of order is late, not lost.
      for (const held of this.#reordering.splice(0).reverse()) this.#deps.out(held)
      this.#deps.out(frame)
      return
    }
    if (faults.some(fault => fault.loses())) return
    const frames = faults.some(fault => fault.duplicatesNext()) ? [frame, frame] : [frame]
    const window = Math.max(...faults.map(fault => fault.window))
    if (window < 2) {
      this.#all(frames, faults)
      return
    }
    this.#reordering.push(...frames)
    if (this.#reordering.length >= window) this.#all(this.#reordering.splice(0).reverse(), faults)
  }

  /** Anything else, such as heartbeats and answers: it can only be held up, or kept back while the stream is mute. */
  send(frame: string): void {
    this.#all([frame], this.#deps.faults())
  }

  #all(frames: readonly string[], faults: readonly StreamFaultState[]): void {
    if (faults.some(fault => fault.mutedUntil > this.#deps.now())) return
    const delay = Math.max(0, ...faults.map(fault => fault.delayMs))
    const sendAll = () => {
      for (const frame of frames) this.#deps.out(frame)
    }
    if (delay === 0) sendAll()
    else setTimeout(sendAll, delay).unref()
  }
}
