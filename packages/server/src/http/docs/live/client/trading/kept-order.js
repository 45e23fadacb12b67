// The order whose outcome is not known yet. It is kept before it is sent for the first time, and outlives a reload of the page.

/** @import { NewOrder } from '../trunkline.js' */

export class KeptOrder {
  /** @type {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} */ #storage
  /** @type {string} */ #name

  /**
   * @param {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage
   * @param {string} name of the entry: one for each user for whom this browser trades
   */
  constructor(storage, name) {
    this.#storage = storage
    this.#name = name
  }

  /** Null if there is none. @returns {NewOrder | null} */
  get order() {
    try {
      const order = JSON.parse(this.#storage.getItem(this.#name) ?? 'null')
      return typeof order?.cl_order_id === 'string' ? order : null
    } catch {
      return null
    }
  }

  /** @param {NewOrder} order */
  keep(order) {
    this.#storage.setItem(this.#name, JSON.stringify(order))
  }

  forget() {
    this.#storage.removeItem(this.#name)
  }
}
