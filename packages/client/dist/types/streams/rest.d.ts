import type { Trunkline, TrunklineUser } from '../trunkline.js';
import type { ReadEvents } from './broker/follower.js';
import type { LiveCopyOptions } from './copy/live-copy.js';
/** For {@link BrokerStreamOptions.readEvents}: an absence of any length then needs no snapshot, as far as the log reaches back. */
export declare function eventsOf({ events }: Pick<Trunkline, 'events'>): ReadEvents;
/** For {@link LiveCopyOptions}: the records of one user, and how far the user's log reaches. */
export declare function recordsOf({ events }: Pick<Trunkline, 'events'>, userId: string, { orders, positions, balances }: Pick<TrunklineUser, 'orders' | 'positions' | 'balances'>): Required<Pick<LiveCopyOptions, 'readSnapshot' | 'readLastSeq'>>;
