// Trading in the practice account of the demo platform.
import { AccountTables } from './account-tables.js'
import { waitMs } from './backoff.js'
import { byId, made, onFrame } from './elements.js'
import { fillsOf } from './fills.js'
import { openPractice } from './practice.js'
import { Ticket } from './ticket.js'

/** @import { Fill } from './fills.js' */
/** @import { Practice } from './practice.js' */
/** @import { Order } from './trunkline.js' */

const ABSENT =
  'Orders can be placed here with the demo platform only: open the link that npm start printed (home_url in demo-platform.json), then open this page again.'
/** How often it is looked whether the copy is live: nothing says so when updates stop. */
const LOOK_MS = 1_000
const FUTURE = /^[A-Z]{1,3}[FGHJKMNQUVXZ]\d{1,2}$/

export class Trading {
  #status = byId('trading-status', HTMLElement)
  #parts = byId('trading-parts', HTMLElement)
  #account = byId('ticket-account', HTMLSelectElement)
  #tables = new AccountTables(order => void this.#cancel(order))
  /** @type {Practice | null} */ #practice = null
  #symbol = ''
  #looking = 0
  #isAbsent = false
  /** What went wrong last; shown until something goes right. */
  #failure = ''
  #draw = onFrame(() => this.#drawn())
  /** Ends what was opened. */
  #over = new AbortController()
  /** @type {(fills: readonly Fill[]) => void} */ #showFills
  #ticket = new Ticket({
    changed: order => {
      this.#practice?.copy.putOrder(order)
      this.#draw()
    },
    refused: practice => this.#refused(practice)
  })

  /** @param {(fills: readonly Fill[]) => void} showFills marks fills on the chart */
  constructor(showFills) {
    this.#showFills = showFills
    this.#account.addEventListener('change', () => this.#draw())
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

  /** Keeps the account as long as the page is open. Ends where there is no practice account. */
  async run() {
    this.#looking = setInterval(() => this.#draw(), LOOK_MS)
    for (let failures = 0; ; failures += 1) {
      try {
        const practice = await openPractice({ onRetry: ({ error }) => this.#ticket.lost(error) })
        if (practice === null) return this.#absent()
        this.#over = new AbortController()
        this.#begin(practice)
        for await (const change of practice.copy.run(this.#over.signal)) {
          failures = 0
          this.#failure = ''
          if (change.type === 'orders') this.#ticket.seen(change.data)
          this.#draw()
        }
      } catch (error) {
        this.#failure = error instanceof Error ? error.message : String(error)
        this.#draw()
      }
      this.#practice = null
      this.#ticket.end()
      await new Promise(resolve => setTimeout(resolve, waitMs(failures, Math.random())))
    }
  }

  /** Ends it, to open it again with other credentials. @param {Practice} practice */
  #refused(practice) {
    if (practice === this.#practice) this.#over.abort()
  }

  #absent() {
    clearInterval(this.#looking)
    this.#practice = null
    this.#isAbsent = true
    this.#parts.hidden = true
    this.#status.textContent = ABSENT
  }

  /** @param {Practice} practice */
  #begin(practice) {
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

  /** Crypto and futures have accounts of their own. */
  #chooseAccount() {
    const accounts = this.#practice?.accounts ?? []
    const typeOf = (/** @type {string} */ symbol) =>
      symbol.includes('/') ? ['crypto'] : FUTURE.test(symbol) ? ['futures'] : ['margin', 'cash']
    const types = typeOf(this.#symbol)
    const chosen = accounts.find(({ account_id: id }) => id === this.#account.value)
    if (!types.includes(chosen?.account_type ?? '')) {
      const fitting = accounts.find(({ account_type: type }) => types.includes(type ?? ''))
      if (fitting !== undefined) this.#account.value = fitting.account_id
    }
    this.#draw()
  }

  #drawn() {
    const practice = this.#practice
    if (this.#isAbsent) return
    if (practice === null) {
      report(this.#status, this.#failure === '' ? 'Connecting' : `Not connected: ${this.#failure} Trying again.`)
      return
    }
    const { orders, positions, balances, isLive, interruption, seq } = practice.copy
    const fills = fillsOf(orders.values())
    this.#tables.show(this.#account.value, { orders: orders.values(), positions, balances }, fills)
    this.#showFills(fills)
    const failure = this.#failure || interruption || (seq === null ? 'reading the records' : '')
    if (isLive) report(this.#status, 'Live: practice money, in the sandbox')
    else if (seq === null) report(this.#status, 'Connecting')
    else report(this.#status, `Not current${failure === '' ? '' : `: ${failure}`}. Connecting again.`)
  }

  /** @param {Order} order */
  async #cancel({ account_id, order_id }) {
    const practice = this.#practice
    if (practice === null) return
    this.#failure = ''
    try {
      const order = await practice.user.orders.cancel({ account_id, order_id })
      practice.copy.putOrder(order)
      this.#ticket.show(order)
    } catch (error) {
      const { message = '', nothingDone = false, status = null } = Object(error)
      this.#ticket.report(nothingDone ? `Not cancelled. ${message}` : `It is unknown whether the cancel arrived: reading again. ${message}`)
      if (status === 401) this.#refused(practice)
      else if (!nothingDone) await this.#readAgain(practice, order_id)
    }
    this.#draw()
  }

  /**
   * @param {Practice} practice
   * @param {string} order_id
   */
  async #readAgain({ user, copy }, order_id) {
    try {
      const order = await user.orders.read({ order_id })
      copy.putOrder(order)
      this.#ticket.show(order)
    } catch {
      // The copy shows it once the service answers.
    }
  }
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
function report(element, text) {
  if (element.textContent !== text) element.textContent = text
}
