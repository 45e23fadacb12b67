import {
  type CancelOrderCall,
  type CancelResults,
  cancelOrder,
  type ListOrdersCall,
  listOrders,
  modifyOrder,
  type NewOrder,
  type Order,
  type OrderChange,
  type PreviewOrderCall,
  placeOrder,
  previewOrder,
  type ReadOrderCall,
  readOrder
} from '../generated/openapi.ts'
import type { Operation } from '../operation.ts'
import { type CallOptions, randomId } from '../settings.ts'
import { type Call, type Calls, calling, callOf, type Lists, listing, repeated, type Transport } from '../transport.ts'
import { type CancelAll, cancelAll } from './cancel-all.ts'
import { commandOnce, type OrderShape } from './command.ts'

/** An order to place. Without a `cl_order_id` it gets a random one, which every error names. */
export type OrderTicket = Omit<NewOrder, 'cl_order_id'> & { readonly cl_order_id?: string | undefined }

/** What is to change of which order. Without a `new_cl_order_id` the new order gets a random one, which every error names. */
export type Modification = Omit<OrderChange, 'new_cl_order_id'> & {
  readonly account_id: string
  readonly order_id: string
  readonly new_cl_order_id?: string | undefined
}

/** A user's orders. */
export interface Orders {
  /**
   * Places an order, once. Choose and store the `cl_order_id` before, if the order must survive the end of this program. The service
   * refuses an id that was used earlier in the trading day (`cl_order_id_duplicate`): read the order that the error names first, which is
   * yours where something on the way sent the request twice. A new id is another order.
   */
  place(ticket: OrderTicket, options?: CallOptions): Call<Order>
  /** Asks what an order would cost. Nothing is placed. */
  readonly preview: Calls<PreviewOrderCall>
  readonly read: Calls<ReadOrderCall>
  readonly list: Lists<ListOrdersCall>
  /** Replaces an open order by a new one, once. Answers the new one. */
  modify(change: Modification, options?: CallOptions): Call<Order>
  /** Requests a cancel. If the order has ended when the request is repeated after a lost answer, the order as it ended. */
  readonly cancel: Calls<CancelOrderCall>
  /** Requests the cancel of every open order in scope, until none is left or the time is over: read the results. */
  cancelAll(scope: CancelAll, options?: CallOptions): Call<CancelResults>
}

export function orders(transport: Transport): Orders {
  return {
    place: (ticket = Object(), options) =>
      // A new order replaces none, and is for an amount of money only if it says so.
      commanding(
        placeOrder,
        ticket,
        'cl_order_id',
        { ...ticket, order_notional: ticket.order_notional ?? '', replaces_order_id: '' },
        options
      ),
    preview: calling(transport, previewOrder),
    read: calling(transport, readOrder),
    list: listing(transport, listOrders),
    modify: (change = Object(), options) =>
      commanding(modifyOrder, change, 'new_cl_order_id', { ...change, replaces_order_id: change.order_id }, options),
    cancel: calling(transport, cancelOrder, ({ code }, exchange, { order_id }) =>
      code === 'order_not_open' ? repeated(exchange, readOrder, { order_id }) : undefined
    ),
    cancelAll: (scope = Object(), options) => callOf(cancelAll(transport.begin(options), scope))
  }

  function commanding<S extends OrderShape>(
    operation: Operation<S>,
    terms: Readonly<Record<string, unknown>>,
    idName: 'cl_order_id' | 'new_cl_order_id',
    asked: object,
    options: CallOptions | undefined
  ): Call<Order> {
    const given = terms[idName] ?? null
    const id = given === null ? randomId() : String(given)
    return callOf(commandOnce(transport.begin(options), operation, Object({ ...terms, [idName]: id }), id, given === null, asked))
  }
}
