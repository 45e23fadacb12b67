import { placesOf, secondsOf } from './format.js'

/** @import { Bar } from './wire.js' */

/**
 * A bar as the chart draws it, with the texts that were received.
 * @typedef {{ time: number, open: number, high: number, low: number, close: number, volume: number, texts: Bar }} Drawn
 */

/** The bars of one series, ascending, with one bar for each start, in whatever order they arrive. */
export class BarList {
  /** @type {Drawn[]} */ #bars = []
  #places = 0

  /** @returns {readonly Drawn[]} */
  get all() {
    return this.#bars
  }

  /** The most decimal places of any of the prices. */
  get places() {
    return this.#places
  }

  /** @returns {Drawn | undefined} */
  get last() {
    return this.#bars.at(-1)
  }

  /** Start of the oldest bar, in seconds since the epoch. */
  get oldest() {
    return this.#bars[0]?.time ?? null
  }

  /**
   * Inserts or replaces a bar. An open bar never replaces a closed one.
   * @param {Bar} bar
   * @returns {{ readonly bar: Drawn, readonly isNewest: boolean }} whether it is the newest bar
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
   * Inserts older bars at the front. Existing bars stay. Returns how many were new.
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
 * A time as the chart's library wants it.
 * @param {number} seconds since the epoch
 * @returns {import('lightweight-charts').UTCTimestamp}
 */
export function at(seconds) {
  return /** @type {import('lightweight-charts').UTCTimestamp} */ (seconds)
}

/**
 * @param {Bar} bar
 * @returns {Drawn}
 */
function drawnOf(bar) {
  // Numbers are precise enough for pixels. The figures shown beside the chart are the received texts.
  const [open, high, low, close, volume] = [bar.o, bar.h, bar.l, bar.c, bar.v].map(Number)
  return { time: secondsOf(bar.ts), open: open ?? 0, high: high ?? 0, low: low ?? 0, close: close ?? 0, volume: volume ?? 0, texts: bar }
}
