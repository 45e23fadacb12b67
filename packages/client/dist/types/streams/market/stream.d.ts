import type { Reading } from '../reader.js';
import type { Bar, BarsOptions, Contract, Depth, HistoryOptions, Quote, Session, Subscribing, Trade } from './items.js';
import { type MarketStreamOptions } from './sessions.js';
/** Market data of one connection of a user, over one WebSocket that is open while somebody reads. Subscriptions outlive it. */
export declare class MarketStream {
    #private;
    /** @throws StreamError setting_invalid */
    constructor(options: MarketStreamOptions);
    /** Milliseconds since the service was last received, null before the first message. */
    get ageMs(): number | null;
    /** Past bars, then the open one whenever it changes, and each once when it closes. Those of an interruption come when it is over. */
    bars(options: BarsOptions): Reading<Bar>;
    /** Every trade while connected. Those of an interruption are not sent; `onStatus` reports it. */
    trades(options: Subscribing & {
        readonly session?: Session;
    }): Reading<Trade>;
    /** The present quote, then each newer one that the reader is in time for. */
    quotes(options: Subscribing): Reading<Quote>;
    /** The present book, then each newer one that the reader is in time for. */
    depth(options: Subscribing & {
        readonly levels?: number;
    }): Reading<Depth>;
    /** Every contract of the expiration, then each that changes. */
    chain(options: Subscribing & {
        readonly expiration: string;
        readonly greeks?: boolean;
    }): Reading<Contract>;
    /** Past bars, at most 50,000. Asked for again if the connection breaks meanwhile. @throws StreamError */
    history(options: HistoryOptions): Promise<readonly Bar[]>;
}
