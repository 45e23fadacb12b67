import { type CancelOrderCall, type CancelResults, type ListOrdersCall, type NewOrder, type Order, type OrderChange, type PreviewOrderCall, type ReadOrderCall } from '../generated/openapi.js';
import { type CallOptions } from '../settings.js';
import { type Call, type Calls, type Lists, type Transport } from '../transport.js';
import { type CancelAll } from './cancel-all.js';
/** An order to place. Without a `cl_order_id` it gets a random one, which every error names. */
export type OrderTicket = Omit<NewOrder, 'cl_order_id'> & {
    readonly cl_order_id?: string | undefined;
};
/** What is to change of which order. Without a `new_cl_order_id` the new order gets a random one, which every error names. */
export type Modification = Omit<OrderChange, 'new_cl_order_id'> & {
    readonly account_id: string;
    readonly order_id: string;
    readonly new_cl_order_id?: string | undefined;
};
/** A user's orders. */
export interface Orders {
    /**
     * Places an order, once. Choose and store the `cl_order_id` before, if the order must survive the end of this program. The service
     * refuses an id that was used earlier in the trading day (`cl_order_id_duplicate`): read the order that the error names first, which is
     * yours where something on the way sent the request twice. A new id is another order.
     */
    place(ticket: OrderTicket, options?: CallOptions): Call<Order>;
    /** Asks what an order would cost. Nothing is placed. */
    readonly preview: Calls<PreviewOrderCall>;
    readonly read: Calls<ReadOrderCall>;
    readonly list: Lists<ListOrdersCall>;
    /** Replaces an open order by a new one, once. Answers the new one. */
    modify(change: Modification, options?: CallOptions): Call<Order>;
    /** Requests a cancel. If the order has ended when the request is repeated after a lost answer, the order as it ended. */
    readonly cancel: Calls<CancelOrderCall>;
    /** Requests the cancel of every open order in scope, until none is left or the time is over: read the results. */
    cancelAll(scope: CancelAll, options?: CallOptions): Call<CancelResults>;
}
export declare function orders(transport: Transport): Orders;
