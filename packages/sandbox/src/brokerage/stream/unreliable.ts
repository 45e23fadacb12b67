/** Sends the frames of a stream, subject to the faults of the login's streams. */

import type { StreamFaultState } from './stream-faults.ts'

export interface UnreliableDeps {
  /** Real time in milliseconds. */
  readonly now: () => number
  /** The faults of the login's streams. */
  readonly faults: () => readonly StreamFaultState[]
  /** Writes a frame. */
  readonly out: (frame: string) => void
}

export class Unreliable {
  readonly #deps: UnreliableDeps
  #reordering: string[] = []

  constructor(deps: UnreliableDeps) {
    this.#deps = deps
  }

  /** An event: it can be lost, repeated, delayed, or sent after later ones. */
  event(frame: string): void {
    const faults = this.#deps.faults()
    if (faults.length === 0) {
      // Out of order means late, not lost.
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

  /** Any other frame, such as a heartbeat or an answer: it can be delayed, or dropped while the stream is mute. */
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
