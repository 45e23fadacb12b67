import type { Incoming, Timers } from '../connection.js';
import { type Reader } from '../reader.js';
import type { Channel } from './channels.js';
import type { Subscribing } from './items.js';
/** What the stream needs of a subscription, whatever its kind. */
export interface Subscription {
    request(): object;
    put(update: Incoming): void;
    /** The data is not current. */
    interrupted(reason: string): void;
    /** The service took it; updates follow. */
    accepted(): void;
    end(error?: unknown): void;
}
/**
 * What one reader of a channel iterates over.
 * @param left called once, when nothing is wanted any more
 */
export declare function subscriptionOf<T>(channel: Channel<T>, onStatus: Subscribing['onStatus'], timers: Timers, left: () => void): Reader<T> & Subscription;
