import type { Timers } from '../connection.js';
import { type Reader } from '../reader.js';
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
/** One reader of a user. */
export interface Follower extends Reader<Followed>, Following, Subscriber {
    readonly isLive: boolean;
}
/**
 * Remembers how far the updates of a reader reach, so that a new session goes on from there. A reader that falls behind is unsubscribed and
 * goes on from where it is, so what waits is bounded and nothing is lost.
 * @param left called once, when nothing is wanted any more
 */
export declare function followerOf(options: FollowerOptions, subscription: UserSubscription, left: () => void): Follower;
