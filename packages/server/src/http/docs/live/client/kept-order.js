// The order whose outcome is not known yet. It is kept before it is sent for the first time, and outlives a reload of the page.

/** @import { OrderTicket } from './trunkline.js' */
/** @typedef {OrderTicket & { readonly cl_order_id: string }} SentOrder */

const NAME = 'trunkline-order-under-way'

export class KeptOrder {
  /** @type {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} */ #storage

  /** @param {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage */
  constructor(storage) {
    this.#storage = storage
  }

  /** Null if there is none. @returns {SentOrder | null} */
  get order() {
    try {
      const order = JSON.parse(this.#storage.getItem(NAME) ?? 'null')
      return typeof order?.cl_order_id === 'string' ? order : null
    } catch {
      return null
    }
  }

  /** @param {SentOrder} order */
  keep(order) {
    this.#storage.setItem(NAME, JSON.stringify(order))
  }

  forget() {
    this.#storage.removeItem(NAME)
  }
}
