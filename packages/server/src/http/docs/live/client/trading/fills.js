// The executions of orders: as a list, and as marks on the chart.
import { at } from './bar-list.js'
import { sumOf } from './format.js'

/** @import { Order } from '../trunkline.js' */
/** @import { Drawn } from './bar-list.js' */

/** What is shown of each account: the newest. */
export const FILLS_MAX = 200
/** As many bars as a text is wide, at the spacing that the chart has at first. */
const TEXT_BARS = 8

/**
 * @typedef {object} Fill
 * @property {string} id
 * @property {string} accountId
 * @property {string} symbol
 * @property {'BUY' | 'SELL'} side
 * @property {string} quantity
 * @property {string} price
 * @property {number} seconds since the epoch
 */

/**
 * The executions of orders, newest first, {@link FILLS_MAX} of each account at most. Those of multi-leg orders are left out: their price is of no symbol.
 * @param {Iterable<Order>} orders
 * @returns {readonly Fill[]}
 */
export function fillsOf(orders) {
  const fills = [...orders].flatMap(({ account_id: accountId, symbol, side, fills }) =>
    symbol === null
      ? []
      : fills.map(({ fill_id: id, quantity, price, time }) => ({
          ...{ id, accountId, symbol, quantity, price },
          side: /** @type {Fill['side']} */ (side.startsWith('BUY') ? 'BUY' : 'SELL'),
          seconds: Date.parse(time) / 1_000
        }))
  )
  /** @type {Map<string, number>} */
  const counts = new Map()
  return fills
    .sort((a, b) => b.seconds - a.seconds)
    .filter(({ accountId }) => {
      const count = (counts.get(accountId) ?? 0) + 1
      counts.set(accountId, count)
      return count <= FILLS_MAX
    })
}

/**
 * Marks at the bar in which each fill happened, and at its price. A fill before the oldest bar has none until that bar is loaded. Fills of
 * the same or of neighbouring bars have one text together, since theirs would lie on top of each other.
 * @param {readonly Fill[]} fills
 * @param {readonly Drawn[]} bars ascending
 * @param {{ readonly buy: string, readonly sell: string }} colors
 */
export function marksOf(fills, bars, { buy, sell }) {
  const placed = fills
    .flatMap(fill => {
      const index = bars.findLastIndex(({ time }) => time <= fill.seconds)
      return index === -1 ? [] : [{ fill, index, time: bars[index]?.time ?? 0 }]
    })
    .sort((a, b) => a.index - b.index || a.fill.seconds - b.fill.seconds)
  const texts = textsOf(placed)
  return placed.map(({ fill, time }) => {
    const { id, side, price } = fill
    return {
      ...{ id, time: at(time), text: texts.get(fill) ?? '', size: 1 },
      // Numbers are precise enough for pixels. The table of fills has the texts.
      price: Number(price),
      position: /** @type {const} */ ('atPriceMiddle'),
      shape: /** @type {const} */ ('circle'),
      color: side === 'BUY' ? buy : sell
    }
  })
}

/**
 * The text of each fill that has one: the first of those that are near each other.
 * @param {readonly { readonly fill: Fill, readonly index: number }[]} placed ascending
 */
function textsOf(placed) {
  /** @type {Map<Fill, string>} */
  const texts = new Map()
  for (let from = 0; from < placed.length; ) {
    const first = placed[from]
    if (first === undefined) break
    const near = placed.slice(from).filter(({ index }) => index < first.index + TEXT_BARS)
    texts.set(first.fill, textOf(near.map(({ fill }) => fill)))
    from += near.length
  }
  return texts
}

/** @param {readonly Fill[]} fills near each other */
function textOf(fills) {
  const sides = /** @type {const} */ (['BUY', 'SELL']).map(side => {
    const quantities = fills.filter(fill => fill.side === side).map(({ quantity }) => quantity)
    return quantities.length > 1
      ? `${side} ${sumOf(quantities)} in ${quantities.length}`
      : quantities.map(quantity => `${side} ${quantity}`).join()
  })
  return sides.filter(text => text !== '').join(', ')
}
