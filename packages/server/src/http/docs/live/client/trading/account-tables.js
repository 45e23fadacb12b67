import { byId, made } from './elements.js'
import { figure, placesOf, shortened, timesOf } from './format.js'
import { putRows } from './keyed-rows.js'

/** @import { Fill } from './fills.js' */
/** @import { Balance, Order, Position } from '../trunkline.js' */

/** More are counted, not shown. */
const ROWS_MAX = 50
/** @type {ReadonlySet<Order['normalized_status']>} */
const OPEN = new Set(/** @type {const} */ (['pending', 'working', 'partially_filled', 'pending_cancel', 'pending_replace']))
const TIMES = timesOf('America/New_York')
/** Of averages and estimates. Amounts that the account has are shown with every digit. */
const CURRENCY_PLACES = 2

/** What an account has: its open orders, positions, fills and balances. */
export class AccountTables {
  #working = byId('working', HTMLTableSectionElement)
  #positions = byId('positions', HTMLTableSectionElement)
  #fills = byId('fills', HTMLTableSectionElement)
  #balances = byId('balances', HTMLTableSectionElement)
  /** @type {(order: Order) => void} */ #cancel

  /** @param {(order: Order) => void} cancel called when the order's button is pressed */
  constructor(cancel) {
    this.#cancel = cancel
  }

  /**
   * @param {string} accountId
   * @param {{ readonly orders: Iterable<Order>, readonly positions: readonly Position[], readonly balances: readonly Balance[] }} records
   * @param {readonly Fill[]} fills newest first
   */
  show(accountId, { orders, positions, balances }, fills) {
    const open = [...orders].filter(order => order.account_id === accountId && OPEN.has(order.normalized_status))
    this.#showOrders(open.sort((a, b) => (a.entry_time < b.entry_time ? 1 : -1)))
    putRows(
      this.#positions,
      counted(
        'positions',
        positions.filter(each => each.account_id === accountId)
      ),
      ({ symbol, instrument, broker_position_id: id }) => `${symbol} ${instrument} ${id}`,
      ({ symbol, quantity, position_average_price: average, last_price: last, unrealized_pl: unrealized }) => [
        symbol,
        figure(quantity),
        shortened(average, Math.max(CURRENCY_PLACES, placesOf(last ?? ''))),
        figure(last),
        shortened(unrealized, CURRENCY_PLACES)
      ]
    )
    putRows(
      this.#fills,
      counted(
        'fills',
        fills.filter(fill => fill.accountId === accountId)
      ),
      ({ id }) => id,
      ({ seconds, side, quantity, symbol, price }) => [
        TIMES.moment(seconds).replace(/^\w+,? /, ''),
        `${side} ${figure(quantity)} ${symbol}`,
        figure(price)
      ]
    )
    putRows(
      this.#balances,
      counted(
        'balances',
        balances.filter(each => each.account_id === accountId)
      ),
      ({ currency_code: currency }) => currency,
      ({ currency_code: currency, cash, buying_power: power, equity }) => [currency, ...[cash, power, equity].map(text => figure(text))]
    )
    for (const [id, records] of /** @type {const} */ ([
      ['positions', positions],
      ['balances', balances]
    ]))
      byId(`${id}-as-of`, HTMLElement).textContent = asOf(records.filter(each => each.account_id === accountId))
  }

  /** @param {readonly Order[]} open */
  #showOrders(open) {
    putRows(
      this.#working,
      counted('working', open),
      ({ order_id: id }) => id,
      order => [
        `${order.side} ${figure(order.order_qty)} ${order.symbol ?? ''}`,
        priceOf(order),
        figure(order.filled_qty),
        // The service finds out whether the broker has it. Until then it is neither refused nor working.
        order.submission.state === 'unknown' ? 'unknown, being looked up' : order.normalized_status.replaceAll('_', ' ')
      ],
      (row, order) => {
        if (row.cells.length > 4) return
        const button = made('button', 'Cancel')
        button.type = 'button'
        button.setAttribute('aria-label', `Cancel ${row.cells[0]?.textContent} at ${row.cells[1]?.textContent}`)
        button.addEventListener('click', () => this.#cancel(order))
        row.insertCell().append(button)
      }
    )
  }
}

/**
 * The time of the oldest record. Brokers report a position and a balance when it changes: prices and equity stand still between.
 * @param {readonly { readonly system_time: string }[]} records
 */
function asOf(records) {
  const [oldest] = records.map(({ system_time: time }) => time).sort()
  return oldest === undefined ? '' : `as of ${TIMES.stamp(Date.parse(oldest) / 1_000)}, New York time`
}

/** @param {Order} order */
export function priceOf({ order_type: type, order_limit_price: limit, stop_price: stop }) {
  if (type === 'MKT') return 'market'
  return [stop === null ? '' : `stop ${figure(stop)}`, limit === null ? '' : `limit ${figure(limit)}`]
    .filter(text => text !== '')
    .join(', ')
}

/**
 * The first items, and their whole number in the heading.
 * @template T
 * @param {string} id of the table
 * @param {readonly T[]} items
 */
function counted(id, items) {
  const text = items.length > ROWS_MAX ? `${ROWS_MAX} of ${items.length}` : String(items.length)
  const count = byId(`${id}-count`, HTMLElement)
  if (count.textContent !== text) count.textContent = text
  return items.slice(0, ROWS_MAX)
}
