import type * as client from './index.js' with { 'resolution-mode': 'import' }
export type * from './index.js' with { 'resolution-mode': 'import' }
export declare const BrokerStream: typeof client.BrokerStream
export type BrokerStream = client.BrokerStream
export declare const LiveCopy: typeof client.LiveCopy
export type LiveCopy = client.LiveCopy
export declare const MarketStream: typeof client.MarketStream
export type MarketStream = client.MarketStream
export declare const StreamError: typeof client.StreamError
export type StreamError = client.StreamError
export declare const digestOf: typeof client.digestOf
export declare const eventsOf: typeof client.eventsOf
export declare const recordsOf: typeof client.recordsOf
