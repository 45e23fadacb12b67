import type { Answer, Exchange } from '../exchange.js';
import { type CancelResults } from '../generated/openapi.js';
/** Which orders: exactly one of the three. */
export type CancelAll = {
    readonly account_id: string;
} | {
    readonly connection_id: string;
} | {
    readonly all: true;
};
/**
 * Repeats the request while orders are left. It requests no cancel twice. Answers the last result of each order; an order that ended while
 * the answer about it was lost has none.
 */
export declare function cancelAll(exchange: Exchange, scope: CancelAll): Promise<Answer<CancelResults>>;
