import type { BarUpdate, DepthUpdate, MarketSubscribe, OptionsChainUpdate, QuoteUpdate, TradeUpdate } from '../../generated/asyncapi.js';
/** Final once it is closed (`st` is `c`). An open one is replaced by the next of the same `ts`. */
export type Bar = Omit<BarUpdate, 'sub_id'>;
export type Trade = Omit<TradeUpdate, 'sub_id'>;
/** Null where there is no bid or ask. */
export type Quote = Omit<QuoteUpdate, 'sub_id'>;
/** A whole book to its level, best first. A level: price, size, number of orders (empty if unknown), venue (may be empty), time. */
export type Depth = Pick<DepthUpdate, 'b' | 'a'>;
/** One option of a chain. */
export type Contract = Omit<OptionsChainUpdate, 'sub_id'>;
export interface Subscribing {
    readonly symbol: string;
    readonly signal?: AbortSignal;
    /**
     * Called when the data becomes current, and when it is not: also before the first connection, and with each other reason.
     * What it throws is ignored.
     */
    readonly onStatus?: (status: MarketStatus) => unknown;
}
/** The part of the trading day, for shares. */
export type Session = NonNullable<MarketSubscribe['session']>;
export type MarketStatus = {
    readonly isLive: true;
} | {
    readonly isLive: false;
    readonly reason: string;
};
export interface BarsOptions extends Subscribing {
    /** A number and a unit: `m`, `h`, `d`, `w`, `M`, `y`. */
    readonly interval: string;
    readonly session?: Session;
    /** Closed bars to begin with. */
    readonly backfill?: number;
}
export interface HistoryOptions {
    readonly symbol: string;
    readonly interval: string;
    /** RFC 3339 with an offset; inclusive. */
    readonly start: string;
    /** Exclusive. */
    readonly end: string;
    readonly signal?: AbortSignal;
}
