// What the ticket and the tables need of an account, however the page reaches it.

/** @import { Account, NewOrder, Order, OrderPreview } from '../trunkline.js' */

/** @typedef {Omit<NewOrder, 'cl_order_id'>} Terms */

/**
 * Requests about orders. Those that fail throw what has a `message`, a `status` (null without an answer), and `nothingDone`: true only if it
 * is certain that nothing was done.
 * @typedef {object} OrderRequests
 * @property {(terms: Terms) => Promise<OrderPreview>} preview
 * @property {(order: NewOrder) => Promise<Order>} place
 * @property {(order: Pick<Order, 'account_id' | 'order_id'>) => Promise<Order>} cancel
 * @property {(orderId: string) => Promise<Order>} read
 * @property {(clOrderId: string) => Promise<Order | null>} find null: there is none so far
 */

/**
 * @typedef {object} Practice
 * @property {OrderRequests} orders
 * @property {readonly Account[]} accounts
 * @property {(order: Order) => void} putOrder an answer to a request may be newer than the records
 */

export {}
