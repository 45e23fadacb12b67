import type { Answer, Exchange } from '../exchange.js';
import { type Order } from '../generated/openapi.js';
import type { Operation, OperationShape, Params } from '../operation.js';
/** An operation that answers an order. */
export interface OrderShape extends OperationShape {
    readonly answer: Order;
}
/**
 * Sends a request for an order until its outcome is known. After an answer that was lost, the same request goes out again under the same
 * id: the service makes it once, and names the order that has the id, which is read and compared. Once the trading day may have changed,
 * the id could be used again, so from then on the order is only looked up, also after a refusal that asked to wait.
 * @param isOwnId the id was made for this call, so nobody else's order has it
 * @param asked what the order must match
 * @throws TrunklineError with `clOrderId`: what the service answered when no request before had been lost, cl_order_id_taken,
 * outcome_unknown, aborted, or why no request got through.
 */
export declare function commandOnce<S extends OrderShape>(exchange: Exchange, operation: Operation<S>, params: Params<S>, clOrderId: string, isOwnId: boolean, asked: object): Promise<Answer<Order>>;
