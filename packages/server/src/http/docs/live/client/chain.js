import { byId, made, onFrame } from './trading/elements.js'
import { figure, percent, placesOf, rounded } from './trading/format.js'

/** @import { Contract } from './trading/wire.js' */

const COLUMNS = 6

/** @typedef {{ readonly row: HTMLTableRowElement, call?: Contract, put?: Contract }} Strike */

/** The chain of one expiration: calls on the left of the strike, puts on the right. */
export class ChainTable {
  #body = byId('chain', HTMLElement)
  #box = byId('chain-box', HTMLElement)
  #head = byId('chain-head', HTMLElement)
  #status = byId('chain-status', HTMLElement)
  /** @type {Map<string, Strike>} */ #strikes = new Map()
  /** @type {Set<Strike>} */ #changed = new Set()
  /** @type {() => string | null} */ #priceOf
  /** The number of strikes when the table was last centred. */ #centredAt = 0
  #draw = onFrame(() => this.#drawn())

  /** @param {() => string | null} priceOf the underlying's current price */
  constructor(priceOf) {
    this.#priceOf = priceOf
  }

  /** Clears the table and shows why it is empty. @param {string} status */
  begin(status) {
    this.#strikes.clear()
    this.#changed.clear()
    this.#body.replaceChildren()
    this.#centredAt = 0
    this.showStatus(status)
  }

  /** @param {string} status */
  showStatus(status) {
    if (this.#status.textContent !== status) this.#status.textContent = status
  }

  /** @param {Contract} contract */
  put(contract) {
    const [leg] = contract.legs
    if (leg === undefined) return
    const strike = this.#strikes.get(leg.strike_price) ?? this.#insert(leg.strike_price)
    if (leg.option_type === 'Call') strike.call = contract
    else strike.put = contract
    this.#changed.add(strike)
    this.#draw()
  }

  /** @param {string} price */
  #insert(price) {
    const row = made('tr')
    for (let at = 0; at < COLUMNS; at += 1) row.append(made('td', '–', at < 4 ? 'call more' : 'call'))
    const head = made('th', '', 'strike')
    head.scope = 'row'
    row.append(head)
    for (let at = 0; at < COLUMNS; at += 1) row.append(made('td', '–', at > 1 ? 'put more' : 'put'))
    const next = [...this.#strikes].filter(([other]) => Number(other) > Number(price)).sort(([a], [b]) => Number(a) - Number(b))[0]
    this.#body.insertBefore(row, next?.[1].row ?? null)
    /** @type {Strike} */
    const strike = { row }
    this.#strikes.set(price, strike)
    return strike
  }

  #drawn() {
    const places = Math.max(...[...this.#strikes.keys()].map(placesOf))
    const now = Number(this.#priceOf() ?? Number.NaN)
    for (const strike of this.#changed) {
      const price = [...this.#strikes].find(([, one]) => one === strike)?.[0] ?? ''
      const [callBid, callAsk, ...callMore] = cells(strike.call)
      const texts = [...callMore.reverse(), callBid, callAsk, figure(price, places), ...cells(strike.put)]
      for (const [at, cell] of [...strike.row.cells].entries()) {
        const text = texts[at] ?? ''
        if (cell.textContent !== text) cell.textContent = text
      }
      strike.row.classList.toggle('call-in', Number(price) < now)
      strike.row.classList.toggle('put-in', Number(price) > now)
    }
    if (this.#changed.size > 0) this.showStatus(`${this.#strikes.size} strikes`)
    this.#changed.clear()
    if (this.#centredAt !== this.#strikes.size && !Number.isNaN(now)) this.#centre(now)
  }

  /** Scrolls the strike nearest to the price to the middle, with a whole row directly below the head. @param {number} now */
  #centre(now) {
    const [nearest] = [...this.#strikes].sort(([a], [b]) => Math.abs(Number(a) - now) - Math.abs(Number(b) - now))
    if (nearest === undefined) return
    this.#centredAt = this.#strikes.size
    const { row } = nearest[1]
    const above = Math.floor((this.#box.clientHeight - this.#head.offsetHeight) / row.offsetHeight / 2) * row.offsetHeight
    this.#box.scrollTop = Math.max(0, row.offsetTop - this.#head.offsetHeight - above)
  }
}

/** The figures in the order of the put columns. @param {Contract | undefined} contract */
function cells(contract) {
  if (contract === undefined) return Array.from({ length: COLUMNS }, () => '–')
  const { bid, ask, last, volume, iv, delta } = contract
  return [figure(bid, 2), figure(ask, 2), figure(last, 2), rounded(delta, 3), percent(iv), figure(volume)]
}
