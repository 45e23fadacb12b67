import type { StreamStatus } from '../../generated/asyncapi.js';
import type { Incoming, StreamConnection } from '../connection.js';
import type { Update } from './items.js';
/** One reader of the user, as its subscription needs it. */
export interface Subscriber {
    /** The number after which the service shall send updates; null: it begins with a snapshot. */
    after(): number | null;
    /** Whether it wants no updates at present. */
    isWaiting(): boolean;
    interrupted(reason: string): void;
    subscribed(seq: number): void;
    refused(message: string): void;
    update(update: Update): void;
    healthIs(status: StreamStatus): void;
    caughtUp(seq: number): void;
    deleted(): void;
    /** The service was received again after a silence. */
    receivedAgain(): void;
    end(error?: unknown): void;
}
/**
 * One user in the stream. At most one request about a user is under way, and what the service sends belongs to the follower that asked for
 * it: an answer is never taken for that to another request, however fast followers come and go.
 */
export interface UserSubscription {
    /** The one that wants updates now; null: none does. */
    follower: Subscriber | null;
    /** Neither wanted, nor known to the session. */
    isIdle(): boolean;
    /** Whether the service sends updates to this follower, and was received lately. */
    isOnFor(follower: Subscriber): boolean;
    /** Asks for what is wanted and not there yet, unless an answer is awaited. */
    settle(): void;
    /** The session has ended. */
    interrupted(reason: string): void;
    /** @throws Error so that the session ends and the next one goes on from what came */
    received(message: Incoming): void;
}
export declare function userSubscription(userId: string, connection: StreamConnection): UserSubscription;
