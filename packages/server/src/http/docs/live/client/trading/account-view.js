// An account to trade in: the ticket, the tables, and which account is shown.
import { AccountTables } from './account-tables.js'
import { byId, made } from './elements.js'
import { fillsOf } from './fills.js'
import { Ticket } from './ticket.js'

/** @import { Fill } from './fills.js' */
/** @import { Practice } from './practice.js' */
/** @import { Balance, Order, Position } from '../trunkline.js' */

const FUTURE = /^[A-Z]{1,3}[FGHJKMNQUVXZ]\d{1,2}$/

/**
 * @typedef {object} Handlers
 * @property {string} name of what this browser keeps of an order: another for each user
 * @property {string} prefix begins the ids of orders
 * @property {() => void} changed something else is to be shown
 * @property {(practice: Practice) => void} refused its credentials are not valid any more
 * @property {(fills: readonly Fill[]) => void} showFills marks fills on the chart
 */

/** @typedef {{ readonly orders: Iterable<Order>, readonly positions: readonly Position[], readonly balances: readonly Balance[] }} Records */

export class AccountView {
  #account = byId('ticket-account', HTMLSelectElement)
  #tables = new AccountTables(order => void this.#cancel(order))
  /** @type {Handlers} */ #handlers
  /** @type {Ticket} */ #ticket
  /** @type {Practice | null} */ #practice = null
  #symbol = ''

  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers
    this.#ticket = new Ticket({
      name: handlers.name,
      prefix: handlers.prefix,
      changed: order => {
        this.#practice?.putOrder(order)
        handlers.changed()
      },
      refused: handlers.refused
    })
    this.#account.addEventListener('change', () => handlers.changed())
  }

  /** The symbol of the chart is the ticket's. */
  set symbol(symbol) {
    this.#symbol = symbol
    this.#ticket.symbol = symbol
    this.#chooseAccount()
  }

  get symbol() {
    return this.#symbol
  }

  /** The account that is chosen; empty before there is one. */
  get accountId() {
    return this.#account.value
  }

  /** The accounts can be used, perhaps again. @param {Practice} practice */
  begin(practice) {
    this.#practice = practice
    const chosen = this.#account.value
    this.#account.replaceChildren(
      ...practice.accounts.map(({ account_id: id, account_number: number, account_type: type }) => {
        const option = made('option', `${number} · ${type ?? 'other'}`)
        option.value = id
        return option
      })
    )
    if (practice.accounts.some(({ account_id: id }) => id === chosen)) this.#account.value = chosen
    this.#chooseAccount()
    this.#ticket.begin(practice)
  }

  /** They cannot be used until they begin again. */
  end() {
    this.#practice = null
    this.#ticket.end()
  }

  /** The page is left. */
  leave() {
    this.#practice = null
    this.#ticket.leave()
  }

  /** Shows what the chosen account has. @param {Records} records of all accounts */
  show({ orders, positions, balances }) {
    const all = [...orders]
    const fills = fillsOf(all)
    this.#tables.show(this.accountId, { orders: all, positions, balances }, fills)
    this.#handlers.showFills(fills)
  }

  /** An update of an order. @param {Order} order */
  seen(order) {
    this.#ticket.seen(order)
  }

  /** A request about an order is repeated after this error. @param {{ readonly nothingDone: boolean }} error */
  lost(error) {
    this.#ticket.lost(error)
  }

  /** Crypto and futures have accounts of their own. */
  #chooseAccount() {
    const accounts = this.#practice?.accounts ?? []
    const types = this.#symbol.includes('/') ? ['crypto'] : FUTURE.test(this.#symbol) ? ['futures'] : ['margin', 'cash']
    const chosen = accounts.find(({ account_id: id }) => id === this.#account.value)
    if (!types.includes(chosen?.account_type ?? '')) {
      const fitting = accounts.find(({ account_type: type }) => types.includes(type ?? ''))
      if (fitting !== undefined) this.#account.value = fitting.account_id
    }
    this.#handlers.changed()
  }

  /** @param {Order} order */
  async #cancel({ account_id, order_id }) {
    const practice = this.#practice
    if (practice === null) return
    try {
      this.#put(practice, await practice.orders.cancel({ account_id, order_id }))
    } catch (error) {
      const { message = '', nothingDone = false, status = null } = Object(error)
      this.#ticket.report(nothingDone ? `Not cancelled. ${message}` : `It is unknown whether the cancel arrived: reading again. ${message}`)
      if (status === 401) this.#handlers.refused(practice)
      else if (!nothingDone) await this.#readAgain(practice, order_id)
    }
    this.#handlers.changed()
  }

  /**
   * @param {Practice} practice
   * @param {string} orderId
   */
  async #readAgain(practice, orderId) {
    try {
      this.#put(practice, await practice.orders.read(orderId))
    } catch {
      // The records show it once the service answers.
    }
  }

  /**
   * @param {Practice} practice
   * @param {Order} order
   */
  #put(practice, order) {
    practice.putOrder(order)
    this.#ticket.show(order)
  }
}
