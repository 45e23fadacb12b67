// The two streams of the service: updates of users' accounts, and market data.
export type { StreamStatus } from '../generated/asyncapi.ts'

export type { ReadEvents } from './broker/follower.ts'
export type { Followed, Following, Update } from './broker/items.ts'
export { BrokerStream, type BrokerStreamOptions, type FollowOptions } from './broker/stream.ts'
export type { ConnectionOptions, SocketConstructor, SocketLike, Timers } from './connection.ts'
export { type CopyChange, LiveCopy, type LiveCopyOptions, type StoredCopy, type Verified } from './copy/live-copy.ts'
export { digestOf, type Snapshot } from './copy/records.ts'
export { StreamError, type StreamErrorCode } from './errors.ts'
export type { Bar, BarsOptions, Contract, Depth, HistoryOptions, MarketStatus, Quote, Session, Subscribing, Trade } from './market/items.ts'
export { MarketStream, type MarketStreamOptions } from './market/stream.ts'
export type { Reading } from './reader.ts'
export { eventsOf, recordsOf } from './rest.ts'
