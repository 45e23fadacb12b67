import { byId, onFrame } from './trading/elements.js'
import { figure, placesOf } from './trading/format.js'

/** @import { Bar, Quote, Trade } from './trading/wire.js' */

/** The line above the chart: the last price, and the best bid and ask. */
export class QuoteLine {
  #symbol = byId('quote-symbol', HTMLElement)
  #last = byId('quote-last', HTMLElement)
  #bid = byId('quote-bid', HTMLElement)
  #ask = byId('quote-ask', HTMLElement)
  /** @type {Quote | null} */ #quote = null
  /** @type {string | null} */ #price = null
  #way = ''
  #hasTraded = false
  #places = 0
  #draw = onFrame(() => this.#drawn())

  /** @param {string} symbol */
  begin(symbol) {
    this.#symbol.textContent = symbol
    this.#quote = null
    this.#price = null
    this.#hasTraded = false
    this.#way = ''
    this.#places = 0
    this.#draw()
  }

  /** @param {Quote} quote */
  put(quote) {
    this.#quote = quote
    for (const price of [quote.bp, quote.ap]) this.#places = Math.max(this.#places, placesOf(price ?? ''))
    this.#draw()
  }

  /** Shows the newest close until a trade arrives. @param {Bar} bar */
  closed({ c }) {
    if (this.#hasTraded) return
    this.#price = c
    this.#places = Math.max(this.#places, placesOf(c))
    this.#draw()
  }

  /** @param {Trade} trade */
  traded({ p }) {
    this.#hasTraded = true
    const step = this.#price === null ? 0 : Number(p) - Number(this.#price)
    if (step !== 0) this.#way = step > 0 ? 'up' : 'down'
    this.#price = p
    this.#places = Math.max(this.#places, placesOf(p))
    this.#draw()
  }

  #drawn() {
    const { bp = null, bs = null, ap = null, as = null } = this.#quote ?? {}
    this.#last.textContent = figure(this.#price, this.#places)
    this.#last.className = `price ${this.#way}`
    this.#bid.textContent = `${figure(bp, this.#places)} × ${figure(bs)}`
    this.#ask.textContent = `${figure(ap, this.#places)} × ${figure(as)}`
  }
}
