import { type ConnectionOptions } from '../connection.js';
import { type ReadEvents } from './follower.js';
import type { Following } from './items.js';
/** `url`: the broker update stream, such as `wss://trunkline.example.com/stream`. */
export interface BrokerStreamOptions extends ConnectionOptions {
    readonly clientId: string;
    readonly clientSecret: string;
    /** Without it, an absence of more than 10,000 updates needs a new snapshot. */
    readonly readEvents?: ReadEvents;
    /** Items that may wait for a reader, 10,000 by default. One that is slower is sent what it missed when it comes back. */
    readonly waitingMax?: number;
}
export interface FollowOptions {
    /** The `seq` of the last update that you have. Left out or null: begin with a snapshot. */
    readonly after?: number | null | undefined;
    readonly signal?: AbortSignal;
}
/** Updates of many users over one connection, which is open while somebody follows. */
export declare class BrokerStream {
    #private;
    /** @throws StreamError setting_invalid */
    constructor(options: BrokerStreamOptions);
    /** Milliseconds since the service was last received, null before the first message. A working connection is at most about 20 s old. */
    get ageMs(): number | null;
    /**
     * A user's updates, in order, each once, over any number of connections. Ends when the user was deleted or disabled, or
     * the signal aborts.
     * @throws StreamError, at once or from the iteration; and the error of `readEvents` that is final, such as an unknown user
     */
    follow(userId: string, options?: FollowOptions): Following;
    /**
     * For what belongs to the stream and failed, such as the snapshot of a copy: calls after the random wait that the stream itself
     * makes after so many failures in a row, 30 seconds at most, unless the returned function was called before.
     */
    later(failures: number, run: () => void): () => void;
}
