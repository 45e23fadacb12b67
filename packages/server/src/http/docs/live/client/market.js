// Everything that the page shows for one symbol.
import { ChainTable } from './chain.js'
import { DepthTable } from './depth.js'
import { History } from './history.js'
import * as library from './lightweight-charts.js'
import { QuoteLine } from './quote.js'
import { TradeTable } from './trades.js'
import { Chart } from './trading/chart.js'
import { byId } from './trading/elements.js'
import { zoneOf } from './trading/format.js'

/** @import { Connection } from './connection.js' */
/** @import { Fill } from './trading/fills.js' */
/** @import { Subscriptions } from './subscriptions.js' */
/** @import { Bar, Contract, Depth, Message, Quote, Trade } from './trading/wire.js' */

const BACKFILL_BARS = 300

/**
 * @typedef {object} Choice
 * @property {string} symbol
 * @property {string} interval
 * @property {string} session
 */

/**
 * @typedef {object} Handlers
 * @property {(reply: Message) => void} began
 * @property {(error: Message) => void} refused why a symbol cannot be shown
 */

export class Market {
  /** @type {Subscriptions} */ #subscriptions
  /** @type {Handlers} */ #handlers
  #quote = new QuoteLine()
  #depth = new DepthTable()
  #trades = new TradeTable()
  #chain = new ChainTable(() => this.#chart.lastClose)
  #zone = byId('zone', HTMLElement)
  #older = byId('older', HTMLElement)
  /** @type {History} */ #history
  #chart = new Chart(library, oldest => this.#history.want(oldest))
  /** @type {Choice | null} */ #choice = null
  /** @type {(() => void)[]} */ #ends = []
  /** @type {() => void} */ #endChain = () => {}

  /**
   * @param {Connection} connection
   * @param {Subscriptions} subscriptions
   * @param {Handlers} handlers
   */
  constructor(connection, subscriptions, handlers) {
    this.#subscriptions = subscriptions
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#chart.paint())
    this.#handlers = handlers
    this.#history = new History(
      connection,
      bars => this.#chart.putBefore(bars),
      state => {
        this.#older.textContent = OLDER[state]
      }
    )
  }

  /**
   * Shows another choice, or the same one again in a new session.
   * @param {Choice} choice
   * @param {{ readonly isAgain: boolean }} how
   */
  show(choice, { isAgain }) {
    for (const end of this.#ends.splice(0)) end()
    const { symbol, interval, session } = choice
    if (!isAgain || this.#choice === null) this.#begin(choice)
    else this.#history.again()
    this.#choice = choice
    /** @type {(fields: Readonly<Record<string, unknown>>, update: (message: Message) => void, refused?: Handlers['refused']) => void} */
    const open = (fields, update, refused = this.#handlers.refused) => {
      this.#ends.push(this.#subscriptions.open({ symbol, ...fields }, { ...this.#handlers, refused, update }))
    }
    open({ channel: 'bars', interval, session, backfill_nbars: BACKFILL_BARS }, bar => {
      this.#chart.put(/** @type {Bar} */ (bar))
      this.#quote.closed(/** @type {Bar} */ (bar))
    })
    open({ channel: 'trades', session }, update => {
      const trade = /** @type {Trade} */ (update)
      this.#trades.put(trade)
      this.#quote.traded(trade)
    })
    open({ channel: 'quotes' }, quote => this.#quote.put(/** @type {Quote} */ (quote)))
    open(
      { channel: 'depth', n_levels: this.#depth.levels },
      depth => this.#depth.put(/** @type {Depth} */ (depth)),
      // Many brokers have no depth data, or none for this kind of instrument. The rest is still shown.
      ({ message = '' }) => this.#depth.begin(message)
    )
  }

  /** Marks them on the chart. @param {readonly Fill[]} fills */
  showFills(fills) {
    this.#chart.putFills(fills)
  }

  /** @param {Choice} choice */
  #begin({ symbol, interval, session }) {
    const { name, zone } = zoneOf(symbol)
    this.#zone.textContent = `Times are ${name === 'UTC' ? 'UTC' : 'in New York time'}`
    this.#quote.begin(symbol)
    this.#trades.begin(zone)
    this.#depth.begin()
    this.#chart.begin(symbol, interval)
    // Snapshots only have the session BrokerDefault; their bars would not match those of another session.
    this.#history.begin(session === 'BrokerDefault' ? { symbol, interval } : null)
  }

  /**
   * @param {string} symbol the underlying
   * @param {string} expiration
   * @param {boolean} greeks
   */
  showChain(symbol, expiration, greeks) {
    this.#endChain()
    this.#chain.begin(expiration === '' ? 'Choose an expiration' : 'Waiting for the chain')
    if (expiration === '') return
    const fields = { channel: 'options_chain', symbol, expiration, greeks }
    this.#endChain = this.#subscriptions.open(fields, {
      began: () => this.#chain.showStatus('No contract received yet'),
      update: contract => this.#chain.put(/** @type {Contract} */ (contract)),
      refused: ({ message = '' }) => this.#chain.showStatus(message)
    })
  }
}

const OLDER = {
  more: 'Scroll left for older bars',
  loading: 'Loading older bars',
  none: 'There are no older bars',
  never: 'Older bars are available for the broker’s default session only',
  failed: 'Older bars could not be loaded'
}
