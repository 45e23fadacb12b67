import type { Order } from '../generated/openapi.js';
/**
 * Whether an order is the one that was asked for. `unsure`: it is for the same thing, at terms that a broker's report may have changed
 * since.
 */
export type Match = 'same' | 'unsure' | 'other';
/** Compares what was asked for with an order, as far as it was asked for: null stands for what the service decides. */
export declare function matched(asked: object, order: Order): Match;
/**
 * A value in one form: decimals without zeros at the end, and compared as texts, so that no digit is lost; ids in lower case; OCC symbols
 * without their padding; legs without their fills.
 */
export declare function plain(value: unknown): string;
