import type { BalanceUpdate, OrderUpdate, PositionsUpdate } from './openapi.js';
/** The first message of every session. */
export interface Welcome {
    readonly type: 'welcome';
    readonly session_id: string;
    /** What happened, and what to do. */
    readonly message: string;
}
/** Authenticates the session, within 30 seconds. */
export interface Authenticate {
    readonly action: 'authenticate';
    readonly client_id: string;
    readonly client_secret: string;
    readonly version?: 'v1.0' | undefined;
    /** Additional kinds of messages to receive: `stream_status`. */
    readonly extensions?: readonly 'stream_status'[] | undefined;
}
/** The session is authenticated. */
export interface AuthSuccess {
    readonly type: 'auth_success';
    /** What happened, and what to do. */
    readonly message: string;
    readonly version: 'v1.0';
}
/** The authentication failed, or the session was already authenticated. */
export interface AuthError {
    readonly type: 'auth_error';
    /** What happened, and what to do. */
    readonly message: string;
}
/** Adds topics to this session. */
export interface Subscribe {
    readonly action: 'subscribe';
    /** Each of `orders`, `positions`, `balances` at most once, or `all` alone. */
    readonly topics: readonly string[];
}
/** The topics are active from now on. */
export interface Subscribed {
    readonly type: 'subscribed';
    readonly subscription_id: string;
    /** Each of `orders`, `positions`, `balances` at most once, or `all` alone. */
    readonly topics: readonly string[];
}
/** The request was refused and changed nothing. */
export interface SubscriptionFailed {
    readonly type: 'subscription_failed';
    /** What happened, and what to do. */
    readonly message: string;
    /** The user of the request, if it named one. */
    readonly user_id?: string;
}
/** Adds a user to this session. */
export interface SubscribeUser {
    readonly action: 'subscribe_user';
    readonly user_id: string;
    /** The `seq` of the last update that you have. Everything after it is sent first, then `caught_up`. */
    readonly after?: number | undefined;
}
/** The user’s updates are sent from now on. */
export interface UserSubscribed {
    readonly type: 'user_subscribed';
    readonly user_id: string;
    /** All updates after this `seq` are sent. */
    readonly seq: number;
}
/** The replay is complete. */
export interface CaughtUp {
    readonly type: 'caught_up';
    readonly user_id: string;
    /** The `seq` of the newest update at that moment. */
    readonly seq: number;
}
/** Removes a user from this session. */
export interface UnsubscribeUser {
    readonly action: 'unsubscribe_user';
    readonly user_id: string;
}
/** No more updates of the user follow: you unsubscribed, or the user was deleted or disabled. */
export interface UserUnsubscribed {
    readonly type: 'user_unsubscribed';
    readonly user_id: string;
}
/** Checks whether the connection is alive. */
export interface Ping {
    readonly action: 'ping';
    readonly seq?: number | undefined;
}
/** The reply to `ping`, with its `seq`. */
export interface Pong {
    readonly type: 'pong';
    readonly seq?: number;
}
/** How a connection of a subscribed user follows its broker. Needs the extension `stream_status`. */
export interface StreamStatus {
    readonly type: 'stream_status';
    readonly user_id: string;
    readonly connection_id: string;
    readonly status: 'ACTIVE' | 'BROKEN';
    readonly health: 'live' | 'polling' | 'stale' | 'broken';
    readonly since: string;
    /** Why `health` is not `live`. */
    readonly reason: string | null;
}
/** A message was invalid. The session stays open. */
export interface StreamError {
    readonly type: 'error';
    /** What happened, and what to do. */
    readonly message: string;
}
/** Authenticates the session with an access token, within 30 seconds. */
export interface MarketAuthenticate {
    readonly action: 'authenticate';
    /** From `GET /connections/{connection_id}/token`. */
    readonly access_token: string;
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    readonly version?: 'v1.0' | undefined;
}
/** The token was accepted. */
export interface MarketAuthSuccess {
    readonly type: 'auth_success';
    /** What happened, and what to do. */
    readonly message: string;
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    readonly session_id: string;
    readonly version: 'v1.0';
}
/** A failed request, which changed nothing; or, if `request_id` is null, a problem of the session. */
export interface MarketError {
    readonly type: 'error';
    readonly error_code: 'auth_error' | 'not_authenticated' | 'invalid_request' | 'unknown_action' | 'unsupported_channel' | 'unsupported_symbol' | 'unsupported_interval' | 'unsupported_session' | 'subscription_not_found' | 'subscription_limit' | 'connection_broken' | 'broker_unavailable' | 'internal_error';
    /** The `request_id` of the request; null if there was none. */
    readonly request_id: string | null;
    /** What happened, and what to do. */
    readonly message: string;
    /** With `broker_unavailable`: the interrupted subscriptions. They resume on their own. */
    readonly sub_ids?: readonly string[];
}
/** Subscribes to one channel of one symbol. */
export interface MarketSubscribe {
    readonly action: 'subscribe';
    readonly channel: 'bars' | 'trades' | 'quotes' | 'depth' | 'options_chain';
    /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
    readonly symbol: string;
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    /** Bars only, required there. A number and a unit: `m`, `h`, `d`, `w`, `M`, `y`. Case matters. `4h` is `240m`. */
    readonly interval?: string | undefined;
    /** Bars and trades; `BrokerDefault` by default. The part of the trading day. Ignored for anything but shares. */
    readonly session?: 'BrokerDefault' | 'USEqCore' | 'USEqPreMkt' | 'USEqPostMkt' | 'USEqPreAndPostMkt' | 'USEq24Hour' | undefined;
    /** Bars only: the number of past bars to send first. */
    readonly backfill_nbars?: number | undefined;
    /** Depth only: levels of each side; 5 by default. */
    readonly n_levels?: number | undefined;
    /** Options chains only: whether to include the greeks. False by default. */
    readonly greeks?: boolean | undefined;
    /** Options chains only, required there. */
    readonly expiration?: string | undefined;
}
/** Updates with this `sub_id` follow. `interval` for bars, `session` for bars and trades. */
export interface MarketSubscribed {
    readonly type: 'subscription_success';
    /** What happened, and what to do. */
    readonly message: string;
    readonly broker: string;
    readonly channel: 'bars' | 'trades' | 'quotes' | 'depth' | 'options_chain';
    /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
    readonly symbol: string;
    /** A number and a unit: `m`, `h`, `d`, `w`, `M`, `y`. Case matters. `4h` is `240m`. */
    readonly interval?: string;
    /** As in the request. */
    readonly session?: string;
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    /** Counts from "1" in each session. */
    readonly sub_id: string;
}
/** Lists the subscriptions of this session. */
export interface MarketListSubscriptions {
    readonly action: 'list_subscriptions';
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
}
/** The subscriptions of this session. */
export interface MarketSubscriptions {
    readonly type: 'subscriptions_list';
    readonly subscriptions: readonly {
        readonly broker: string;
        readonly channel: 'bars' | 'trades' | 'quotes' | 'depth' | 'options_chain';
        /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
        readonly symbol: string;
        /** Empty unless the channel is bars. */
        readonly interval: string;
        /** Empty unless the channel is bars or trades. */
        readonly session: string;
        /** Counts from "1" in each session. */
        readonly sub_id: string;
    }[];
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    readonly version: 'v1.0';
}
/** Ends one subscription. */
export interface MarketUnsubscribe {
    readonly action: 'unsubscribe';
    /** Counts from "1" in each session. */
    readonly sub_id: string;
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
}
/** The subscription ended. No more updates with this `sub_id` follow. */
export interface MarketUnsubscribed {
    readonly type: 'unsubscription_success';
    /** What happened, and what to do. */
    readonly message: string;
    readonly broker: string;
    readonly channel: 'bars' | 'trades' | 'quotes' | 'depth' | 'options_chain';
    /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
    readonly symbol: string;
    /** Empty unless the channel is bars. */
    readonly interval: string;
    /** Empty unless the channel is bars or trades. */
    readonly session: string;
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    /** Counts from "1" in each session. */
    readonly sub_id: string;
}
/** Requests past bars, at most 50,000. */
export interface MarketSnapshot {
    readonly action: 'snapshot';
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
    readonly symbol: string;
    /** Start of the window: the earliest bar start. RFC 3339 with seconds and an offset. */
    readonly start_time: string;
    /** End of the window: all bars start before this time. Same format. */
    readonly end_time: string;
    readonly data_type: 'bars';
    /** A number and a unit: `m`, `h`, `d`, `w`, `M`, `y`. Case matters. `4h` is `240m`. */
    readonly interval: string;
}
/** Past bars, ascending. */
export interface MarketSnapshotResponse {
    readonly type: 'snapshot_response';
    /** Chosen by you. The reply repeats it. */
    readonly request_id: string;
    /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
    readonly symbol: string;
    readonly data_type: 'bars';
    /** A number and a unit: `m`, `h`, `d`, `w`, `M`, `y`. Case matters. `4h` is `240m`. */
    readonly interval: string;
    readonly start_time: string;
    readonly end_time: string;
    readonly data: readonly {
        readonly o: string;
        readonly h: string;
        readonly l: string;
        readonly c: string;
        readonly v: string;
        /** Start of the bar, in nanoseconds since the Unix epoch. */
        readonly ts: string;
        /** `c`: closed. `o`: open, and may still change. */
        readonly st: 'c' | 'o';
        readonly ev: 'b';
        /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
        readonly sym: string;
    }[];
}
/** A bar. Sent when an open bar changes, at most four times a second, and once when it closes. */
export interface BarUpdate {
    readonly o: string;
    readonly h: string;
    readonly l: string;
    readonly c: string;
    readonly v: string;
    /** Start of the bar, in nanoseconds since the Unix epoch. */
    readonly ts: string;
    /** `c`: closed. `o`: open, and may still change. */
    readonly st: 'c' | 'o';
    /** Counts from "1" in each session. */
    readonly sub_id: string;
}
/** A trade. */
export interface TradeUpdate {
    readonly p: string;
    readonly s: string;
    /** The venue; may be empty. */
    readonly n: string;
    /** Nanoseconds since the Unix epoch. */
    readonly ts: string;
    /** Counts from "1" in each session. */
    readonly sub_id: string;
}
/** The best bid and ask; null if there is none. */
export interface QuoteUpdate {
    readonly bp: string | null;
    readonly bs: string | null;
    readonly ap: string | null;
    readonly as: string | null;
    /** Nanoseconds since the Unix epoch. */
    readonly ts: string;
    /** Counts from "1" in each session. */
    readonly sub_id: string;
}
/** The order book, best prices first. It replaces the previous one. */
export interface DepthUpdate {
    readonly type: 'depth_update';
    readonly b: readonly (readonly string[])[];
    readonly a: readonly (readonly string[])[];
    /** Counts from "1" in each session. */
    readonly sub_id: string;
}
/** One contract of the chain. It has the six greeks only if they were requested. */
export interface OptionsChainUpdate {
    readonly delta?: string | null;
    readonly gamma?: string | null;
    readonly theta?: string | null;
    readonly rho?: string | null;
    readonly vega?: string | null;
    readonly iv?: string | null;
    readonly ask: string | null;
    readonly bid: string | null;
    readonly mid: string | null;
    readonly ask_size: string | null;
    readonly bid_size: string | null;
    readonly close: string | null;
    readonly high: string | null;
    readonly last: string | null;
    readonly low: string | null;
    readonly net_change: string | null;
    readonly net_change_pct: string | null;
    readonly open: string | null;
    readonly previous_close: string | null;
    readonly volume: string | null;
    readonly side: 'Put' | 'Call' | 'Both';
    readonly legs: readonly {
        /** Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`. */
        readonly sym: string;
        readonly strike_price: string;
        /** Midnight UTC of the expiration date. */
        readonly expiration: string;
        readonly option_type: 'Put' | 'Call';
        readonly asset_type: string;
    }[];
    /** Counts from "1" in each session. */
    readonly sub_id: string;
}
/** What a client sends. */
export type ClientMessage = Authenticate | Subscribe | SubscribeUser | UnsubscribeUser | Ping | MarketAuthenticate | MarketSubscribe | MarketListSubscriptions | MarketUnsubscribe | MarketSnapshot;
/** What the service sends. */
export type ServiceMessage = Welcome | AuthSuccess | AuthError | Subscribed | SubscriptionFailed | UserSubscribed | CaughtUp | UserUnsubscribed | Pong | OrderUpdate | PositionsUpdate | BalanceUpdate | StreamStatus | StreamError | MarketAuthSuccess | MarketError | MarketSubscribed | MarketSubscriptions | MarketUnsubscribed | MarketSnapshotResponse | BarUpdate | TradeUpdate | QuoteUpdate | DepthUpdate | OptionsChainUpdate;
