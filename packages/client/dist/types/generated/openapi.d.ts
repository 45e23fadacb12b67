import type { Operation, Resource } from '../operation.js';
export interface NewUser {
    /**
     * The platform’s own name of the user: 1 to 64 characters, no control characters, no space at its ends, and
     * neither `.` nor `..`.
     */
    readonly user_id: string;
}
/** A user and its new secret. */
export interface UserWithSecret {
    /**
     * The platform’s own name of the user: 1 to 64 characters, no control characters, no space at its ends, and
     * neither `.` nor `..`.
     */
    readonly user_id: string;
    /** Shown once; store it. Sent later in the `user-secret` header. */
    readonly 'user-secret': string;
}
/** An end user of the platform. */
export interface User {
    /**
     * The platform’s own name of the user: 1 to 64 characters, no control characters, no space at its ends, and
     * neither `.` nor `..`.
     */
    readonly user_id: string;
    readonly created_at: string;
}
/** One page of a list. */
export interface UserPage {
    readonly data: readonly User[];
    /** Send it back to read the next page; null on the last page. */
    readonly next_cursor: string | null;
    /** Send it back to read the previous page; null on the first page. */
    readonly prev_cursor: string | null;
}
/** The user that was deleted. */
export interface DeletedUser {
    /**
     * The platform’s own name of the user: 1 to 64 characters, no control characters, no space at its ends, and
     * neither `.` nor `..`.
     */
    readonly user_id: string;
}
export interface NewConnection {
    /** What the connection may be used for. Only `trade` accepts orders. */
    readonly connection_type?: 'readonly' | 'trade' | 'market_data' | null | undefined;
    /** An alias of `connection_type`. Send only one of the two. */
    readonly type?: 'readonly' | 'trade' | 'market_data' | null | undefined;
    /** If absent, the user chooses a broker in the portal. */
    readonly broker?: string | null | undefined;
    /**
     * Renews the login of this connection of the user instead of creating a new connection; its ids stay.
     * `connection_type` and `broker` must be absent or equal to those of the connection. The user must use a login
     * with access to every account of the connection.
     */
    readonly renew_connection_id?: string | null | undefined;
    /**
     * Where the user is redirected afterwards, with `connection_id` added. If absent, the user stays on the portal’s
     * page.
     */
    readonly redirect_url?: string | null | undefined;
    /**
     * Where the user is redirected after an error, with `error` and `error_details` added. Defaults to
     * `redirect_url`.
     */
    readonly redirect_on_error_url?: string | null | undefined;
}
/** The link for the user. */
export interface StartedConnection {
    /** Can be used once, and cannot be guessed. */
    readonly authorization_url: string;
    readonly expires_at: string;
}
export interface Claim {
    /** The code from the redirect. It can be used once, within ten minutes. */
    readonly claim_code: string;
}
/** An account that the connection gives access to. */
export interface ConnectedAccount {
    readonly account_id: string;
    readonly account_number: string;
}
/** One completed broker login. */
export interface Connection {
    readonly connection_id: string;
    readonly user_id: string;
    /** Broker identifier; see `GET /brokers`. */
    readonly broker: string;
    readonly accounts: readonly ConnectedAccount[];
    /** What the connection may be used for. Only `trade` accepts orders. */
    readonly connection_type: 'readonly' | 'trade' | 'market_data';
    readonly status: 'ACTIVE' | 'BROKEN';
    /**
     * Why the connection cannot be used. `credentials_rejected`: the broker refused the login, and the user must
     * connect again. `environment_changed`: the service now uses another environment of the broker than the one of
     * this login; the connection works again if the service returns to that environment. Null while ACTIVE.
     */
    readonly broken_code: 'credentials_rejected' | 'environment_changed' | 'credentials_altered' | null;
    /** `broken_code` as readable text. */
    readonly broken_reason: string | null;
    /**
     * The environment of the login. `sandbox`: the brokerage that comes with the service; `paper`: the broker’s own
     * paper accounts; `live`: real accounts. Null for a login that is older than this field, at a broker that is no
     * longer offered.
     */
    readonly environment: 'sandbox' | 'paper' | 'live' | null;
    /**
     * How the stored records follow the broker. `live`: by its account stream, without a gap. `polling`: by regular
     * requests. `stale`: the broker does not respond, so the records are the last known ones. `broken`: the broker
     * rejected the credentials.
     */
    readonly health: 'live' | 'polling' | 'stale' | 'broken';
    readonly health_since: string;
    /** Why `health` is not `live`; null while it is. */
    readonly health_reason: string | null;
    /**
     * How many records of the accounts the broker lists that the service cannot read at present. They are left out;
     * all others are followed as `health` says, and nothing that such a list lacks counts as gone: a position stays
     * as its `system_time` has it.
     */
    readonly records_left_out: number;
    /** When one was last left out; null while there is none. */
    readonly records_left_out_at: string | null;
    readonly created_at: string;
    readonly updated_at: string;
}
/** One page of a list. */
export interface ConnectionPage {
    readonly data: readonly Connection[];
    /** Send it back to read the next page; null on the last page. */
    readonly next_cursor: string | null;
    /** Send it back to read the previous page; null on the first page. */
    readonly prev_cursor: string | null;
}
/** The connection that was deleted. */
export interface DeletedConnection {
    readonly connection_id: string;
}
/** A token for the market data stream. */
export interface AccessToken {
    readonly access_token: string;
    readonly expires_at: string;
    /** Seconds. */
    readonly expires_in: number;
}
/** A broker account. */
export interface Account {
    readonly account_id: string;
    readonly account_number: string;
    readonly institution_name: string;
    readonly broker: string;
    readonly connection_id: string;
    readonly name: string | null;
    /** Null if the broker does not provide it. */
    readonly account_type: 'cash' | 'margin' | 'retirement' | 'futures' | 'crypto' | 'other' | null;
    /** The broker’s own value. */
    readonly broker_account_type: string | null;
    readonly currency_code: string | null;
}
/** Amounts of one account in one currency. Null if the broker does not report it. */
export interface Balance {
    readonly connection_id: string;
    readonly account_id: string;
    readonly account_number: string;
    readonly user_id: string;
    readonly currency_code: string;
    readonly cash: string | null;
    readonly buying_power: string | null;
    readonly initial_margin: string | null;
    readonly maintenance_margin: string | null;
    readonly reg_t_buying_power: string | null;
    readonly equity: string | null;
    readonly market_value: string | null;
    /** When the broker last confirmed this record. */
    readonly system_time: string;
}
/** A holding. A negative quantity is short. Null if the broker does not report it. */
export interface Position {
    readonly connection_id: string;
    readonly account_id: string;
    readonly account_number: string;
    readonly user_id: string;
    readonly symbol: string;
    readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO';
    readonly quantity: string;
    readonly last_price: string | null;
    readonly position_average_price: string | null;
    readonly unrealized_pl: string | null;
    readonly realized_pl: string | null;
    readonly daily_pl: string | null;
    readonly total_pl: string | null;
    readonly broker_position_id: string | null;
    /** When the broker last confirmed this record. */
    readonly system_time: string;
}
/** A change of the account’s cash or holdings. */
export interface Transaction {
    readonly transaction_id: string;
    readonly connection_id: string;
    readonly account_id: string;
    readonly account_number: string;
    readonly user_id: string;
    readonly type: 'BUY' | 'SELL' | 'DIVIDEND' | 'INTEREST' | 'FEE' | 'DEPOSIT' | 'WITHDRAWAL' | 'TRANSFER' | 'SPLIT' | 'EXERCISE' | 'ASSIGNMENT' | 'EXPIRATION' | 'ADJUSTMENT' | 'OTHER';
    readonly broker_type: string | null;
    readonly symbol: string | null;
    readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO' | null;
    readonly quantity: string | null;
    readonly price: string | null;
    /** The change of the account’s cash; negative if it decreased. */
    readonly amount: string | null;
    readonly fees: string | null;
    readonly currency_code: string | null;
    readonly date: string;
    readonly settlement_date: string | null;
    readonly order_id: string | null;
    readonly description: string | null;
    readonly system_time: string;
}
export interface NewLeg {
    readonly symbol: string;
    readonly action: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE';
    readonly ratio: string;
}
export interface NewOrder {
    readonly account_id: string;
    /** Chosen by the client; unique per user and trading day (the America/New_York date). */
    readonly cl_order_id: string;
    readonly broker: string;
    readonly side: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE';
    readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT';
    readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+';
    /** Null for a multi-leg order. */
    readonly symbol?: string | null | undefined;
    /** If absent, derived from the format of the symbol. */
    readonly instrument?: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO' | null | undefined;
    /** Send either this or `order_notional`. At most nine decimal places. */
    readonly order_qty?: string | null | undefined;
    /** An amount of money instead of a quantity. */
    readonly order_notional?: string | null | undefined;
    /** For `LMT` and `STPLMT` only. At most nine decimal places. */
    readonly order_limit_price?: string | null | undefined;
    /** For `STP` and `STPLMT` only. At most nine decimal places. */
    readonly stop_price?: string | null | undefined;
    /** For `MLEG_OPT` only. `order_qty` and `order_limit_price` apply to the whole order. */
    readonly legs?: readonly NewLeg[] | null | undefined;
}
/** Whether the order reached the broker. */
export interface Submission {
    /**
     * `unknown`: the broker may have the order, and the service looks it up. `not_sent` and `not_received`: it is
     * proved that the broker does not have the order.
     */
    readonly state: 'submitting' | 'unknown' | 'acknowledged' | 'refused' | 'refused_by_gateway' | 'not_sent' | 'not_received' | 'external';
    readonly since: string;
    /** How often the order was sent to the broker: 0 or 1. */
    readonly attempts: number;
    /** How the state was determined. `operator`: by a decision of the service’s operator. */
    readonly method: 'reply' | 'stream' | 'lookup' | 'snapshot' | 'recovery' | 'absence' | 'operator' | null;
}
/** One execution. */
export interface Fill {
    readonly time: string;
    readonly quantity: string;
    readonly price: string;
    readonly fill_id: string;
    readonly exec_dest: string | null;
}
/** One leg of a multi-leg order. */
export interface Leg {
    readonly symbol: string;
    readonly action: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE';
    readonly ratio: string;
    readonly fills: readonly Fill[];
}
/** An order and everything that is known about it. */
export interface Order {
    readonly order_id: string;
    /** For an order placed outside this service: the broker’s own id. */
    readonly cl_order_id: string;
    readonly user_id: string;
    readonly connection_id: string;
    readonly account_id: string;
    readonly account_number: string;
    /** The broker’s platform. */
    readonly platform: string;
    readonly broker: string;
    readonly normalized_status: 'pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace';
    readonly broker_status: string | null;
    /**
     * The broker’s last message about the order, or the service’s if the broker was not asked or did not respond. It
     * says why the order is `rejected` or, for an open order, why the broker refused its last cancel or
     * modification. Null if there is no message.
     */
    readonly broker_message: string | null;
    /**
     * Why the broker rejected the order, with the same values for every broker; `broker_message` has its own text.
     * `other`: none of the listed reasons. `order_ended`: the order that this one should have replaced had already
     * ended, so read that order before you place another. Null if the order is not `rejected`, if the broker gave no
     * reason and, except for `order_ended`, if it was not the broker that rejected the order (`submission.state`
     * `not_sent` or `not_received`).
     */
    readonly reject_code: 'unknown_symbol' | 'insufficient_funds' | 'insufficient_position' | 'market_closed' | 'price_out_of_range' | 'tick_size' | 'quantity_invalid' | 'not_tradable' | 'not_permitted' | 'duplicate' | 'risk_rejected' | 'order_ended' | 'other' | null;
    readonly submission: Submission;
    readonly side: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE';
    readonly order_qty: string | null;
    readonly order_notional: string | null;
    readonly filled_qty: string;
    readonly average_fill_price: string | null;
    readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT';
    readonly broker_order_type: string | null;
    readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+';
    readonly order_limit_price: string | null;
    readonly stop_price: string | null;
    /** Null for a multi-leg order. */
    readonly symbol: string | null;
    readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO';
    readonly exec_dest: string | null;
    readonly trading_day: string;
    readonly entry_time: string;
    readonly last_exec_time: string | null;
    readonly last_modified_time: string;
    readonly system_time: string;
    readonly fills: readonly Fill[];
    readonly legs: readonly Leg[] | null;
    readonly replaces_order_id: string | null;
    readonly replaced_by_order_id: string | null;
    /**
     * The filled quantity of the orders that this one replaced, or should have replaced. `order_qty` is the total,
     * so `order_qty` − `previously_filled_qty` − `filled_qty` is left. Null if the order replaces no other.
     */
    readonly previously_filled_qty: string | null;
    /**
     * Increases with every change of the order. Of two records of the same order, keep the one with the higher
     * revision, wherever it came from.
     */
    readonly revision: number;
}
export interface NewPreview {
    readonly account_id: string;
    readonly broker: string;
    readonly side: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE';
    readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT';
    readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+';
    /** Null for a multi-leg order. */
    readonly symbol?: string | null | undefined;
    /** If absent, derived from the format of the symbol. */
    readonly instrument?: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO' | null | undefined;
    /** Send either this or `order_notional`. At most nine decimal places. */
    readonly order_qty?: string | null | undefined;
    /** An amount of money instead of a quantity. */
    readonly order_notional?: string | null | undefined;
    /** For `LMT` and `STPLMT` only. At most nine decimal places. */
    readonly order_limit_price?: string | null | undefined;
    /** For `STP` and `STPLMT` only. At most nine decimal places. */
    readonly stop_price?: string | null | undefined;
    /** For `MLEG_OPT` only. `order_qty` and `order_limit_price` apply to the whole order. */
    readonly legs?: readonly NewLeg[] | null | undefined;
}
/** The broker’s estimate of an order’s cost. It is not a guarantee: prices move, and nothing is reserved for it. */
export interface OrderPreview {
    readonly account_id: string;
    readonly broker: string;
    /**
     * `estimated`: the broker would accept the order at this moment. `refused`: it would not, and `broker_message`
     * gives the reason.
     */
    readonly outcome: 'estimated' | 'refused';
    /** The broker’s refusal message; null when `outcome` is `estimated`. */
    readonly broker_message: string | null;
    /** Why the order is refused, with the same values as the `reject_code` of an order. */
    readonly reject_code: 'unknown_symbol' | 'insufficient_funds' | 'insufficient_position' | 'market_closed' | 'price_out_of_range' | 'tick_size' | 'quantity_invalid' | 'not_tradable' | 'not_permitted' | 'duplicate' | 'risk_rejected' | 'order_ended' | 'other' | null;
    /** The broker’s own message about an order that it would accept. */
    readonly warnings: readonly string[];
    /** Where the numbers come from. All of them are the broker’s; the service computes none. */
    readonly source: 'broker';
    /** The currency of the amounts. */
    readonly currency_code: string | null;
    /** Per unit, like `order_limit_price`. Null if the broker does not state it. */
    readonly estimated_price: string | null;
    /** Without commission and fees. Positive if paid, negative if received. Null if the broker does not state it. */
    readonly estimated_cost: string | null;
    /** With commission and fees, signed like `estimated_cost`. Null if the broker does not state it. */
    readonly estimated_total: string | null;
    /** `0.00` means that the broker states that there is none. Null if the broker does not state it. */
    readonly commission: string | null;
    /** Fees in addition to the commission. Null if the broker does not state it. */
    readonly fees: string | null;
    /** Initial margin that the order needs. Null if the broker does not state it. */
    readonly initial_margin: string | null;
    /**
     * The change of the account’s margin requirement; negative if it decreases. Null if the broker does not state
     * it.
     */
    readonly margin_change: string | null;
    /** The change of the buying power; negative if it decreases. Null if the broker does not state it. */
    readonly buying_power_change: string | null;
    readonly previewed_at: string;
}
/** One page of a list. */
export interface OrderPage {
    readonly data: readonly Order[];
    /** Send it back to read the next page; null on the last page. */
    readonly next_cursor: string | null;
    /** Send it back to read the previous page; null on the first page. */
    readonly prev_cursor: string | null;
}
export interface OrderChange {
    /** Chosen by the client; unique per user and trading day (the America/New_York date). */
    readonly new_cl_order_id: string;
    readonly broker: string;
    /** The new total quantity, never the remainder. */
    readonly order_qty?: string | null | undefined;
    readonly order_notional?: string | null | undefined;
    readonly order_limit_price?: string | null | undefined;
    readonly stop_price?: string | null | undefined;
}
export interface CancelOrders {
    readonly account_id?: string | undefined;
    readonly connection_id?: string | undefined;
    /** Every account of the user. */
    readonly all?: true | undefined;
}
/** The result for one order. */
export interface CancelResult {
    readonly account_id: string;
    readonly order_id: string;
    readonly cl_order_id: string;
    /**
     * `cancelled`: the broker confirmed the cancel. `requested`: it has not confirmed it yet, and the order can
     * still fill; follow the order. `ended`: the order ended in another way. `refused`: the broker refused, see
     * `message`; the order is still open. `failed`: the broker could not be asked, see `code`. `not_attempted`: the
     * time limit was reached; send the request again.
     */
    readonly result: 'cancelled' | 'requested' | 'ended' | 'refused' | 'failed' | 'not_attempted';
    readonly normalized_status: 'pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace';
    /**
     * For `failed`: the error code that cancelling only this order would return. For `refused`: `broker_refused`.
     * Null for every other result.
     */
    readonly code: 'credentials_invalid' | 'entitlement_missing' | 'scope_missing' | 'path_invalid' | 'query_invalid' | 'header_invalid' | 'body_malformed' | 'field_invalid' | 'user_not_found' | 'connection_not_found' | 'account_not_found' | 'order_not_found' | 'webhook_endpoint_not_found' | 'webhook_delivery_not_found' | 'route_not_found' | 'method_not_allowed' | 'upgrade_required' | 'platform_not_found' | 'platform_disabled' | 'user_exists' | 'cl_order_id_duplicate' | 'connection_broken' | 'connection_claimed' | 'claim_refused' | 'session_exists' | 'webhook_endpoint_limit' | 'webhook_endpoint_disabled' | 'order_not_open' | 'order_not_settled' | 'order_not_supported' | 'market_data_unsupported' | 'preview_unsupported' | 'order_not_repeatable' | 'user_not_tradable' | 'sandbox_absent' | 'sandbox_refused' | 'body_too_large' | 'headers_too_large' | 'request_too_slow' | 'rate_limited' | 'broker_unavailable' | 'login_provider_unavailable' | 'sandbox_unavailable' | 'store_unavailable' | 'shutting_down' | 'internal' | 'broker_refused' | null;
    /** For `failed`: the reason. For `refused`: the broker’s message. Null for every other result. */
    readonly message: string | null;
}
/** A separate result for each order. */
export interface CancelResults {
    readonly results: readonly CancelResult[];
    /** The number of open orders that this request did not cover. If it is above zero, send the request again. */
    readonly remaining: number;
}
/** An order changed. */
export interface OrderUpdate {
    readonly type: 'orders';
    /** Counts the user’s updates from 1, without a gap. */
    readonly seq: number;
    readonly event_id: string;
    readonly user_id: string;
    readonly data: Order;
}
/** Positions of one account changed. A closed position has the quantity 0. */
export interface PositionsUpdate {
    readonly type: 'positions';
    /** Counts the user’s updates from 1, without a gap. */
    readonly seq: number;
    readonly event_id: string;
    readonly user_id: string;
    readonly data: readonly Position[];
}
/** A balance changed. */
export interface BalanceUpdate {
    readonly type: 'balances';
    /** Counts the user’s updates from 1, without a gap. */
    readonly seq: number;
    readonly event_id: string;
    readonly user_id: string;
    readonly data: Balance;
}
/** Part of a user’s log, in the order in which it was applied. */
export interface EventPage {
    readonly data: readonly (OrderUpdate | PositionsUpdate | BalanceUpdate)[];
    /** Send it back as `after` to read the next page; null at the end of the log. */
    readonly next_after: number | null;
    /**
     * The `seq` of the oldest event that is still stored. If your `after` is less than this minus 1, events are
     * missing: read a snapshot.
     */
    readonly oldest_seq: number;
    /** The `seq` of the newest event; 0 before the first. */
    readonly last_seq: number;
}
export interface NewWebhookEndpoint {
    /** Where updates are posted: `https`, to a public address. The operator can allow networks of their own. */
    readonly url: string;
    /** For the platform’s people. */
    readonly description?: string | undefined;
    /** Which updates are sent; null: all. */
    readonly topics?: readonly ('orders' | 'positions' | 'balances')[] | null | undefined;
    /** Of orders, only updates with one of these `normalized_status`; null: all. */
    readonly order_statuses?: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null | undefined;
}
/** An endpoint and its new secret. */
export interface WebhookEndpointWithSecret {
    readonly endpoint_id: string;
    readonly url: string;
    readonly description: string;
    /** Which updates are sent; null: all. */
    readonly topics: readonly ('orders' | 'positions' | 'balances')[] | null;
    /** Of orders, only updates with one of these `normalized_status`; null: all. */
    readonly order_statuses: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null;
    readonly created_at: string;
    /** Null while it is enabled. */
    readonly disabled_at: string | null;
    /**
     * `requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five
     * days.
     */
    readonly disabled_reason: 'requested' | 'gone' | 'failing' | null;
    /** The start of the last attempt that succeeded, within a second; null: none has. */
    readonly last_success_at: string | null;
    /** The first attempt that failed since one succeeded; null: the last one succeeded, or there was none. */
    readonly failing_since: string | null;
    /** Ed25519 keys (`whpk_…`) whose signatures (`v1a`) messages have now, the current one first. */
    readonly public_keys: readonly string[];
    /** Verifies the signature `v1` of each message. Shown once; store it. */
    readonly secret: string;
}
/** An endpoint that receives updates. */
export interface WebhookEndpoint {
    readonly endpoint_id: string;
    readonly url: string;
    readonly description: string;
    /** Which updates are sent; null: all. */
    readonly topics: readonly ('orders' | 'positions' | 'balances')[] | null;
    /** Of orders, only updates with one of these `normalized_status`; null: all. */
    readonly order_statuses: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null;
    readonly created_at: string;
    /** Null while it is enabled. */
    readonly disabled_at: string | null;
    /**
     * `requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five
     * days.
     */
    readonly disabled_reason: 'requested' | 'gone' | 'failing' | null;
    /** The start of the last attempt that succeeded, within a second; null: none has. */
    readonly last_success_at: string | null;
    /** The first attempt that failed since one succeeded; null: the last one succeeded, or there was none. */
    readonly failing_since: string | null;
}
/** What was logged, passes the filter, and was not received yet. */
export interface WebhookLag {
    /** Users with such updates. */
    readonly users: number;
    /**
     * Their updates. Those that the filter passes over are not counted; what the log has no more counts as one for
     * each user (`events_erased`).
     */
    readonly updates: number;
    /**
     * Whether there may be more: counting ends at 10,000 users, and with a filter at 10,000 updates that it was
     * asked about.
     */
    readonly is_lower_bound: boolean;
    /** When the oldest of these updates was logged; null: the log has none of them. */
    readonly oldest_at: string | null;
}
/** An endpoint, its keys, and how far it is behind. */
export interface WebhookEndpointDetail {
    readonly endpoint_id: string;
    readonly url: string;
    readonly description: string;
    /** Which updates are sent; null: all. */
    readonly topics: readonly ('orders' | 'positions' | 'balances')[] | null;
    /** Of orders, only updates with one of these `normalized_status`; null: all. */
    readonly order_statuses: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null;
    readonly created_at: string;
    /** Null while it is enabled. */
    readonly disabled_at: string | null;
    /**
     * `requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five
     * days.
     */
    readonly disabled_reason: 'requested' | 'gone' | 'failing' | null;
    /** The start of the last attempt that succeeded, within a second; null: none has. */
    readonly last_success_at: string | null;
    /** The first attempt that failed since one succeeded; null: the last one succeeded, or there was none. */
    readonly failing_since: string | null;
    /** Ed25519 keys (`whpk_…`) whose signatures (`v1a`) messages have now, the current one first. */
    readonly public_keys: readonly string[];
    readonly lag: WebhookLag;
}
export interface WebhookEndpointChange {
    /** Where updates are posted: `https`, to a public address. The operator can allow networks of their own. */
    readonly url?: string | undefined;
    /** For the platform’s people. */
    readonly description?: string | undefined;
    /** Which updates are sent; null: all. */
    readonly topics?: readonly ('orders' | 'positions' | 'balances')[] | null | undefined;
    /** Of orders, only updates with one of these `normalized_status`; null: all. */
    readonly order_statuses?: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null | undefined;
    /** An endpoint that is enabled again goes on where it was. */
    readonly enabled?: boolean | undefined;
}
/** The endpoint that was deleted. */
export interface DeletedWebhookEndpoint {
    readonly endpoint_id: string;
}
export interface WebhookKeyRotation {
    /** How long the old keys sign beside the new ones. */
    readonly overlap_hours?: number | undefined;
}
/** A test message that was sent, and how the attempt ended. */
export interface WebhookTest {
    readonly delivery_id: string;
    /** The `webhook-id`: the same for each attempt of a message. */
    readonly message_id: string;
    /** Why the attempt was made. */
    readonly reason: 'event' | 'retry' | 'replay' | 'test';
    /** Null: a test message. */
    readonly user_id: string | null;
    /** The first update of the message; null: a test message. */
    readonly from_seq: number | null;
    /** The last one. */
    readonly to_seq: number | null;
    /** How many updates it has. */
    readonly updates: number;
    /** From 1, for each message. */
    readonly attempt: number;
    readonly started_at: string;
    /** Until the answer had ended, or the attempt had failed. */
    readonly took_ms: number;
    /** Of the answer; null: there was none. */
    readonly status: number | null;
    /**
     * Null: the endpoint answered with a status from 200 to 299. `status`: it answered with another one; `redirect`:
     * redirects are not followed.
     */
    readonly failure: 'status' | 'redirect' | 'timeout' | 'dns' | 'address_refused' | 'connect' | 'tls' | 'answer_too_large' | 'broken_off' | null;
    /** When the message is tried again; null: it is not. */
    readonly retry_at: string | null;
    /** Null: it was sent, and it is not known whether it was kept. */
    readonly is_kept: boolean | null;
}
/** One attempt to send a message. */
export interface WebhookDelivery {
    readonly delivery_id: string;
    /** The `webhook-id`: the same for each attempt of a message. */
    readonly message_id: string;
    /** Why the attempt was made. */
    readonly reason: 'event' | 'retry' | 'replay' | 'test';
    /** Null: a test message. */
    readonly user_id: string | null;
    /** The first update of the message; null: a test message. */
    readonly from_seq: number | null;
    /** The last one. */
    readonly to_seq: number | null;
    /** How many updates it has. */
    readonly updates: number;
    /** From 1, for each message. */
    readonly attempt: number;
    readonly started_at: string;
    /** Until the answer had ended, or the attempt had failed. */
    readonly took_ms: number;
    /** Of the answer; null: there was none. */
    readonly status: number | null;
    /**
     * Null: the endpoint answered with a status from 200 to 299. `status`: it answered with another one; `redirect`:
     * redirects are not followed.
     */
    readonly failure: 'status' | 'redirect' | 'timeout' | 'dns' | 'address_refused' | 'connect' | 'tls' | 'answer_too_large' | 'broken_off' | null;
    /** When the message is tried again; null: it is not. */
    readonly retry_at: string | null;
}
/** One page of a list. */
export interface WebhookDeliveryPage {
    readonly data: readonly WebhookDelivery[];
    /** Send it back to read the next page; null on the last page. */
    readonly next_cursor: string | null;
    /** Send it back to read the previous page; null on the first page. */
    readonly prev_cursor: string | null;
}
/** A header that was sent. */
export interface SentHeader {
    readonly name: string;
    readonly value: string;
}
/** One attempt, with what was sent and answered. */
export interface WebhookDeliveryDetail {
    readonly delivery_id: string;
    /** The `webhook-id`: the same for each attempt of a message. */
    readonly message_id: string;
    /** Why the attempt was made. */
    readonly reason: 'event' | 'retry' | 'replay' | 'test';
    /** Null: a test message. */
    readonly user_id: string | null;
    /** The first update of the message; null: a test message. */
    readonly from_seq: number | null;
    /** The last one. */
    readonly to_seq: number | null;
    /** How many updates it has. */
    readonly updates: number;
    /** From 1, for each message. */
    readonly attempt: number;
    readonly started_at: string;
    /** Until the answer had ended, or the attempt had failed. */
    readonly took_ms: number;
    /** Of the answer; null: there was none. */
    readonly status: number | null;
    /**
     * Null: the endpoint answered with a status from 200 to 299. `status`: it answered with another one; `redirect`:
     * redirects are not followed.
     */
    readonly failure: 'status' | 'redirect' | 'timeout' | 'dns' | 'address_refused' | 'connect' | 'tls' | 'answer_too_large' | 'broken_off' | null;
    /** When the message is tried again; null: it is not. */
    readonly retry_at: string | null;
    readonly request_headers: readonly SentHeader[];
    readonly request_bytes: number;
    /** The body, made again from the log; null: the log does not have all of it any more. */
    readonly request_body: string | null;
    /** The first 4 KiB; null: there was no answer. */
    readonly answer_body: string | null;
    /** Whether the answer was longer. */
    readonly answer_is_cut: boolean;
}
export interface WebhookReplay {
    /** The `webhook-id` of a message. Send either this or the others. */
    readonly message_id?: string | undefined;
    readonly user_id?: string | undefined;
    /** The first update that is sent again. */
    readonly from_seq?: number | undefined;
    /** The last one; at most 10000 are sent again. */
    readonly to_seq?: number | undefined;
}
/** What is being sent again. */
export interface AcceptedWebhookReplay {
    readonly endpoint_id: string;
    readonly from_seq: number;
    readonly to_seq: number;
}
/**
 * A combination that the broker accepts. An order with any other combination is refused before the broker is
 * asked.
 */
