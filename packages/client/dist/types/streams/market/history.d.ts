import type { Incoming } from '../connection.js';
import type { Bar, HistoryOptions } from './items.js';
import type { Subscription } from './subscription.js';
/** One read of past bars. It is asked for in each new connection until it has its answer. */
export declare class HistoryRead implements Subscription {
    #private;
    /** Rejects with what it failed with. */
    readonly bars: Promise<readonly Bar[]>;
    end: (error: unknown) => void;
    constructor(options: HistoryOptions);
    request(): object;
    put({ data }: Incoming): void;
    accepted(): void;
    interrupted(): void;
}
