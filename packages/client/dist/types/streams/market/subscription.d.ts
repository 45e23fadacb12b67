import type { Incoming, Timers } from '../connection.js';
import { Reader } from '../reader.js';
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
    end(error: unknown): void;
}
export declare class ChannelSubscription<T> extends Reader<T> implements Subscription {
    #private;
    /** @param leave called once, when nothing is wanted any more */
    constructor(channel: Channel<T>, onStatus: Subscribing['onStatus'], timers: Timers, leave: () => void);
    request(): object;
    accepted(): void;
    put(update: Incoming): void;
    interrupted(reason: string): void;
    protected take(): T | undefined;
    protected ended(): void;
}
