import type { Incoming } from '../connection.js';
import type { Queue } from '../queue.js';
import type { Bar, BarsOptions, Contract, Depth, Quote, Session, Trade } from './items.js';
/** What one kind of subscription asks for, and how its updates join. */
export interface Channel<T> {
    /**
     * The fields of `subscribe`: of the first one, and of each that goes on after an interruption.
     * @param absenceMs since the data was current for certain; null: it was not yet
     */
    request(absenceMs: number | null): object;
    /** The service took the last request. */
    accepted?(): void;
    /** The service itself goes on after an interruption of its broker, within the session. */
    resumed?(absenceMs: number): void;
    /** @throws Error if it is no update of this kind */
    put(update: Incoming, queue: Queue<T>): void;
}
/** Each closed bar once; of an open one that waits, the newest. */
export declare function bars({ symbol, interval, session, backfill }: BarsOptions): Channel<Bar>;
/** Each trade once. */
export declare function trades(symbol: string, session?: Session): Channel<Trade>;
/** Only the newest one waits. */
export declare function quotes(symbol: string): Channel<Quote>;
/** Only the newest one waits. */
export declare function depth(symbol: string, levels?: number): Channel<Depth>;
/** Of each contract, only the newest state waits. */
export declare function chain(symbol: string, expiration: string, greeks: boolean): Channel<Contract>;
