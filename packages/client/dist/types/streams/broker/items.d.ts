import type { StreamStatus } from '../../generated/asyncapi.js';
import type { BalanceUpdate, OrderUpdate, PositionsUpdate } from '../../generated/openapi.js';
/** Whole records, never differences. A closed position comes once more, with the quantity 0. */
export type Update = OrderUpdate | PositionsUpdate | BalanceUpdate;
/** What {@link BrokerStream.follow} yields; `stream_status` at the beginning, and when a connection follows its broker in another way. */
export type Followed = Update | StreamStatus
/**
 * Read a snapshot by REST now: it includes every update up to `seq`, and the updates after `seq` follow. `reason` is null at the first
 * beginning; later it says why the updates in between could not be had.
 */
 | {
    readonly type: 'begin';
    readonly seq: number;
    readonly reason: string | null;
}
/** Everything up to `seq` was yielded, and the next updates come as they happen. */
 | {
    readonly type: 'live';
    readonly seq: number;
}
/** No connection to the service. Nothing is lost: what happens meanwhile is yielded before the next `live`. */
 | {
    readonly type: 'interrupted';
    readonly reason: string;
}
/** The user was deleted; nothing follows. */
 | {
    readonly type: 'deleted';
};
