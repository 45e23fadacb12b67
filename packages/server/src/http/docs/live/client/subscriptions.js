/** @import { Connection } from './connection.js' */
/** @import { Message } from './trading/wire.js' */

/**
 * @typedef {object} Listener
 * @property {(reply: Message) => void} [began]
 * @property {(update: Message) => void} update
 * @property {(error: Message) => void} refused
 */

/** The subscriptions of one session and their listeners. */
export class Subscriptions {
  /** @type {Connection} */ #connection
  /** @type {Map<string, Listener>} */ #listeners = new Map()
  /** Groups of subscriptions that were interrupted together, and resume together. @type {Set<ReadonlySet<string>>} */ #interrupted =
    new Set()

  /** @param {Connection} connection */
  constructor(connection) {
    this.#connection = connection
  }

  /** Whether the broker currently sends nothing for any of the subscriptions. */
  get areInterrupted() {
    return this.#interrupted.size > 0
  }

  /**
   * Subscribes. The returned function ends the subscription, even before the reply has arrived.
   * @param {Readonly<Record<string, unknown>>} fields
   * @param {Listener} listener
   * @returns {() => void}
   */
  open(fields, listener) {
    let isWanted = true
    let subId = ''
    this.#connection.request({ action: 'subscribe', ...fields }, reply => {
      if (reply.type !== 'subscription_success' || reply.sub_id === undefined) {
        if (isWanted) listener.refused(reply)
        return
      }
      subId = reply.sub_id
      if (!isWanted) return this.#end(subId)
      this.#listeners.set(subId, listener)
      listener.began?.(reply)
    })
    return () => {
      isWanted = false
      if (this.#listeners.delete(subId)) this.#end(subId)
    }
  }

  /** @param {Message} message */
  take(message) {
    const { sub_id: subId = '' } = message
    // Data of one subscription ends the interruption of its group: others may have no data for hours.
    for (const group of this.#interrupted) if (group.has(subId)) this.#interrupted.delete(group)
    this.#listeners.get(subId)?.update(message)
  }

  /** @param {readonly string[]} subIds */
  interrupt(subIds) {
    const shown = subIds.filter(subId => this.#listeners.has(subId))
    if (shown.length > 0) this.#interrupted.add(new Set(shown))
  }

  /** The session ended, and with it all subscriptions. */
  reset() {
    this.#listeners.clear()
    this.#interrupted.clear()
  }

  /** @param {string} subId */
  #end(subId) {
    for (const group of this.#interrupted) if ([...group].every(other => !this.#listeners.has(other))) this.#interrupted.delete(group)
    this.#connection.request({ action: 'unsubscribe', sub_id: subId }, () => {})
  }
}
