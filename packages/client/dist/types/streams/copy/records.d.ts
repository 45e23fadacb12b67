import type { Balance, Order, Position } from '../../generated/openapi.js';
import type { Update } from '../broker/items.js';
/** What a copy holds, and what it is stored as. */
export interface Snapshot {
    readonly orders: readonly Order[];
    readonly positions: readonly Position[];
    readonly balances: readonly Balance[];
}
/** Records of a user by their keys. */
export declare class Records {
    #private;
    readonly orders: Map<string, Order>;
    readonly positions: Map<string, Position>;
    readonly balances: Map<string, Balance>;
    constructor({ orders, positions, balances }?: Snapshot);
    apply(update: Update): void;
    /** Of two copies of an order, the one with the higher revision is newer. Also for answers to your own requests. */
    putOrder(order: Order): void;
    /** Removes what belongs to a connection that was deleted; no update does. */
    forget(connectionId: string): void;
    toSnapshot(): Snapshot;
}
export declare function positionKey({ account_id, symbol, instrument, broker_position_id }: Position): string;
export declare function balanceKey({ account_id, currency_code }: Balance): string;
/** SHA-256, in hexadecimal, over all records but for when the broker last confirmed them: equal for equal copies, in whatever order. */
export declare function digestOf(snapshot: Snapshot): Promise<string>;
