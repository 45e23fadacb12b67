import { byId, onFrame, rowsOf } from './trading/elements.js'
import { figure, placesOf, timesOf } from './trading/format.js'

/** @import { Trade } from './trading/wire.js' */

/** The latest trades, newest first. */
export class TradeTable {
  #rows = rowsOf('trades')
  #status = byId('trades-status', HTMLElement)
  /** @type {{ trade: Trade, way: string }[]} */ #trades = []
  #times = timesOf('UTC')
  #places = 0
  #draw = onFrame(() => this.#drawn())

  /** Clears the list, and shows times in this zone from now on. @param {string} zone */
  begin(zone) {
    this.#times = timesOf(zone)
    this.#trades = []
    this.#places = 0
    this.#draw()
  }

  /** @param {Trade} trade */
  put(trade) {
    const before = this.#trades[0]
    const step = before === undefined ? 0 : Number(trade.p) - Number(before.trade.p)
    this.#trades.unshift({ trade, way: step > 0 ? 'up' : step < 0 ? 'down' : (before?.way ?? '') })
    this.#trades.length = Math.min(this.#trades.length, this.#rows.length)
    this.#places = Math.max(this.#places, placesOf(trade.p))
    this.#draw()
  }

  #drawn() {
    const status = this.#trades.length === 0 ? 'No trade yet' : ''
    if (this.#status.textContent !== status) this.#status.textContent = status
    for (const [at, row] of this.#rows.entries()) {
      const { trade, way = '' } = this.#trades[at] ?? {}
      const texts = trade === undefined ? [] : [this.#times.clock(trade.ts), figure(trade.p, this.#places), figure(trade.s), trade.n]
      row.className = way
      for (const [column, cell] of [...row.cells].entries()) {
        const text = texts[column] ?? ''
        if (cell.textContent !== text) cell.textContent = text
      }
    }
  }
}
