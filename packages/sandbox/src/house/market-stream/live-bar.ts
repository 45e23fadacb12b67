/** The 1-minute bar of a symbol that somebody reads, made of the very trades the stream tells. */

import type { Micros } from '../../engine/types.ts'
import { joined, printBar, type RawBar } from '../../market/bar-series.ts'

const MINUTE: Micros = 60_000_000
/** An open bar is told at most four times a second. */
const TOLD_EVERY_MS = 250

/** Where the bars of a symbol go. */
export interface BarSink {
  readonly open: (bar: RawBar) => void
  readonly closed: (bar: RawBar) => void
}

export class LiveBar {
  readonly #sink: BarSink
  #bar: RawBar | null = null
  #told = true
  #toldAt = Number.NEGATIVE_INFINITY
  /** Trades that came while the bar's beginning was still being looked up; null: it is known. */
  #early: { readonly at: Micros; readonly price: string; readonly size: string }[] | null = []

  constructor(sink: BarSink) {
    this.#sink = sink
  }

  /** The bar that is open, once its beginning is known. */
  get open(): RawBar | null {
    return this.#early === null ? this.#bar : null
  }

  /** What its minute had traded before anybody read it (null: nothing), up to the first trade added. `through`: everything is added up to there. */
  begin(bar: RawBar | null, through: Micros): void {
    const early = this.#early ?? []
    this.#early = null
    this.#bar = bar
    this.#told = bar === null
    for (const { at, price, size } of early) this.add(at, price, size)
    this.reach(through)
  }

  add(at: Micros, price: string, size: string): void {
    if (this.#early !== null) {
      this.#early.push({ at, price, size })
      return
    }
    const print = printBar(at - (at % MINUTE), price, size)
    if (this.#bar !== null && this.#bar.start !== print.start) this.#close(this.#bar)
    this.#bar = this.#bar === null ? print : joined(this.#bar, print)
    this.#told = false
  }

  /** Everything up to and including this instant has been added: a minute that is over then closes. */
  reach(through: Micros): void {
    if (this.#early === null && this.#bar !== null && through + 1 >= this.#bar.start + MINUTE) this.#close(this.#bar)
  }

  /** Tells the open bar if it has changed and was not told a moment ago. `now` in real milliseconds. */
  tell(now: number): void {
    if (this.#told || this.#bar === null || this.#early !== null || now - this.#toldAt < TOLD_EVERY_MS) return
    this.#told = true
    this.#toldAt = now
    this.#sink.open(this.#bar)
  }

  #close(bar: RawBar): void {
    this.#bar = null
    this.#told = true
    this.#sink.closed(bar)
  }
}
