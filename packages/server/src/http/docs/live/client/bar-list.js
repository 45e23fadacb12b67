import { placesOf, secondsOf } from './format.js'

/** @import { Bar } from './wire.js' */

/**
 * A bar as the chart draws it, with the texts it came as.
 * @typedef {{ time: number, open: number, high: number, low: number, close: number, volume: number, texts: Bar }} Drawn
 */

/** The bars of one series, ascending and one for each start, however they arrive. */
export class BarList {
  /** @type {Drawn[]} */ #bars = []
  #places = 0

  /** @returns {readonly Drawn[]} */
  get all() {
    return this.#bars
  }

  /** The most places a price of them is written with. */
  get places() {
    return this.#places
  }

  /** @returns {Drawn | undefined} */
  get last() {
    return this.#bars.at(-1)
  }

  /** Start of the oldest, in seconds since the epoch. */
  get oldest() {
    return this.#bars[0]?.time ?? null
  }

  /**
   * Puts one in its place. A closed bar is never replaced by an open one.
   * @param {Bar} bar
   * @returns {{ readonly bar: Drawn, readonly isNewest: boolean }} whether none comes after it
   */
  put(bar) {
    const drawn = drawnOf(bar)
    for (const text of [bar.o, bar.h, bar.l, bar.c]) this.#places = Math.max(this.#places, placesOf(text))
    let at = this.#bars.length
    while (at > 0 && (this.#bars[at - 1]?.time ?? 0) > drawn.time) at -= 1
    const same = this.#bars[at - 1]
    if (same?.time !== drawn.time) this.#bars.splice(at, 0, drawn)
    else if (same.texts.st === 'o' || bar.st === 'c') this.#bars[at - 1] = drawn
    return { bar: drawn, isNewest: this.last?.time === drawn.time }
  }

  /**
   * Puts older ones in front; those that are there already stay. Gives how many were new.
   * @param {readonly Bar[]} bars ascending
   */
  putBefore(bars) {
    const oldest = this.oldest ?? Number.POSITIVE_INFINITY
    const older = bars.map(drawnOf).filter(({ time }) => time < oldest)
    for (const { o, h, l, c } of bars) for (const text of [o, h, l, c]) this.#places = Math.max(this.#places, placesOf(text))
    this.#bars = [...older, ...this.#bars]
    return older.length
  }
}

/**
 * @param {Bar} bar
 * @returns {Drawn}
 */
function drawnOf(bar) {
  // Pixels need no more than a binary number holds; what is written beside them are the texts.
  const [open, high, low, close, volume] = [bar.o, bar.h, bar.l, bar.c, bar.v].map(Number)
  return { time: secondsOf(bar.ts), open: open ?? 0, high: high ?? 0, low: low ?? 0, close: close ?? 0, volume: volume ?? 0, texts: bar }
}
