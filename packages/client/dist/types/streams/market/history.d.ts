import type { Bar, HistoryOptions } from './items.js';
import type { Subscription } from './subscription.js';
/** One read of past bars. It is asked for in each new connection until it has its answer. */
export interface HistoryRead extends Subscription {
    /** Rejects with what it failed with. */
    readonly bars: Promise<readonly Bar[]>;
}
export declare function historyRead({ symbol, interval, start, end: before }: HistoryOptions): HistoryRead;
