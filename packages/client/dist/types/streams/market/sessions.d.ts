import { type ConnectionOptions } from '../connection.js';
import type { Reading } from '../reader.js';
import type { Channel } from './channels.js';
import type { Bar, HistoryOptions, Subscribing } from './items.js';
/** `url`: the market data stream, such as `wss://trunkline.example.com/market-data/stream`. */
export interface MarketStreamOptions extends ConnectionOptions {
    /** Gets an access token of the connection. Called at first, and when the service takes the last one no longer. */
    readonly token: () => Promise<string>;
}
/** What subscribes and reads, over one WebSocket that is open while somebody does. */
export interface MarketSessions {
    /** Milliseconds since the service was last received, null before the first message. */
    ageMs(): number | null;
    read<T>(channel: Channel<T>, options: Subscribing): Reading<T>;
    /** Past bars. */
    history(options: HistoryOptions): Promise<readonly Bar[]>;
}
/** @throws StreamError setting_invalid */
export declare function marketSessions(options?: MarketStreamOptions): MarketSessions;
