/** The 1-minute bar of a subscribed symbol, built from the trades that the stream publishes. */

import type { Micros } from '../../engine/types.ts'
import { isPriced, joined, printBar, type RawBar } from '../../market/bar-series.ts'
import type { FeedTrade } from '../../market/types.ts'

const MINUTE: Micros = 60_000_000
/** An open bar is published at most four times a second. */
const PUBLISH_EVERY_MS = 250

/** The receivers of a symbol's bars. */
export interface BarSink {
  readonly open: (bar: RawBar) => void
  readonly closed: (bar: RawBar) => void
}

/** The trades of a minute before its first reader (null: none), up to the first trade added; or those of the whole minute. */
export interface Beginning {
  readonly bar: RawBar | null
  readonly whole: boolean
}

export class LiveBar {
  readonly #sink: BarSink
  #bar: RawBar | null = null
  #published = true
  #publishedAt = Number.NEGATIVE_INFINITY
  /** Minutes with trades while the beginning of the first is being looked up; null: it is known. */
  #early: RawBar[] | null = []

  constructor(sink: BarSink) {
    this.#sink = sink
  }

  /** The open bar, once its beginning is known. */
  get open(): RawBar | null {
    return this.#early === null && this.#bar !== null && isPriced(this.#bar) ? this.#bar : null
  }

  /** Sets the beginning of the first minute, which includes everything up to `through`. */
  begin({ bar, whole }: Beginning, through: Micros): void {
    const early = this.#early ?? []
    const minutes = whole && early[0]?.start === bar?.start ? early.slice(1) : early
    this.#early = null
    if (bar !== null) this.#bar = bar
    for (const minute of minutes) this.#join(minute)
    this.#published = this.#bar === null
    this.reach(through)
  }

  add({ at, price, size, effect }: Pick<FeedTrade, 'at' | 'price' | 'size' | 'effect'>): void {
    const print = printBar(at - (at % MINUTE), price, size, effect)
    if (this.#early === null) {
      this.#join(print)
      return
    }
    const last = this.#early.at(-1)
    if (last?.start === print.start) this.#early[this.#early.length - 1] = joined(last, print)
    else this.#early.push(print)
  }

  /** Everything up to and including this instant has been added: closes a minute that is over. */
  reach(through: Micros): void {
    if (this.#early === null && this.#bar !== null && through + 1 >= this.#bar.start + MINUTE) this.#close(this.#bar)
  }

  /** Publishes the open bar if it has changed and was not published just before. `now` in real milliseconds. */
  publish(now: number): void {
    if (this.#published || this.#bar === null || !isPriced(this.#bar) || this.#early !== null || now - this.#publishedAt < PUBLISH_EVERY_MS)
      return
    this.#published = true
    this.#publishedAt = now
    this.#sink.open(this.#bar)
  }

  #join(later: RawBar): void {
    if (this.#bar !== null && this.#bar.start !== later.start) this.#close(this.#bar)
    this.#bar = this.#bar === null ? later : joined(this.#bar, later)
    this.#published = false
  }

  #close(bar: RawBar): void {
    this.#bar = null
    this.#published = true
    if (isPriced(bar)) this.#sink.closed(bar)
  }
}
