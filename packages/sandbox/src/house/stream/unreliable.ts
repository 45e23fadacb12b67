/** How frames leave a stream: rightly, or as whatever is wrong with the login's streams wants it. */

import type { Mischief } from './mischief.ts'

export interface UnreliableDeps {
  /** Real time in milliseconds. */
  readonly now: () => number
  /** What is wrong with the streams of the login this one belongs to. */
  readonly wrongs: () => readonly Mischief[]
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
    const wrongs = this.#deps.wrongs()
    if (wrongs.length === 0) {
      // Out of order is late, not lost.
      for (const held of this.#reordering.splice(0).reverse()) this.#deps.out(held)
      this.#deps.out(frame)
      return
    }
    if (wrongs.some(wrong => wrong.loses())) return
    const frames = wrongs.some(wrong => wrong.duplicatesNext()) ? [frame, frame] : [frame]
    const window = Math.max(...wrongs.map(wrong => wrong.window))
    if (window < 2) {
      this.#all(frames, wrongs)
      return
    }
    this.#reordering.push(...frames)
    if (this.#reordering.length >= window) this.#all(this.#reordering.splice(0).reverse(), wrongs)
  }

  /** Anything else, such as heartbeats and answers: it can only be held up, or kept back while the stream is mute. */
  say(frame: string): void {
    this.#all([frame], this.#deps.wrongs())
  }

  #all(frames: readonly string[], wrongs: readonly Mischief[]): void {
    if (wrongs.some(wrong => wrong.mutedUntil > this.#deps.now())) return
    const delay = Math.max(0, ...wrongs.map(wrong => wrong.delayMs))
    const tell = () => {
      for (const frame of frames) this.#deps.out(frame)
    }
    if (delay === 0) tell()
    else setTimeout(tell, delay).unref()
  }
}
