import type { StreamStatus } from '../../generated/asyncapi.js';
import type { Balance, Order, Position } from '../../generated/openapi.js';
import type { Update } from '../broker/items.js';
import type { BrokerStream } from '../broker/stream.js';
import { type Snapshot } from './records.js';
/** A copy as it is stored: the records, and the `seq` up to which they are complete. Both belong in one transaction. */
export interface StoredCopy extends Snapshot {
    readonly seq: number;
}
/** What changed in the copy: everything (`begin`), or what an update brought. */
export type CopyChange = {
    readonly type: 'begin';
    readonly seq: number;
    readonly snapshot: Snapshot;
} | Update;
export interface LiveCopyOptions {
    readonly stream: BrokerStream;
    readonly userId: string;
    /** Reads all orders, positions and balances of the user by REST. Called at the beginning, and whenever updates could not be had. */
    readonly readSnapshot: (signal: AbortSignal) => Promise<Snapshot>;
    /**
     * The newest `seq` of the user's log, by REST. {@link LiveCopy.verify} needs it; and with it the copy is not `live` before it has
     * reached every update that its snapshot may contain already. Without it, records may go back for a moment after that.
     */
    readonly readLastSeq?: (signal: AbortSignal) => Promise<number>;
    /** What was stored last, or null. */
    readonly load?: () => Promise<StoredCopy | null>;
    /** Stores a change and its `seq` in one transaction. The next change waits for it. */
    readonly save?: (change: CopyChange, copy: LiveCopy) => Promise<void>;
}
export type Verified = {
    readonly isEqual: true;
    readonly seq: number;
    readonly digest: string;
} | {
    readonly isEqual: false;
    readonly seq: number;
    readonly digest: string;
    readonly expected: string;
};
/** An exact copy of a user's orders, positions and balances, kept up to date while {@link LiveCopy.run} runs. */
export declare class LiveCopy {
    #private;
    constructor(options: LiveCopyOptions);
    /** By `order_id`. */
    get orders(): ReadonlyMap<string, Order>;
    get positions(): readonly Position[];
    get balances(): readonly Balance[];
    /** How each connection follows its broker, by `connection_id`: a copy is only as current as that. Empty while it is not known. */
    get health(): ReadonlyMap<string, StreamStatus>;
    /** The copy is complete up to this update; null before its beginning. */
    get seq(): number | null;
    /** Whether it has everything that the service has sent, and updates arrive as they happen. */
    get isLive(): boolean;
    /**
     * Why no updates arrive: no connection, wrong credentials, no such user, or a snapshot that could not be read yet.
     * Null while they do, and before it was tried.
     */
    get interruption(): string | null;
    /** Milliseconds since the service was last received; null before that. */
    get ageMs(): number | null;
    /**
     * Keeps the copy until the signal aborts or the user is deleted or disabled (`deleted`), and yields each change after it was saved.
     * A snapshot that cannot be read now is read again after the stream's own waits, as long as the error is `retrySafe`.
     * @throws StreamError, what `load` and `save` throw, and other errors of `readSnapshot`, `readLastSeq` and the stream's `readEvents`
     */
    run(signal: AbortSignal): AsyncGenerator<CopyChange, 'stopped' | 'deleted', undefined>;
    /** An answer to a request of your own may be newer than the last update. */
    putOrder(order: Order): void;
    /** Removes the records of a connection that was deleted; no update does. */
    forget(connectionId: string): void;
    /**
     * Resolves when it is live, also if that takes for ever.
     * @throws Error when {@link LiveCopy.run} ends before, or has ended, and the reason of the signal
     */
    live(signal?: AbortSignal): Promise<void>;
    /** SHA-256 over all records; {@link digestOf} of a snapshot that holds the same is equal. */
    digest(): Promise<string>;
    /**
     * Compares the copy with what REST returns, at a moment in which both have the same `seq`.
     * @throws Error if there is no such moment in ten tries, because something changes all the time; or if the copy is not kept
     */
    verify(signal: AbortSignal): Promise<Verified>;
}