export interface OrderCombination {
    readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO';
    readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT';
    readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+';
    /**
     * When the order can trade. `extended`: only before and after the regular hours; `exchange`: whenever the
     * contract’s exchange is open; `always`: at any time.
     */
    readonly hours: 'regular' | 'regular_and_extended' | 'extended' | 'opening_auction' | 'closing_auction' | 'exchange' | 'always';
    /**
     * When the order can be placed. `in_session`: only during the session that it is for; the broker rejects it at
     * other times.
     */
    readonly placed: 'any_time' | 'in_session';
    readonly sides: readonly ('BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE')[];
    /** `whole` and `fraction` are quantities (`order_qty`), `notional` is an amount of money (`order_notional`). */
    readonly sizes: readonly ('whole' | 'fraction' | 'notional')[];
}
/** How far back the broker’s own bars of an interval go. */
export interface BrokerBackfill {
    readonly interval: string;
    /** The maximum of `backfill_nbars` for this interval. More are refused. */
    readonly bars_max: number;
    /** Days before today for which the broker has bars; null if no limit is known. */
    readonly days_max: number | null;
}
/** The market data that the broker offers. */
export interface BrokerMarketData {
    readonly channels: readonly ('bars' | 'trades' | 'quotes' | 'depth' | 'options_chain')[];
    /** Intervals of the broker’s own past bars. Other intervals are built from these. */
    readonly intervals: readonly string[];
    /** The maximum of `backfill_nbars`, for any interval. */
    readonly backfill_max: number;
    readonly backfill: readonly BrokerBackfill[];
    /**
     * What the broker’s own daily bars of a share cover: the core session or all hours. Bars of a day and longer
     * with `BrokerDefault` cover the same.
     */
    readonly daily_bars: 'core' | 'all_hours';
    /**
     * Further sessions, beside `daily_bars`, whose daily bars of a share come from the broker. For every other
     * session, bars of a day and longer are built from minutes.
     */
    readonly daily_sessions: readonly ('BrokerDefault' | 'USEqCore' | 'USEqPreMkt' | 'USEqPostMkt' | 'USEqPreAndPostMkt' | 'USEq24Hour')[];
    /** Whether `…/market-data/symbols` is available. */
    readonly symbol_search: boolean;
    /**
     * What the volume of a live bar counts when it closes: all trades, or only trades that set a price. A snapshot
     * counts all.
     */
    readonly live_volume: 'all' | 'priced';
}
/** A broker that users can connect, and its capabilities. */
export interface Broker {
    readonly broker: string;
    readonly name: string;
    readonly logo_color: string;
    readonly login: 'oauth' | 'api_key';
    /**
     * Where its orders go. `sandbox`: to the brokerage that comes with the service; `paper`: to the broker’s own
     * paper accounts; `live`: to the market.
     */
    readonly environment: 'sandbox' | 'paper' | 'live';
    readonly instruments: readonly ('STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO')[];
    readonly order_types: {
        readonly STK?: readonly ('MKT' | 'LMT' | 'STP' | 'STPLMT')[];
        readonly OPT?: readonly ('MKT' | 'LMT' | 'STP' | 'STPLMT')[];
        readonly MLEG_OPT?: readonly ('MKT' | 'LMT' | 'STP' | 'STPLMT')[];
        readonly FUT?: readonly ('MKT' | 'LMT' | 'STP' | 'STPLMT')[];
        readonly CRYPTO?: readonly ('MKT' | 'LMT' | 'STP' | 'STPLMT')[];
    };
    readonly times_in_force: {
        readonly STK?: readonly ('DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+')[];
        readonly OPT?: readonly ('DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+')[];
        readonly MLEG_OPT?: readonly ('DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+')[];
        readonly FUT?: readonly ('DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+')[];
        readonly CRYPTO?: readonly ('DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+')[];
    };
    readonly sides: {
        readonly STK?: readonly ('BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE')[];
        readonly OPT?: readonly ('BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE')[];
        readonly MLEG_OPT?: readonly ('BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE')[];
        readonly FUT?: readonly ('BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE')[];
        readonly CRYPTO?: readonly ('BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE')[];
    };
    /**
     * Every combination that the broker accepts. The lists above show the values of each field; not all of them can
     * be combined.
     */
    readonly combinations: readonly OrderCombination[];
    readonly sessions: readonly ('BrokerDefault' | 'USEqCore' | 'USEqPreMkt' | 'USEqPostMkt' | 'USEqPreAndPostMkt' | 'USEq24Hour')[];
    readonly market_data: BrokerMarketData;
    /** Whether `order_notional` is accepted. */
    readonly notional: boolean;
    /** Whether quantities may have decimals. */
    readonly fractional: boolean;
    /** How a modification is executed. */
    readonly replace: 'native' | 'cancel_then_new' | 'none';
    readonly replace_fields: {
        readonly STK?: readonly ('order_qty' | 'order_notional' | 'order_limit_price' | 'stop_price')[];
        readonly OPT?: readonly ('order_qty' | 'order_notional' | 'order_limit_price' | 'stop_price')[];
        readonly MLEG_OPT?: readonly ('order_qty' | 'order_notional' | 'order_limit_price' | 'stop_price')[];
        readonly FUT?: readonly ('order_qty' | 'order_notional' | 'order_limit_price' | 'stop_price')[];
        readonly CRYPTO?: readonly ('order_qty' | 'order_notional' | 'order_limit_price' | 'stop_price')[];
    };
    readonly account_stream: boolean;
    readonly transactions: boolean;
    /** Whether `POST /orders/preview` is available. */
    readonly order_preview: boolean;
}
/** A symbol and its instrument. */
export interface MarketSymbol {
    /** The symbol, written as in orders. */
    readonly symbol: string;
    readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO';
    readonly name: string | null;
    /** The exchange as the broker names it. */
    readonly exchange: string | null;
}
/** The symbols that match a search. */
export interface MarketSymbols {
    readonly symbols: readonly MarketSymbol[];
}
/** The expiration dates of the options on an underlying. */
export interface MarketExpirations {
    /** The symbol in the service’s format. */
    readonly symbol: string;
    /** Ascending; empty if there are no options. */
    readonly expirations: readonly string[];
    /** The broker’s market time when this was read. */
    readonly as_of: string;
}
/** One contract of an options chain and its current market. Null if the broker does not provide the value. */
export interface MarketContract {
    /** The OCC symbol, written as in orders. */
    readonly symbol: string;
    readonly option_type: 'Call' | 'Put';
    readonly strike_price: string;
    readonly bid: string | null;
    readonly bid_size: string | null;
    readonly ask: string | null;
    readonly ask_size: string | null;
    readonly mid: string | null;
    readonly last: string | null;
    readonly open: string | null;
    readonly high: string | null;
    readonly low: string | null;
    readonly close: string | null;
    readonly previous_close: string | null;
    readonly net_change: string | null;
    readonly net_change_pct: string | null;
    readonly volume: string | null;
    readonly delta: string | null;
    readonly gamma: string | null;
    readonly theta: string | null;
    readonly rho: string | null;
    readonly vega: string | null;
    readonly iv: string | null;
}
/** The options on an underlying with one expiration date. */
export interface MarketChain {
    /** The symbol in the service’s format. */
    readonly symbol: string;
    readonly expiration: string;
    /** Sorted by strike, the call before the put. */
    readonly contracts: readonly MarketContract[];
    /** The broker’s market time when this was read. */
    readonly as_of: string;
}
/** The best bid and ask; null if there is none. */
export interface MarketQuote {
    /** The symbol in the service’s format. */
    readonly symbol: string;
    readonly bid_price: string | null;
    readonly bid_size: string | null;
    readonly ask_price: string | null;
    readonly ask_size: string | null;
    /** The broker’s time of the quote; null if it sent no quote within three seconds. */
    readonly quoted_at: string | null;
    /** The broker’s market time when this was read. */
    readonly as_of: string;
}
/** One bar. */
export interface MarketBar {
    /** The start of the bar. */
    readonly start: string;
    readonly open: string;
    readonly high: string;
    readonly low: string;
    readonly close: string;
    readonly volume: string;
    /** False if the bar may still change. */
    readonly closed: boolean;
}
/** Past bars of the session `BrokerDefault`, ascending. */
export interface MarketBars {
    /** The symbol in the service’s format. */
    readonly symbol: string;
    readonly interval: string;
    readonly bars: readonly MarketBar[];
    /** Send it as `start` to read the next page; null at the end of the window. */
    readonly next_start: string | null;
    /** The broker’s market time when this was read. */
    readonly as_of: string;
}
/** The body of every error response. */
export interface Problem {
    /** What was expected, what was found, and what to do. */
    readonly message: string;
    /** Stable, for programs. Later versions may add codes. */
    readonly code: 'credentials_invalid' | 'entitlement_missing' | 'scope_missing' | 'path_invalid' | 'query_invalid' | 'header_invalid' | 'body_malformed' | 'field_invalid' | 'user_not_found' | 'connection_not_found' | 'account_not_found' | 'order_not_found' | 'webhook_endpoint_not_found' | 'webhook_delivery_not_found' | 'route_not_found' | 'method_not_allowed' | 'upgrade_required' | 'platform_not_found' | 'platform_disabled' | 'user_exists' | 'cl_order_id_duplicate' | 'connection_broken' | 'connection_claimed' | 'claim_refused' | 'session_exists' | 'webhook_endpoint_limit' | 'webhook_endpoint_disabled' | 'order_not_open' | 'order_not_settled' | 'order_not_supported' | 'market_data_unsupported' | 'preview_unsupported' | 'order_not_repeatable' | 'user_not_tradable' | 'sandbox_absent' | 'sandbox_refused' | 'body_too_large' | 'headers_too_large' | 'request_too_slow' | 'rate_limited' | 'broker_unavailable' | 'login_provider_unavailable' | 'sandbox_unavailable' | 'store_unavailable' | 'shutting_down' | 'internal';
    readonly request_id: string;
    /**
     * With `cl_order_id_duplicate`: the user’s order that already has this `cl_order_id`. Read it with `GET
     * /orders/{order_id}`.
     */
    readonly order_id?: string;
    /** The fields or parameters that are wrong. */
    readonly details?: readonly {
        readonly path: string;
        readonly message: string;
    }[];
}
/** The codes of the service's errors. Later versions may add some. */
export type ErrorCode = Problem['code'];
/** Parameters, body and answer of {@link createUser}. */
export interface CreateUserCall {
    readonly auth: 'platform';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: NewUser;
    readonly answer: UserWithSecret;
    readonly hasPages: false;
}
/** Create a user */
export declare const createUser: Operation<CreateUserCall>;
/** Parameters, body and answer of {@link listUsers}. */
export interface ListUsersCall {
    readonly auth: 'platform';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only this user. */
        readonly user_id?: string | undefined;
        /** Users who connected the account with this number at the broker. */
        readonly account_number?: string | undefined;
        /** The user this account belongs to. */
        readonly account_id?: string | undefined;
        /** The user this connection belongs to. */
        readonly connection_id?: string | undefined;
        /** Users created at or after this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly start_time?: string | undefined;
        /** Users created at or before this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly end_time?: string | undefined;
        /** Maximum number of rows on a page. */
        readonly limit?: number | undefined;
        /** The `next_cursor` of a page: returns the page after it. Cannot be combined with `prev_cursor`. */
        readonly next_cursor?: string | undefined;
        /** The `prev_cursor` of a page: returns the page before it. */
        readonly prev_cursor?: string | undefined;
        /** The sort order, as `field:direction`. */
        readonly sort?: 'created_at:asc' | 'created_at:desc' | 'user_id:asc' | 'user_id:desc' | undefined;
    };
    readonly body: undefined;
    readonly answer: UserPage;
    readonly hasPages: true;
}
/** List the platform’s users */
export declare const listUsers: Operation<ListUsersCall>;
/** Parameters, body and answer of {@link deleteUser}. */
export interface DeleteUserCall {
    readonly auth: 'platform';
    readonly path: {
        /** The platform’s own id of the user: 1 to 64 characters, no control characters, no leading or trailing space. */
        readonly user_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: DeletedUser;
    readonly hasPages: false;
}
/** Delete a user */
export declare const deleteUser: Operation<DeleteUserCall>;
/** Parameters, body and answer of {@link rotateUserSecret}. */
export interface RotateUserSecretCall {
    readonly auth: 'platform';
    readonly path: {
        /** The platform’s own id of the user: 1 to 64 characters, no control characters, no leading or trailing space. */
        readonly user_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: UserWithSecret;
    readonly hasPages: false;
}
/** Rotate a user’s secret */
export declare const rotateUserSecret: Operation<RotateUserSecretCall>;
/** Parameters, body and answer of {@link createConnection}. */
export interface CreateConnectionCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: NewConnection;
    readonly answer: StartedConnection;
    readonly hasPages: false;
}
/** Start connecting a broker */
export declare const createConnection: Operation<CreateConnectionCall>;
/** Parameters, body and answer of {@link listConnections}. */
export interface ListConnectionsCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only connections with this status. */
        readonly status?: 'ACTIVE' | 'BROKEN' | undefined;
    };
    readonly body: undefined;
    readonly answer: readonly Connection[];
    readonly hasPages: false;
}
/** List the user’s connections */
export declare const listConnections: Operation<ListConnectionsCall>;
/** Parameters, body and answer of {@link claimConnection}. */
export interface ClaimConnectionCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: Claim;
    readonly answer: Connection;
    readonly hasPages: false;
}
/** Claim a new connection */
export declare const claimConnection: Operation<ClaimConnectionCall>;
/** Parameters, body and answer of {@link listPlatformConnections}. */
export interface ListPlatformConnectionsCall {
    readonly auth: 'platform';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only connections with this status. */
        readonly status?: 'ACTIVE' | 'BROKEN' | undefined;
        /** Maximum number of rows on a page. */
        readonly limit?: number | undefined;
        /** The `next_cursor` of a page: returns the page after it. Cannot be combined with `prev_cursor`. */
        readonly next_cursor?: string | undefined;
        /** The `prev_cursor` of a page: returns the page before it. */
        readonly prev_cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: ConnectionPage;
    readonly hasPages: true;
}
/** List the connections of all users */
export declare const listPlatformConnections: Operation<ListPlatformConnectionsCall>;
/** Parameters, body and answer of {@link deleteConnection}. */
export interface DeleteConnectionCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: DeletedConnection;
    readonly hasPages: false;
}
/** Delete a connection */
export declare const deleteConnection: Operation<DeleteConnectionCall>;
/** Parameters, body and answer of {@link issueMarketDataToken}. */
export interface IssueMarketDataTokenCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: AccessToken;
    readonly hasPages: false;
}
/** Get a token for the market data stream */
export declare const issueMarketDataToken: Operation<IssueMarketDataTokenCall>;
/** Parameters, body and answer of {@link listAccounts}. */
export interface ListAccountsCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only this connection. */
        readonly connection_id?: string | undefined;
        /** Only this broker. */
        readonly broker?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: readonly Account[];
    readonly hasPages: false;
}
/** List accounts */
export declare const listAccounts: Operation<ListAccountsCall>;
/** Parameters, body and answer of {@link listBalances}. */
export interface ListBalancesCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only this account. */
        readonly account_id?: string | undefined;
        /** Only this connection. */
        readonly connection_id?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: readonly Balance[];
    readonly hasPages: false;
}
/** List balances */
export declare const listBalances: Operation<ListBalancesCall>;
/** Parameters, body and answer of {@link listPositions}. */
export interface ListPositionsCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only this account. */
        readonly account_id?: string | undefined;
        /** Only this connection. */
        readonly connection_id?: string | undefined;
        /** Only these symbols, separated by commas, at most 100. */
        readonly symbols?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: readonly Position[];
    readonly hasPages: false;
}
/** List positions */
export declare const listPositions: Operation<ListPositionsCall>;
/** Parameters, body and answer of {@link listTransactions}. */
export interface ListTransactionsCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only this account. */
        readonly account_id?: string | undefined;
        /** Only this connection. */
        readonly connection_id?: string | undefined;
        /** The first day, inclusive. */
        readonly start_date?: string | undefined;
        /** The last day, inclusive. */
        readonly end_date?: string | undefined;
        /** Only transactions of this type. */
        readonly type?: 'BUY' | 'SELL' | 'DIVIDEND' | 'INTEREST' | 'FEE' | 'DEPOSIT' | 'WITHDRAWAL' | 'TRANSFER' | 'SPLIT' | 'EXERCISE' | 'ASSIGNMENT' | 'EXPIRATION' | 'ADJUSTMENT' | 'OTHER' | undefined;
        /** Maximum number of rows on a page. */
        readonly limit?: number | undefined;
        /** From the `link` of a page: returns the page after it. */
        readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: readonly Transaction[];
    readonly hasPages: true;
}
/** List transactions */
export declare const listTransactions: Operation<ListTransactionsCall>;
/** Parameters, body and answer of {@link placeOrder}. */
export interface PlaceOrderCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: NewOrder;
    readonly answer: Order;
    readonly hasPages: false;
}
/** Place an order */
export declare const placeOrder: Operation<PlaceOrderCall>;
/** Parameters, body and answer of {@link listOrders}. */
export interface ListOrdersCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** Only this connection. */
        readonly connection_id?: string | undefined;
        /** Only this account. */
        readonly account_id?: string | undefined;
        /** Only this broker. */
        readonly broker?: string | undefined;
        /** Only orders with this status. `open` and `closed` each stand for several. */
        readonly status?: 'all' | 'open' | 'closed' | 'filled' | 'cancelled' | 'partially_filled' | 'working' | 'rejected' | 'pending' | 'expired' | 'replaced' | undefined;
        /**
         * Only these symbols, separated by commas, at most 100. An order also matches by its legs, and by the root of
         * its options: `SPY` finds options on SPY.
         */
        readonly symbols?: string | undefined;
        /** Only this order. */
        readonly order_id?: string | undefined;
        /** Only orders with this `cl_order_id`. There is at most one for each trading day. */
        readonly cl_order_id?: string | undefined;
        /** Only this side. */
        readonly side?: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE' | undefined;
        /** Orders entered at or after this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly start_time?: string | undefined;
        /** Orders entered at or before this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly end_time?: string | undefined;
        /** The sort order, as `field:direction`. */
        readonly sort?: 'entry_time:asc' | 'entry_time:desc' | 'last_modified_time:asc' | 'last_modified_time:desc' | 'last_exec_time:asc' | 'last_exec_time:desc' | undefined;
        /** Maximum number of rows on a page. */
        readonly limit?: number | undefined;
        /** The `next_cursor` of a page: returns the page after it. Cannot be combined with `prev_cursor`. */
        readonly next_cursor?: string | undefined;
        /** The `prev_cursor` of a page: returns the page before it. */
        readonly prev_cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: OrderPage;
    readonly hasPages: true;
}
/** List orders */
export declare const listOrders: Operation<ListOrdersCall>;
/** Parameters, body and answer of {@link previewOrder}. */
export interface PreviewOrderCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: NewPreview;
    readonly answer: OrderPreview;
    readonly hasPages: false;
}
/** Preview an order */
export declare const previewOrder: Operation<PreviewOrderCall>;
/** Parameters, body and answer of {@link readOrder}. */
export interface ReadOrderCall {
    readonly auth: 'user';
    readonly path: {
        /** The order, by the `order_id` that the service assigned. */
        readonly order_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: Order;
    readonly hasPages: false;
}
/** Read an order */
export declare const readOrder: Operation<ReadOrderCall>;
/** Parameters, body and answer of {@link readOrderOfAccount}. */
export interface ReadOrderOfAccountCall {
    readonly auth: 'user';
    readonly path: {
        /** The account of the order. */
        readonly account_id: string;
        /** The order, by the `order_id` that the service assigned. */
        readonly order_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: Order;
    readonly hasPages: false;
}
/** Read an order of an account */
export declare const readOrderOfAccount: Operation<ReadOrderOfAccountCall>;
/** Parameters, body and answer of {@link modifyOrder}. */
export interface ModifyOrderCall {
    readonly auth: 'user';
    readonly path: {
        /** The account of the order. */
        readonly account_id: string;
        /** The order, by the `order_id` that the service assigned. */
        readonly order_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: OrderChange;
    readonly answer: Order;
    readonly hasPages: false;
}
/** Modify an open order */
export declare const modifyOrder: Operation<ModifyOrderCall>;
/** Parameters, body and answer of {@link cancelOrder}. */
export interface CancelOrderCall {
    readonly auth: 'user';
    readonly path: {
        /** The account of the order. */
        readonly account_id: string;
        /** The order, by the `order_id` that the service assigned. */
        readonly order_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: Order;
    readonly hasPages: false;
}
/** Cancel an open order */
export declare const cancelOrder: Operation<CancelOrderCall>;
/** Parameters, body and answer of {@link cancelOrders}. */
export interface CancelOrdersCall {
    readonly auth: 'user';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: CancelOrders;
    readonly answer: CancelResults;
    readonly hasPages: false;
}
/** Cancel all open orders */
export declare const cancelOrders: Operation<CancelOrdersCall>;
/** Parameters, body and answer of {@link listEvents}. */
export interface ListEventsCall {
    readonly auth: 'platform';
    readonly path: Readonly<Record<never, never>>;
    readonly query: {
        /** The user whose updates are read. */
        readonly user_id: string;
        /**
         * Only updates with a higher `seq`. Send the newest `seq` that you have, or the `next_after` of the previous
         * page.
         */
        readonly after?: number | undefined;
        /** Maximum number of updates on a page. */
        readonly limit?: number | undefined;
    };
    readonly body: undefined;
    readonly answer: EventPage;
    readonly hasPages: true;
}
/** List a user’s updates */
export declare const listEvents: Operation<ListEventsCall>;
/** Parameters, body and answer of {@link createWebhookEndpoint}. */
export interface CreateWebhookEndpointCall {
    readonly auth: 'platform';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: NewWebhookEndpoint;
    readonly answer: WebhookEndpointWithSecret;
    readonly hasPages: false;
}
/** Create a webhook endpoint */
export declare const createWebhookEndpoint: Operation<CreateWebhookEndpointCall>;
/** Parameters, body and answer of {@link listWebhookEndpoints}. */
export interface ListWebhookEndpointsCall {
    readonly auth: 'platform';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: readonly WebhookEndpoint[];
    readonly hasPages: false;
}
/** List webhook endpoints */
export declare const listWebhookEndpoints: Operation<ListWebhookEndpointsCall>;
/** Parameters, body and answer of {@link readWebhookEndpoint}. */
export interface ReadWebhookEndpointCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: WebhookEndpointDetail;
    readonly hasPages: false;
}
/** Read a webhook endpoint */
export declare const readWebhookEndpoint: Operation<ReadWebhookEndpointCall>;
/** Parameters, body and answer of {@link changeWebhookEndpoint}. */
export interface ChangeWebhookEndpointCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: WebhookEndpointChange;
    readonly answer: WebhookEndpointDetail;
    readonly hasPages: false;
}
/** Change a webhook endpoint */
export declare const changeWebhookEndpoint: Operation<ChangeWebhookEndpointCall>;
/** Parameters, body and answer of {@link deleteWebhookEndpoint}. */
export interface DeleteWebhookEndpointCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: DeletedWebhookEndpoint;
    readonly hasPages: false;
}
/** Delete a webhook endpoint */
export declare const deleteWebhookEndpoint: Operation<DeleteWebhookEndpointCall>;
/** Parameters, body and answer of {@link rotateWebhookKeys}. */
export interface RotateWebhookKeysCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: WebhookKeyRotation;
    readonly answer: WebhookEndpointWithSecret;
    readonly hasPages: false;
}
/** Rotate the keys of a webhook endpoint */
export declare const rotateWebhookKeys: Operation<RotateWebhookKeysCall>;
/** Parameters, body and answer of {@link testWebhookEndpoint}. */
export interface TestWebhookEndpointCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: WebhookTest;
    readonly hasPages: false;
}
/** Send a test message */
export declare const testWebhookEndpoint: Operation<TestWebhookEndpointCall>;
/** Parameters, body and answer of {@link listWebhookDeliveries}. */
export interface ListWebhookDeliveriesCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
    };
    readonly query: {
        /** Only deliveries of this user’s updates. */
        readonly user_id?: string | undefined;
        /** Only attempts of this message. */
        readonly message_id?: string | undefined;
        /** Only attempts that ended so. */
        readonly outcome?: 'succeeded' | 'failed' | undefined;
        /** Attempts that began at or after this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly start_time?: string | undefined;
        /** Attempts that began at or before this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly end_time?: string | undefined;
        /** Maximum number of rows on a page. */
        readonly limit?: number | undefined;
        /** The `next_cursor` of a page: returns the page after it. Cannot be combined with `prev_cursor`. */
        readonly next_cursor?: string | undefined;
        /** The `prev_cursor` of a page: returns the page before it. */
        readonly prev_cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly answer: WebhookDeliveryPage;
    readonly hasPages: true;
}
/** List what was sent to a webhook endpoint */
export declare const listWebhookDeliveries: Operation<ListWebhookDeliveriesCall>;
/** Parameters, body and answer of {@link readWebhookDelivery}. */
export interface ReadWebhookDeliveryCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
        /** The delivery. */
        readonly delivery_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: WebhookDeliveryDetail;
    readonly hasPages: false;
}
/** Read what was sent and answered */
export declare const readWebhookDelivery: Operation<ReadWebhookDeliveryCall>;
/** Parameters, body and answer of {@link replayWebhooks}. */
export interface ReplayWebhooksCall {
    readonly auth: 'platform';
    readonly path: {
        /** The endpoint. */
        readonly endpoint_id: string;
    };
    readonly query: Readonly<Record<never, never>>;
    readonly body: WebhookReplay;
    readonly answer: AcceptedWebhookReplay;
    readonly hasPages: false;
}
/** Send updates again */
export declare const replayWebhooks: Operation<ReplayWebhooksCall>;
/** Parameters, body and answer of {@link listBrokers}. */
export interface ListBrokersCall {
    readonly auth: 'platform';
    readonly path: Readonly<Record<never, never>>;
    readonly query: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly answer: readonly Broker[];
    readonly hasPages: false;
}
/** List brokers and their capabilities */
export declare const listBrokers: Operation<ListBrokersCall>;
/** Parameters, body and answer of {@link searchSymbols}. */
export interface SearchSymbolsCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: {
        /** The beginning of a symbol, or words of a name. */
        readonly search: string;
        /** Maximum number of symbols. */
        readonly limit?: number | undefined;
    };
    readonly body: undefined;
    readonly answer: MarketSymbols;
    readonly hasPages: false;
}
/** Search a broker’s symbols */
export declare const searchSymbols: Operation<SearchSymbolsCall>;
/** Parameters, body and answer of {@link readExpirations}. */
export interface ReadExpirationsCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: {
        /** The symbol, written as in orders. */
        readonly symbol: string;
    };
    readonly body: undefined;
    readonly answer: MarketExpirations;
    readonly hasPages: false;
}
/** Read the option expirations of an underlying */
export declare const readExpirations: Operation<ReadExpirationsCall>;
/** Parameters, body and answer of {@link readChain}. */
export interface ReadChainCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: {
        /** The symbol, written as in orders. */
        readonly symbol: string;
        /** One of the dates that `…/expirations` lists. */
        readonly expiration: string;
    };
    readonly body: undefined;
    readonly answer: MarketChain;
    readonly hasPages: false;
}
/** Read the options chain of an underlying for one expiration */
export declare const readChain: Operation<ReadChainCall>;
/** Parameters, body and answer of {@link readQuote}. */
export interface ReadQuoteCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: {
        /** The symbol, written as in orders. */
        readonly symbol: string;
    };
    readonly body: undefined;
    readonly answer: MarketQuote;
    readonly hasPages: false;
}
/** Read the last quote of a symbol */
export declare const readQuote: Operation<ReadQuoteCall>;
/** Parameters, body and answer of {@link readBars}. */
export interface ReadBarsCall {
    readonly auth: 'user';
    readonly path: {
        /** The connection. */
        readonly connection_id: string;
    };
    readonly query: {
        /** The symbol, written as in orders. */
        readonly symbol: string;
        /**
         * A number and a unit: `m` up to `1440m`, `h`, `d`, `w`, `M` and `1y`. Case matters: `1m` is a minute, `1M` is a
         * month.
         */
        readonly interval: string;
        /** Bars that start at or after this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly start: string;
        /** Bars that start before this time. RFC 3339 with seconds and an offset (`Z`, `-05:00`). */
        readonly end: string;
        /** Maximum number of bars on a page. */
        readonly limit?: number | undefined;
    };
    readonly body: undefined;
    readonly answer: MarketBars;
    readonly hasPages: true;
}
/** Read past bars */
export declare const readBars: Operation<ReadBarsCall>;
export declare const USERS: Resource<{
    readonly create: CreateUserCall;
    readonly list: ListUsersCall;
    readonly delete: DeleteUserCall;
    readonly rotateSecret: RotateUserSecretCall;
}>;
export declare const CONNECTIONS: Resource<{
    readonly create: CreateConnectionCall;
    readonly list: ListConnectionsCall;
    readonly claim: ClaimConnectionCall;
    readonly delete: DeleteConnectionCall;
    readonly marketDataToken: IssueMarketDataTokenCall;
}>;
export declare const MARKET_DATA: Resource<{
    readonly symbols: SearchSymbolsCall;
    readonly expirations: ReadExpirationsCall;
    readonly chain: ReadChainCall;
    readonly quote: ReadQuoteCall;
    readonly bars: ReadBarsCall;
}>;
export declare const WEBHOOK_ENDPOINTS: Resource<{
    readonly create: CreateWebhookEndpointCall;
    readonly list: ListWebhookEndpointsCall;
    readonly read: ReadWebhookEndpointCall;
    readonly change: ChangeWebhookEndpointCall;
    readonly delete: DeleteWebhookEndpointCall;
    readonly rotateKeys: RotateWebhookKeysCall;
    readonly test: TestWebhookEndpointCall;
    readonly deliveries: ListWebhookDeliveriesCall;
    readonly delivery: ReadWebhookDeliveryCall;
    readonly replay: ReplayWebhooksCall;
}>;
/** Status and code of the refusals of a request for an order, with a space between them. */
export declare const ORDER_REFUSALS: RegExp;
