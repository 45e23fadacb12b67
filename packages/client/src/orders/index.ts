import {
  cancelOrder,
  listOrders,
  modifyOrder,
  type NewOrder,
  type Order,
  type OrderChange,
  placeOrder,
  previewOrder,
  readOrder
} from '../generated/openapi.ts'
import { type CallOptions, randomId } from '../settings.ts'
import { type Call, calling, callOf, listing, repeated, type Transport } from '../transport.ts'
import { type CancelAll, cancelAll } from './cancel-all.ts'
import { commandOnce } from './command.ts'
import { comparedWithChange, comparedWithNew } from './terms.ts'

/** An order to place. Without a `cl_order_id` it gets a random one, which every error names. */
export type OrderTicket = Omit<NewOrder, 'cl_order_id'> & { readonly cl_order_id?: string | undefined }

/** What is to change of which order. Without a `new_cl_order_id` the new order gets a random one, which every error names. */
export type Modification = Omit<OrderChange, 'new_cl_order_id'> & {
  readonly account_id: string
  readonly order_id: string
  readonly new_cl_order_id?: string | undefined
}

export type Orders = ReturnType<typeof orders>

/** A user's orders. */
export function orders(transport: Transport) {
  return {
    /**
     * Places an order, once. Choose and store the `cl_order_id` before, if the order must survive the end of this program. The service
     * refuses an id that was used earlier in the trading day (`cl_order_id_duplicate`).
     */
    place(ticket: OrderTicket, options?: CallOptions): Call<Order> {
      const clOrderId = ticket.cl_order_id ?? randomId()
      const params = { ...ticket, cl_order_id: clOrderId }
      const compare = (order: Order) => comparedWithNew(params, order)
      return callOf(
        commandOnce(transport.begin(options), { operation: placeOrder, params, clOrderId, isOwnId: !ticket.cl_order_id, compare })
      )
    },
    /** Asks what an order would cost. Nothing is placed. */
    preview: calling(transport, previewOrder),
    read: calling(transport, readOrder),
    list: listing(transport, listOrders),
    /** Replaces an open order by a new one, once. Answers the new one. */
    modify(change: Modification, options?: CallOptions): Call<Order> {
      const clOrderId = change.new_cl_order_id ?? randomId()
      const params = { ...change, new_cl_order_id: clOrderId }
      const compare = (order: Order) => comparedWithChange(params, order)
      return callOf(
        commandOnce(transport.begin(options), { operation: modifyOrder, params, clOrderId, isOwnId: !change.new_cl_order_id, compare })
      )
    },
    /** Requests a cancel. If the order has ended when the request is repeated after a lost answer, the order as it ended. */
    cancel: calling(
      transport,
      cancelOrder,
      ({ order_id }) =>
        (error, exchange) =>
          error.code === 'order_not_open' ? repeated(exchange, readOrder, { order_id }) : undefined
    ),
    /** Requests the cancel of every open order in scope, until none is left or the time is over: read the results. */
    cancelAll: (scope: CancelAll, options?: CallOptions) => callOf(cancelAll(transport.begin(options), scope))
  }
}
