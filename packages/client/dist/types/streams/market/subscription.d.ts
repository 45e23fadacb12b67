import type { Incoming } from '../connection.js';
import { Queue } from '../queue.js';
import type { Channel } from './channels.js';
import type { MarketStatus } from './items.js';
/** What the stream needs of a subscription, whatever its kind. */
export interface Subscription {
    request(nowMs: number): object;
    put(update: Incoming): void;
    /** The data is not current any more. */
    interrupted(reason: string): void;
    /** The service took it; updates follow. */
    accepted(): void;
    fail(error: unknown): void;
}
export declare class ChannelSubscription<T> implements Subscription {
    #private;
    readonly queue: Queue<T>;
    constructor(channel: Channel<T>, onStatus?: (status: MarketStatus) => void);
    request(nowMs: number): object;
    accepted(): void;
    put(update: Incoming): void;
    interrupted(reason: string): void;
    fail(error: unknown): void;
}
