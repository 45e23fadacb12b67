import type { StreamStatus } from '../../generated/asyncapi.js';
import type { StreamConnection } from '../connection.js';
import { Queue } from '../queue.js';
import type { Followed, Update } from './items.js';
/** Reads the log of updates by REST: the user's with a higher `seq`, in order, as far back as they are stored. */
export type ReadEvents = (userId: string, after: number, signal: AbortSignal) => AsyncIterable<Update>;
/**
 * One user in the stream: remembers how far its reader's updates reach, so that a new session goes on from there. A reader that falls
 * behind is unsubscribed and goes on from where it is, so what waits is bounded and nothing is lost.
 */
export declare class Follower {
    #private;
    readonly queue: Queue<Followed>;
    constructor(userId: string, seq: number | null, connection: StreamConnection, waitingMax: number, readEvents: ReadEvents | undefined);
    /** What the reader gets; it leaves when the reading ends. */
    read(signal: AbortSignal | undefined, leave: () => void): AsyncGenerator<Followed, void, undefined>;
    /** Asks for what follows, unless that is under way or the reader is behind. */
    subscribe(): void;
    interrupted(reason: string): void;
    subscribed(seq: number): void;
    caughtUp(): void;
    /** @throws Error if a number is missing, so that the session ends and the next one goes on from what came */
    update(update: Update): void;
    health(status: StreamStatus): void;
    unsubscribed(): void;
    /** What is not replayed is read from the log; if the log does not have it either, a snapshot is needed. */
    refused(message: string): void;
}
