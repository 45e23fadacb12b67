// The order ticket: an estimate first, then the order, under an id that is kept until its outcome is known.
import { priceOf } from './account-tables.js'
import { waitMs } from './backoff.js'
import { byId } from './elements.js'
import { figure, placesOf, shortened } from './format.js'
import { KeptOrder } from './kept-order.js'

/** @import { Practice, Terms } from './practice.js' */
/** @import { NewOrder, Order, OrderPreview } from '../trunkline.js' */

/**
 * @typedef {object} Handlers
 * @property {string} name of what this browser keeps of an order: another for each user
 * @property {string} prefix begins the ids of orders
 * @property {(order: Order) => void} changed an answer had this order
 * @property {(practice: Practice) => void} refused its credentials are not valid any more
 */

/** Between two searches, at most: somebody waits for the outcome. */
const SEARCH_MS_MAX = 3_000
const LOST = 'Unknown, reading again: the answer was lost, so the order may exist or not.'

export class Ticket {
  #form = byId('ticket', HTMLFormElement)
  #symbolShown = byId('ticket-symbol', HTMLOutputElement)
  #account = byId('ticket-account', HTMLSelectElement)
  #side = byId('ticket-side', HTMLSelectElement)
  #quantity = byId('ticket-quantity', HTMLInputElement)
  #type = byId('ticket-type', HTMLSelectElement)
  #price = byId('ticket-price', HTMLInputElement)
  #priceLabel = byId('ticket-price-label', HTMLElement)
  #timeInForce = byId('ticket-tif', HTMLSelectElement)
  #result = byId('ticket-result', HTMLElement)
  #place = byId('ticket-place', HTMLButtonElement)
  #forget = byId('ticket-forget', HTMLButtonElement)
  /** @type {KeptOrder} */ #kept
  /** @type {Handlers} */ #handlers
  /** @type {Practice | null} */ #practice = null
  #symbol = ''
  /** The terms that were estimated; null once the form has others. @type {Terms | null} */ #estimated = null
  /** Whether an order is being sent. */
  #isSending = false
  /** Counts the searches for an order, so that there is one at a time. */
  #searches = 0
  /** The order that the result speaks of. */
  #shownId = ''
  #shownRevision = 0

  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers
    this.#kept = new KeptOrder(sessionStorage, `${handlers.name}-order-under-way`)
    this.#form.addEventListener('submit', event => {
      event.preventDefault()
      void this.#preview()
    })
    for (const kind of ['input', 'change']) this.#form.addEventListener(kind, () => this.#edited())
    this.#place.addEventListener('click', () => void this.#placed())
    this.#forget.addEventListener('click', () => {
      this.#searches += 1
      this.#settled('No longer looked for. If the order exists, it is in the tables as soon as the service answers.')
    })
    this.#edited()
  }

  /** @param {string} symbol */
  set symbol(symbol) {
    this.#symbol = symbol
    this.#symbolShown.textContent = symbol
    this.#edited()
  }

  /** The account was opened, perhaps again. An order that is kept is looked for. @param {Practice} practice */
  begin(practice) {
    this.#practice = practice
    const { order } = this.#kept
    if (order !== null && !this.#isSending) void this.#readAgain(order)
  }

  /** The account is closed until it begins again. What was estimated cannot be placed meanwhile, nor is it a promise of later. */
  end() {
    this.#practice = null
    if (this.#place.hidden) return
    const hadFocus = document.activeElement === this.#place
    this.#estimated = null
    this.#place.hidden = true
    this.report('The account is not connected at the moment. Nothing was placed: preview the order again.')
    if (hadFocus) this.#result.focus()
  }

  /** The page is left: nothing is looked for any more. What is kept is found again when the page comes back. */
  leave() {
    this.#searches += 1
    this.end()
  }

  /** @param {string} text */
  report(text) {
    this.#shownId = ''
    this.#write({ text, title: '' })
  }

  /** @param {{ readonly text: string, readonly title: string }} what */
  #write({ text, title }) {
    if (this.#result.textContent !== text) this.#result.textContent = text
    this.#result.title = title
  }

  /** Says what became of an order, now and with each of its updates. @param {Order} order */
  show(order) {
    if (order.order_id === this.#shownId && order.revision < this.#shownRevision) return
    this.#write(outcomeOf(order))
    this.#shownId = order.order_id
    this.#shownRevision = order.revision
  }

  /** An update of the account's orders. It may come before the answer to the order, or where that is lost. @param {Order} order */
  seen(order) {
    if (order.order_id === this.#shownId) this.show(order)
    else if (order.cl_order_id === this.#kept.order?.cl_order_id) this.#known(order)
  }

  /** A request is repeated after this error. @param {{ readonly nothingDone: boolean }} error */
  lost(error) {
    if (this.#isSending && !error.nothingDone) this.report(LOST)
  }

  #edited() {
    const { value: type } = this.#type
    this.#price.disabled = type === 'MKT'
    this.#priceLabel.textContent = type === 'STP' ? 'Stop price' : 'Limit price'
    if (this.#estimated === null) return
    this.#estimated = null
    this.#place.hidden = true
    this.report('')
  }

  /** @returns {Terms | null} */
  #terms() {
    const account = this.#practice?.accounts.find(({ account_id: id }) => id === this.#account.value)
    if (account === undefined) return null
    const type = /** @type {NewOrder['order_type']} */ (this.#type.value)
    const price = this.#price.value.trim()
    return {
      ...{ account_id: account.account_id, broker: account.broker, symbol: this.#symbol },
      side: /** @type {NewOrder['side']} */ (this.#side.value),
      order_type: type,
      order_tif: /** @type {NewOrder['order_tif']} */ (this.#timeInForce.value),
      order_qty: this.#quantity.value.trim(),
      ...(type === 'LMT' && { order_limit_price: price }),
      ...(type === 'STP' && { stop_price: price })
    }
  }

  async #preview() {
    const terms = this.#terms()
    const practice = this.#practice
    if (practice === null || terms === null) return this.report('The practice account is not connected yet.')
    // Two orders at a time would need two places to keep them.
    if (this.#kept.order !== null) return this.report('The outcome of the last order is not known yet: it is looked for.')
    this.#estimated = terms
    this.#place.hidden = true
    this.report('Estimating')
    try {
      const preview = await practice.orders.preview(terms)
      if (this.#estimated !== terms) return
      this.report(estimateOf(terms, preview))
      if (preview.outcome !== 'estimated' || this.#practice === null) return
      this.#place.hidden = false
      this.#place.focus()
    } catch (error) {
      if (this.#estimated !== terms) return
      const { message = '', status = null } = Object(error)
      this.report(`There is no estimate, and nothing was placed. ${message}`)
      if (status === 401) this.#handlers.refused(practice)
    }
  }

  async #placed() {
    const terms = this.#estimated
    const practice = this.#practice
    if (terms === null || practice === null) return
    const order = { ...terms, cl_order_id: `${this.#handlers.prefix}-${crypto.randomUUID()}` }
    this.#estimated = null
    this.#place.hidden = true
    this.#result.focus()
    try {
      this.#kept.keep(order)
    } catch {
      return this.report('Not placed: this browser lets the page keep nothing, so a lost order could not be found again.')
    }
    this.#isSending = true
    this.report('Sending')
    try {
      this.#known(await practice.orders.place(order))
    } catch (error) {
      const { message = '', nothingDone = false, status = null } = Object(error)
      // An update had it meanwhile, or the user has enough.
      if (this.#kept.order?.cl_order_id !== order.cl_order_id) return
      this.#isSending = false
      if (!nothingDone) return void this.#readAgain(order)
      this.#settled(`Not placed. ${message}`)
      if (status === 401) this.#handlers.refused(practice)
    }
  }

  /** Looks for an order until it is found, or the user has enough. It is not sent again. @param {NewOrder} order */
  async #readAgain({ cl_order_id }) {
    const search = ++this.#searches
    const isOver = () => search !== this.#searches || this.#kept.order?.cl_order_id !== cl_order_id
    this.report(LOST)
    this.#forget.hidden = false
    for (let failures = 0; !isOver(); failures += 1) {
      const practice = this.#practice
      try {
        const found = await practice?.orders.find(cl_order_id)
        if (isOver()) return
        if (found !== undefined && found !== null) return this.#known(found)
        if (found === null) this.report(`${LOST} No order with the id ${cl_order_id} is there so far.`)
      } catch (error) {
        if (practice !== null && Object(error).status === 401) this.#handlers.refused(practice)
      }
      await new Promise(resolve => setTimeout(resolve, Math.min(SEARCH_MS_MAX, waitMs(failures, Math.random()))))
    }
  }

  /** @param {Order} order */
  #known(order) {
    this.#settled('')
    this.show(order)
    this.#handlers.changed(order)
  }

  /** @param {string} text */
  #settled(text) {
    this.#isSending = false
    this.#forget.hidden = true
    this.#kept.forget()
    this.report(text)
  }
}

/**
 * @param {Terms} terms
 * @param {OrderPreview} preview
 */
function estimateOf({ side, order_qty: quantity, symbol }, preview) {
  const { outcome, broker_message: why, currency_code: currency, estimated_cost: cost, estimated_total: total, warnings } = preview
  const what = `${side} ${figure(quantity)} ${symbol}`
  if (outcome === 'refused') return `The broker would refuse ${what}: ${why ?? preview.reject_code ?? 'it gave no reason'}`
  const costs = [cost === null ? '' : `costs ${figure(cost)}`, total === null ? '' : `${figure(total)} with fees`].filter(
    text => text !== ''
  )
  const estimate = costs.length === 0 ? 'the broker states no cost' : `${costs.join(', ')} ${currency ?? ''}`
  return [`${what}: ${estimate.trim()} by the broker’s estimate.`, ...warnings].join(' ')
}

/** @param {Order} order */
function outcomeOf(order) {
  const { side, order_qty: quantity, symbol, normalized_status: status, filled_qty: filled, fills } = order
  const what = `${side} ${figure(quantity)} ${symbol ?? ''} (${priceOf(order)})`
  if (order.submission.state === 'unknown')
    return { text: `${what}: unknown whether the broker has it. The service looks it up.`, title: '' }
  // An average has more digits than the prices that were paid.
  const { text: average, title } = shortened(order.average_fill_price, Math.max(2, ...fills.map(({ price }) => placesOf(price))))
  const message = order.broker_message === null ? '' : ` ${order.broker_message}`
  if (status === 'filled') return { text: `${what}: filled at ${average}.`, title }
  const state = status.replaceAll('_', ' ')
  if (!/[1-9]/.test(filled)) return { text: `${what}: ${state}.${message}`, title: '' }
  return { text: `${what}: ${state}, ${figure(filled)} filled at ${average}.${message}`, title }
}
