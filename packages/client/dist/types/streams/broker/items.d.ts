import type { StreamStatus } from '../../generated/asyncapi.js';
import type { BalanceUpdate, OrderUpdate, PositionsUpdate } from '../../generated/openapi.js';
import type { Reading } from '../reader.js';
/** Whole records, never differences. A closed position comes once more, with the quantity 0. */
export type Update = OrderUpdate | PositionsUpdate | BalanceUpdate;
/**
 * What {@link BrokerStream.follow} yields; `stream_status` at the beginning, and when a connection follows its broker in another way. A
 * slow reader gets the newest `stream_status` of each connection, and the newest `interrupted`, which comes before the updates that wait.
 */
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
/** Everything up to `seq` was yielded, and the next updates come as they happen. Comes again after a silence of 30 seconds. */
 | {
    readonly type: 'live';
    readonly seq: number;
}
/**
 * The service does not send the user's updates at present: there is no connection, also before the first one, or it refuses, or the
 * reader is too slow. Nothing is lost: what happens meanwhile is yielded before the next `live`.
 */
 | {
    readonly type: 'interrupted';
    readonly reason: string;
}
/** The user was deleted, or disabled by the operator; nothing follows. */
 | {
    readonly type: 'deleted';
};
/** The items of one user, for one reader. Besides, what is so at this moment, however far the reader is. */
export interface Following extends Reading<Followed> {
    /**
     * Updates arrive as they happen, nothing is being replayed, nothing waits, and a snapshot that was to be read is read. False as soon as
     * the service was not received for 30 seconds, such as after a sleep of the machine.
     */
    readonly isLive: boolean;
    /** Why the service does not send updates; null while it does, and before it was tried. */
    readonly interruption: string | null;
    /** How each connection follows its broker, by `connection_id`; empty while the service does not send updates. */
    readonly health: ReadonlyMap<string, StreamStatus>;
    /** Removes the health of a connection that was deleted: the service does not report it any more. */
    forget(connectionId: string): void;
}
