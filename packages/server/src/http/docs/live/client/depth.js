import { byId, onFrame, rowsOf } from './trading/elements.js'
import { figure, placesOf } from './trading/format.js'

/** @import { Depth, Level } from './trading/wire.js' */

/** The order book: asks above bids, the best prices in the middle. */
export class DepthTable {
  #asks = rowsOf('asks').toReversed()
  #bids = rowsOf('bids')
  #spread = byId('spread', HTMLElement)
  #status = byId('depth-status', HTMLElement)
  /** @type {Depth | null} */ #depth = null
  #draw = onFrame(() => this.#drawn())

  /** How many levels of each side fit into the table. */
  get levels() {
    return this.#bids.length
  }

  /** Clears the table. `status` says why it is empty, if there is a reason. @param {string} status */
  begin(status = '') {
    this.#status.textContent = status
    this.put(null)
  }

  /** @param {Depth | null} depth */
  put(depth) {
    this.#depth = depth
    this.#draw()
  }

  #drawn() {
    const { a: asks = [], b: bids = [] } = this.#depth ?? {}
    const levels = [...asks, ...bids]
    const places = Math.max(0, ...levels.map(([price]) => placesOf(price)))
    const largest = Math.max(0, ...levels.map(([, size]) => Number(size)))
    for (const [side, found] of /** @type {const} */ ([
      [this.#asks, asks],
      [this.#bids, bids]
    ])) {
      for (const [at, row] of side.entries()) fill(row, found[at], places, largest)
    }
    const [ask, bid] = [asks[0]?.[0], bids[0]?.[0]]
    this.#spread.textContent = ask === undefined || bid === undefined ? '–' : (Number(ask) - Number(bid)).toFixed(places)
  }
}

/**
 * @param {HTMLTableRowElement} row
 * @param {Level | undefined} level
 * @param {number} places
 * @param {number} largest
 */
function fill(row, level, places, largest) {
  const [price, size, orders] = level ?? []
  const texts = [figure(price, places), figure(size), figure(orders)]
  for (const [at, cell] of [...row.cells].entries()) {
    const text = texts[at] ?? ''
    if (cell.textContent !== text) cell.textContent = text
  }
  row.style.setProperty('--share', size === undefined || largest === 0 ? '0' : String(Number(size) / largest))
}
