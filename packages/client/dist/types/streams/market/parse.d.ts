import type { Incoming } from '../connection.js';
import type { Bar, Contract, Depth, Quote, Trade } from './items.js';
export declare function isBar(update: Incoming): update is Incoming & Bar;
export declare function isTrade(update: Incoming): update is Incoming & Trade;
export declare function isQuote(update: Incoming): update is Incoming & Quote;
export declare function isDepth(update: Incoming): update is Incoming & Depth;
export declare function isContract(update: Incoming): update is Incoming & Contract;
