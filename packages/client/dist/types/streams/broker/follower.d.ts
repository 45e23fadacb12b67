import type { StreamStatus } from '../../generated/asyncapi.js';
import type { Timers } from '../connection.js';
import { Reader } from '../reader.js';
import type { Followed, Following, Update } from './items.js';
import type { Subscriber, UserSubscription } from './subscription.js';
/** Reads the log of updates by REST: the user's with a higher `seq`, in order, as far back as they are stored. */
export type ReadEvents = (userId: string, after: number, signal: AbortSignal) => AsyncIterable<Update>;
export interface FollowerOptions {
    readonly userId: string;
    /** Null: begin with a snapshot. */
    readonly after: number | null;
    readonly waitingMax: number;
    readonly readEvents: ReadEvents | undefined;
    readonly timers: Timers;
}
/**
 * One reader of a user: remembers how far its updates reach, so that a new session goes on from there. A reader that falls behind is
 * unsubscribed and goes on from where it is, so what waits is bounded and nothing is lost.
 */
export declare class Follower extends Reader<Followed> implements Following, Subscriber {
    #private;
    readonly health: Map<string, StreamStatus>;
    interruption: string | null;
    /** @param leave called once, when nothing is wanted any more */
    constructor(options: FollowerOptions, subscription: UserSubscription, leave: () => void);
    get isLive(): boolean;
    /** One update is asked for again, because its id shows whether the log is still the same user's. */
    get after(): number | null;
    /** Whether no updates are wanted at present. */
    get isWaiting(): boolean;
    /** Nothing comes for now; the reader is given the reason, unless it knows it. */
    interrupted(reason: string): void;
    subscribed(seq: number): void;
    /** @throws Error if updates are missing before it, or the log ends before what came */
    caughtUp(seq: number): void;
    /** @throws Error if a number is missing, or belongs to another user */
    update(update: Update): void;
    healthIs(status: StreamStatus): void;
    forget(connectionId: string): void;
    deleted(): void;
    /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
    refused(message: string): void;
    receivedAgain(): void;
    protected ended(): void;
    /** The reader is here. */
    protected take(): Followed | undefined;
}
