// Generated from /admin/v1/openapi.json of the service by `npm run console`. Never edited.

export interface OperatorCode {
  /** As `npm run cli -- operator link` printed it. It works once, within ten minutes. */
  readonly code: string
}

/** Who is logged in. */
export interface OperatorSession {
  /** Null: a key was used. */
  readonly session_id: string | null
  /** As the audit log names the operator. */
  readonly operator: string
  readonly scopes: readonly ('read' | 'manage' | 'sandbox')[]
  /** Null: a key was used. */
  readonly created_at: string | null
  /** The session also ends when it was not used for 30 minutes. Null: a key was used. */
  readonly expires_at: string | null
}

/** Null: there is none. */
export type LoginProvider = {
  /** For people. */
  readonly name: string
} | null

/** How operators can log in, besides a code of `operator link`. */
export interface OperatorLoginOptions {
  readonly provider: LoginProvider
}

export interface ProviderLogin {
  /** Path and query of the console’s page to show afterwards, as a URL has them, such as `/console/orders`. */
  readonly return_to: string
}

/** A login that was begun in this browser. */
export interface BegunProviderLogin {
  /** Of the provider. It sends the browser back to `/admin/v1/oidc/callback`. */
  readonly authorization_url: string
}

export interface ProviderAnswer {
  /** The query with which the provider sent the browser back, as it is. */
  readonly answer: string
}

/** Who is logged in, and where to go on. */
export interface ProviderSession {
  readonly session: OperatorSession
  /** As the login was begun. */
  readonly return_to: string
}

/** The session that has ended. */
export interface EndedOperatorSession {
  readonly session_id: string | null
}

/** What a newcomer does first. */
export interface FirstSteps {
  readonly user_created: boolean
  readonly sandbox_connected: boolean
  readonly order_placed: boolean
}

/** A minute that had requests. */
export interface TrafficMinute {
  readonly at: string
  /** All of them. */
  readonly requests: number
  /** Those with a status from 400, by code; `status_…` for a failure without a code of ours. */
  readonly errors: Readonly<Record<string, number>>
}

/** A node, or the only process of the service. */
export interface NodeOverview {
  /** Its `node_id`; `this` where there is one process. */
  readonly node: string
  readonly version: string | null
  readonly started_at: string | null
  /** Null: it did not answer within a second, or is of an older version. */
  readonly health: 'ok' | 'draining' | 'failing' | null
  /** Why `health` is not `ok`. */
  readonly reason: string | null
  /** Of the last 24 hours of its present run; null: it did not answer. */
  readonly minutes: readonly TrafficMinute[] | null
}

/** A broker that users can connect. */
export interface OfferedBroker {
  readonly broker: string
  readonly environment: string
}

/** How the service is. */
export interface OperatorOverview {
  /** When it was read, by the clock of the node that answers. */
  readonly at: string
  readonly steps: FirstSteps
  readonly nodes: readonly NodeOverview[]
  readonly brokers: readonly OfferedBroker[]
  /** Open orders that the broker may not have; 100 are counted at most. */
  readonly unresolved_orders: number
}

/** A request that a node answered, without query, headers and body. */
export interface AnsweredRequest {
  readonly at: string
  readonly request_id: string
  readonly method: string
  /** The pattern of the path. */
  readonly route: string
  readonly status: number
  /** Of the error; null: there was none, or another node answered. */
  readonly code: string | null
  readonly took_ms: number
  /** Null: it had no valid credentials of a platform. */
  readonly platform_id: string | null
  readonly user_key: string | null
  readonly address: string
  /** As the overview names it. */
  readonly node: string
}

/** The newest requests of all nodes. */
export interface AnsweredRequestPage {
  readonly data: readonly AnsweredRequest[]
  /** Always null: what is older is not kept in order. */
  readonly next_cursor: string | null
  /** Nodes that did not answer within a second: theirs are missing. */
  readonly unanswered_nodes: readonly string[]
}

/** Who did what to what. */
export interface AuditEntry {
  /** In the chain. */
  readonly position: number
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly result: 'ok' | 'refused' | 'failed'
  readonly address: string | null
  readonly request_id: string | null
  /** Facts about the action; never a secret. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

/** One page of a list. */
export interface AuditEntryPage {
  readonly data: readonly AuditEntry[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
  /** Entries that wait to be chained, and are listed then; 1,000 are counted at most. */
  readonly waiting: number
}

/** What has the id. */
export interface SearchHit {
  readonly kind: 'platform' | 'user' | 'connection' | 'account' | 'order' | 'request'
  /** A `platform_id`, `user_key`, `connection_id`, `account_id`, `order_id` or `request_id`. */
  readonly id: string
  /** For people. */
  readonly label: string
  readonly platform_id: string | null
  readonly user_key: string | null
}

/** What was found. */
export interface SearchHitList {
  readonly data: readonly SearchHit[]
}

/** A platform. */
export interface OperatorPlatform {
  readonly platform_id: string
  /** Of its first key. */
  readonly client_id: string
  readonly name: string
  /** Whether it must claim each new connection. */
  readonly claims: boolean
  readonly created_at: string
  /** Null: it is enabled. */
  readonly disabled_at: string | null
  /** Whether it is the service’s own, for replays of orders in the sandbox. */
  readonly is_for_replays: boolean
}

/** One page of a list. */
export interface OperatorPlatformPage {
  readonly data: readonly OperatorPlatform[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** A user of a platform. */
export interface OperatorUser {
  /** The service’s key of the user: a user deleted and created again under its name has another one. */
  readonly user_key: string
  /** The platform’s own name of the user. */
  readonly user_id: string
  readonly platform_id: string
  readonly created_at: string
  readonly is_disabled: boolean
}

/** One page of a list. */
export interface OperatorUserPage {
  readonly data: readonly OperatorUser[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** Whether the order reached the broker. */
export interface Submission {
  /**
   * `unknown`: the broker may have the order, and the service looks it up. `not_sent` and `not_received`: it is
   * proved that the broker does not have the order.
   */
  readonly state: 'submitting' | 'unknown' | 'acknowledged' | 'refused' | 'refused_by_gateway' | 'not_sent' | 'not_received' | 'external'
  readonly since: string
  /** How often the order was sent to the broker: 0 or 1. */
  readonly attempts: number
  /** How the state was determined. `operator`: by a decision of the service’s operator. */
  readonly method: 'reply' | 'stream' | 'lookup' | 'snapshot' | 'recovery' | 'absence' | 'operator' | null
}

/** One execution. */
export interface Fill {
  readonly time: string
  readonly quantity: string
  readonly price: string
  readonly fill_id: string
  readonly exec_dest: string | null
}

/** One leg of a multi-leg order. */
export interface Leg {
  readonly symbol: string
  readonly action: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE'
  readonly ratio: string
  readonly fills: readonly Fill[]
}

/** An order and everything that is known about it. */
export interface Order {
  readonly order_id: string
  /** For an order placed outside this service: the broker’s own id. */
  readonly cl_order_id: string
  readonly user_id: string
  readonly connection_id: string
  readonly account_id: string
  readonly account_number: string
  /** The broker’s platform. */
  readonly platform: string
  readonly broker: string
  readonly normalized_status: 'pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace'
  readonly broker_status: string | null
  /**
   * The broker’s last message about the order, or the service’s if the broker was not asked or did not respond. It
   * says why the order is `rejected` or, for an open order, why the broker refused its last cancel or
   * modification. Null if there is no message.
   */
  readonly broker_message: string | null
  /**
   * Why the broker rejected the order, with the same values for every broker; `broker_message` has its own text.
   * `other`: none of the listed reasons. `order_ended`: the order that this one should have replaced had already
   * ended, so read that order before you place another. Null if the order is not `rejected`, if the broker gave no
   * reason and, except for `order_ended`, if it was not the broker that rejected the order (`submission.state`
   * `not_sent` or `not_received`).
   */
  readonly reject_code: 'unknown_symbol' | 'insufficient_funds' | 'insufficient_position' | 'market_closed' | 'price_out_of_range' | 'tick_size' | 'quantity_invalid' | 'not_tradable' | 'not_permitted' | 'duplicate' | 'risk_rejected' | 'order_ended' | 'other' | null
  readonly submission: Submission
  readonly side: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE'
  readonly order_qty: string | null
  readonly order_notional: string | null
  readonly filled_qty: string
  readonly average_fill_price: string | null
  readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT'
  readonly broker_order_type: string | null
  readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+'
  readonly order_limit_price: string | null
  readonly stop_price: string | null
  /** Null for a multi-leg order. */
  readonly symbol: string | null
  readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO'
  readonly exec_dest: string | null
  readonly trading_day: string
  readonly entry_time: string
  readonly last_exec_time: string | null
  readonly last_modified_time: string
  readonly system_time: string
  readonly fills: readonly Fill[]
  readonly legs: readonly Leg[] | null
  readonly replaces_order_id: string | null
  readonly replaced_by_order_id: string | null
  /**
   * The filled quantity of the orders that this one replaced, or should have replaced. `order_qty` is the total,
   * so `order_qty` − `previously_filled_qty` − `filled_qty` is left. Null if the order replaces no other.
   */
  readonly previously_filled_qty: string | null
  /**
   * Increases with every change of the order. Of two records of the same order, keep the one with the higher
   * revision, wherever it came from.
   */
  readonly revision: number
}

/** An order changed. */
export interface OrderUpdate {
  readonly type: 'orders'
  /** Counts the user’s updates from 1, without a gap. */
  readonly seq: number
  readonly event_id: string
  readonly user_id: string
  readonly data: Order
}

/** A holding. A negative quantity is short. Null if the broker does not report it. */
export interface Position {
  readonly connection_id: string
  readonly account_id: string
  readonly account_number: string
  readonly user_id: string
  readonly symbol: string
  readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO'
  readonly quantity: string
  readonly last_price: string | null
  readonly position_average_price: string | null
  readonly unrealized_pl: string | null
  readonly realized_pl: string | null
  readonly daily_pl: string | null
  readonly total_pl: string | null
  readonly broker_position_id: string | null
  /** When the broker last confirmed this record. */
  readonly system_time: string
}

/** Positions of one account changed. A closed position has the quantity 0. */
export interface PositionsUpdate {
  readonly type: 'positions'
  /** Counts the user’s updates from 1, without a gap. */
  readonly seq: number
  readonly event_id: string
  readonly user_id: string
  readonly data: readonly Position[]
}

/** Amounts of one account in one currency. Null if the broker does not report it. */
export interface Balance {
  readonly connection_id: string
  readonly account_id: string
  readonly account_number: string
  readonly user_id: string
  readonly currency_code: string
  readonly cash: string | null
  readonly buying_power: string | null
  readonly initial_margin: string | null
  readonly maintenance_margin: string | null
  readonly reg_t_buying_power: string | null
  readonly equity: string | null
  readonly market_value: string | null
  /** When the broker last confirmed this record. */
  readonly system_time: string
}

/** A balance changed. */
export interface BalanceUpdate {
  readonly type: 'balances'
  /** Counts the user’s updates from 1, without a gap. */
  readonly seq: number
  readonly event_id: string
  readonly user_id: string
  readonly data: Balance
}

/** Part of a user’s log, in the order in which it was applied. */
export interface EventPage {
  readonly data: readonly (OrderUpdate | PositionsUpdate | BalanceUpdate)[]
  /** Send it back as `after` to read the next page; null at the end of the log. */
  readonly next_after: number | null
  /**
   * The `seq` of the oldest event that is still stored. If your `after` is less than this minus 1, events are
   * missing: read a snapshot.
   */
  readonly oldest_seq: number
  /** The `seq` of the newest event; 0 before the first. */
  readonly last_seq: number
}

/** An account that the connection gives access to. */
export interface ConnectedAccount {
  readonly account_id: string
  readonly account_number: string
}

/** When the broker last confirmed all records of a kind, of all accounts of the connection. */
export interface ConnectionConfirmed {
  /** Of the account that was confirmed longest ago. Null: never. */
  readonly balances: string | null
  /** The same for positions. Null: never. */
  readonly positions: string | null
  /** The same for orders. Null: never. */
  readonly orders: string | null
}

/** A login of a user at a broker. */
export interface OperatorConnection {
  readonly platform_id: string
  /** The service’s key of the user: a user deleted and created again under its name has another one. */
  readonly user_key: string
  readonly connection_id: string
  readonly user_id: string
  /** Broker identifier; see `GET /brokers`. */
  readonly broker: string
  readonly accounts: readonly ConnectedAccount[]
  /** What the connection may be used for. Only `trade` accepts orders. */
  readonly connection_type: 'readonly' | 'trade' | 'market_data'
  readonly status: 'ACTIVE' | 'BROKEN'
  /**
   * Why the connection cannot be used. `credentials_rejected`: the broker refused the login, and the user must
   * connect again. `environment_changed`: the service now uses another environment of the broker than the one of
   * this login; the connection works again if the service returns to that environment. Null while ACTIVE.
   */
  readonly broken_code: 'credentials_rejected' | 'environment_changed' | 'credentials_altered' | null
  /** `broken_code` as readable text. */
  readonly broken_reason: string | null
  /**
   * The environment of the login. `sandbox`: the brokerage that comes with the service; `paper`: the broker’s own
   * paper accounts; `live`: real accounts. Null for a login that is older than this field, at a broker that is no
   * longer offered.
   */
  readonly environment: 'sandbox' | 'paper' | 'live' | null
  readonly created_at: string
  readonly updated_at: string
  /** As platforms see it. Null: the node that follows the user did not answer, or none does yet. */
  readonly health: 'live' | 'polling' | 'stale' | 'broken' | null
  /** Null: the node that follows the user did not answer, or none does yet. */
  readonly health_since: string | null
  /** Why `health` is not `live`; null while it is. */
  readonly health_reason: string | null
  /** Null: the node that follows the user did not answer, or none does yet. */
  readonly health_is_intended: boolean | null
  /** Null: the node that follows the user did not answer, or none does yet. */
  readonly records_left_out: number | null
  /** When one was last left out; null while there is none. */
  readonly records_left_out_at: string | null
  readonly confirmed_at: ConnectionConfirmed
}

/** One page of a list. */
export interface OperatorConnectionPage {
  readonly data: readonly OperatorConnection[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** How current the records of an account are, after they were read again. */
export interface RecordsReadAgain {
  readonly account_id: string
  readonly records: 'balances' | 'positions' | 'orders'
  /**
   * `live`: they follow the broker without a gap; `fresh`: confirmed now; `stale`: the last known; `unavailable`:
   * never read.
   */
  readonly state: 'live' | 'fresh' | 'stale' | 'unsupported' | 'unavailable'
  /** When the broker last confirmed them; null: never. */
  readonly confirmed_at: string | null
  /** Why they are `stale` or `unavailable`; null: they are not. */
  readonly reason: 'broker_unavailable' | 'connection_broken' | 'not_stored' | null
}

/** What was read again. */
export interface ConnectionReadAgain {
  readonly connection_id: string
  readonly data: readonly RecordsReadAgain[]
}

/** An order, and whose it is. */
export interface OperatorOrder {
  readonly platform_id: string
  /** The service’s key of the user: a user deleted and created again under its name has another one. */
  readonly user_key: string
  readonly order_id: string
  /** For an order placed outside this service: the broker’s own id. */
  readonly cl_order_id: string
  readonly user_id: string
  readonly connection_id: string
  readonly account_id: string
  readonly account_number: string
  /** The broker’s platform. */
  readonly platform: string
  readonly broker: string
  readonly normalized_status: 'pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace'
  readonly broker_status: string | null
  /**
   * The broker’s last message about the order, or the service’s if the broker was not asked or did not respond. It
   * says why the order is `rejected` or, for an open order, why the broker refused its last cancel or
   * modification. Null if there is no message.
   */
  readonly broker_message: string | null
  /**
   * Why the broker rejected the order, with the same values for every broker; `broker_message` has its own text.
   * `other`: none of the listed reasons. `order_ended`: the order that this one should have replaced had already
   * ended, so read that order before you place another. Null if the order is not `rejected`, if the broker gave no
   * reason and, except for `order_ended`, if it was not the broker that rejected the order (`submission.state`
   * `not_sent` or `not_received`).
   */
  readonly reject_code: 'unknown_symbol' | 'insufficient_funds' | 'insufficient_position' | 'market_closed' | 'price_out_of_range' | 'tick_size' | 'quantity_invalid' | 'not_tradable' | 'not_permitted' | 'duplicate' | 'risk_rejected' | 'order_ended' | 'other' | null
  readonly submission: Submission
  readonly side: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE'
  readonly order_qty: string | null
  readonly order_notional: string | null
  readonly filled_qty: string
  readonly average_fill_price: string | null
  readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT'
  readonly broker_order_type: string | null
  readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+'
  readonly order_limit_price: string | null
  readonly stop_price: string | null
  /** Null for a multi-leg order. */
  readonly symbol: string | null
  readonly instrument: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO'
  readonly exec_dest: string | null
  readonly trading_day: string
  readonly entry_time: string
  readonly last_exec_time: string | null
  readonly last_modified_time: string
  readonly system_time: string
  readonly fills: readonly Fill[]
  readonly legs: readonly Leg[] | null
  readonly replaces_order_id: string | null
  readonly replaced_by_order_id: string | null
  /**
   * The filled quantity of the orders that this one replaced, or should have replaced. `order_qty` is the total,
   * so `order_qty` − `previously_filled_qty` − `filled_qty` is left. Null if the order replaces no other.
   */
  readonly previously_filled_qty: string | null
  /**
   * Increases with every change of the order. Of two records of the same order, keep the one with the higher
   * revision, wherever it came from.
   */
  readonly revision: number
}

/** One page of a list. */
export interface OperatorOrderPage {
  readonly data: readonly OperatorOrder[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
}

/**
 * One step of an order, with the evidence that its record has. A null is not known; of `source` `event`,
 * `delivery` or `audit` it is what that record did not have, but for `carried`.
 */
export interface OrderStep {
  /**
   * `request`: an audit entry about the order: of a platform, an operator, or the service, which adopts orders
   * that were placed elsewhere; `recorded`: written with its first event, before anything was sent; `sent`: sent
   * to the broker, once at most. `attempts` is counted before: only with `is_proved` is it known that it was sent;
   * `answer`: the broker acknowledged or refused the order, which became known as `known_by` says. What it said is
   * from the event of that time; `settled`: it was proved without the broker’s word that it does not have the
   * order, as `known_by` and `submission_state` say; `change`: an event, with what the order said at that time;
   * `delivery`: an attempt to send an event to a webhook endpoint. `carried` is null if it was not recorded which
   * events of its range the message had.
   */
  readonly step: 'request' | 'recorded' | 'sent' | 'answer' | 'settled' | 'change' | 'delivery'
  /** When it happened; null: that is not recorded. */
  readonly at: string | null
  /** Which record says so. */
  readonly source: 'audit' | 'order' | 'event' | 'delivery'
  readonly [name: string]: string | number | boolean | null
}

/** What became of an order, as it was recorded. */
export interface OrderSteps {
  readonly data: readonly OrderStep[]
  /**
   * Audit entries about replays of the order in the sandbox (`order.replayed` names the new order), or about what
   * it is a replay of. They are no steps of the order, which had ended or went on by itself.
   */
  readonly replays: readonly OrderStep[]
  /**
   * Which steps are missing, and why; null: none are, but for attempts that are not kept any more (30 days, 10,000
   * of an endpoint).
   */
  readonly incomplete: string | null
}

/** An order of a removed connection, whose outcome nobody knows. */
export interface AbandonedOrder {
  readonly order_id: string
  readonly removed_at: string
  /** What is known of it: its ids, its account, its terms. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

/** One page of a list. */
export interface AbandonedOrderPage {
  readonly data: readonly AbandonedOrder[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
}

export interface OrderNeverReceived {
  /** How you know that the broker never received it; written to the audit log. */
  readonly because: string
  /** The broker is not asked, because it does not answer and you checked its records by other means. */
  readonly unseen?: boolean | undefined
}

export interface OrdersNeverReceived {
  /** Only orders at this broker. */
  readonly broker?: string | null | undefined
  /** Only orders of this connection. */
  readonly connection_id?: string | null | undefined
  /** Only orders that were entered before that. */
  readonly older_than_hours?: number | null | undefined
  /** How you know that the broker never received it; written to the audit log. */
  readonly because: string
  /** The broker is not asked, because it does not answer and you checked its records by other means. */
  readonly unseen?: boolean | undefined
  /** Of the trial whose orders are ended; absent or null: a trial. */
  readonly set?: string | null | undefined
}

/** An order that is not ended. */
export interface KeptOrder {
  readonly order_id: string
  readonly why: string
}

/** Orders that were ended or, in a trial, would be. */
export interface OrdersEnded {
  /** Whether nothing was ended. */
  readonly is_trial: boolean
  /** How many unresolved orders match; 1,000 are considered at most. */
  readonly fitting: number
  /** The name of the set of `orders`. */
  readonly set: string
  readonly orders: readonly OperatorOrder[]
  readonly kept: readonly KeptOrder[]
}

/** What was logged, passes the filter, and was not received yet. */
export interface WebhookLag {
  /** Users with such updates. */
  readonly users: number
  /**
   * Their updates. Those that the filter passes over are not counted; what the log has no more counts as one for
   * each user (`events_erased`).
   */
  readonly updates: number
  /**
   * Whether there may be more: counting ends at 10,000 users, and with a filter at 10,000 updates that it was
   * asked about.
   */
  readonly is_lower_bound: boolean
  /** When the oldest of these updates was logged; null: the log has none of them. */
  readonly oldest_at: string | null
}

/** A webhook endpoint of a platform, and how far it is behind. */
export interface OperatorWebhookEndpoint {
  readonly platform_id: string
  readonly endpoint_id: string
  readonly url: string
  readonly description: string
  /** Which updates are sent; null: all. */
  readonly topics: readonly ('orders' | 'positions' | 'balances')[] | null
  /** Of orders, only updates with one of these `normalized_status`; null: all. */
  readonly order_statuses: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null
  readonly created_at: string
  /** Null while it is enabled. */
  readonly disabled_at: string | null
  /**
   * `requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five
   * days.
   */
  readonly disabled_reason: 'requested' | 'gone' | 'failing' | null
  /** The start of the last attempt that succeeded, within a second; null: none has. */
  readonly last_success_at: string | null
  /** The first attempt that failed since one succeeded; null: the last one succeeded, or there was none. */
  readonly failing_since: string | null
  readonly lag: WebhookLag
}

/** One page of a list. */
export interface OperatorWebhookEndpointPage {
  readonly data: readonly OperatorWebhookEndpoint[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** An endpoint, its keys, and how far it is behind. */
export interface WebhookEndpointDetail {
  readonly endpoint_id: string
  readonly url: string
  readonly description: string
  /** Which updates are sent; null: all. */
  readonly topics: readonly ('orders' | 'positions' | 'balances')[] | null
  /** Of orders, only updates with one of these `normalized_status`; null: all. */
  readonly order_statuses: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null
  readonly created_at: string
  /** Null while it is enabled. */
  readonly disabled_at: string | null
  /**
   * `requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five
   * days.
   */
  readonly disabled_reason: 'requested' | 'gone' | 'failing' | null
  /** The start of the last attempt that succeeded, within a second; null: none has. */
  readonly last_success_at: string | null
  /** The first attempt that failed since one succeeded; null: the last one succeeded, or there was none. */
  readonly failing_since: string | null
  /** Ed25519 keys (`whpk_…`) whose signatures (`v1a`) messages have now, the current one first. */
  readonly public_keys: readonly string[]
  readonly lag: WebhookLag
}

export interface NewWebhookEndpoint {
  /** Where updates are posted: `https`, to a public address. The operator can allow networks of their own. */
  readonly url: string
  /** For the platform’s people. */
  readonly description?: string | undefined
  /** Which updates are sent; null: all. */
  readonly topics?: readonly ('orders' | 'positions' | 'balances')[] | null | undefined
  /** Of orders, only updates with one of these `normalized_status`; null: all. */
  readonly order_statuses?: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null | undefined
}

/** An endpoint and its new secret. */
export interface WebhookEndpointWithSecret {
  readonly endpoint_id: string
  readonly url: string
  readonly description: string
  /** Which updates are sent; null: all. */
  readonly topics: readonly ('orders' | 'positions' | 'balances')[] | null
  /** Of orders, only updates with one of these `normalized_status`; null: all. */
  readonly order_statuses: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null
  readonly created_at: string
  /** Null while it is enabled. */
  readonly disabled_at: string | null
  /**
   * `requested`: by the platform; `gone`: the endpoint answered 410; `failing`: no attempt has succeeded for five
   * days.
   */
  readonly disabled_reason: 'requested' | 'gone' | 'failing' | null
  /** The start of the last attempt that succeeded, within a second; null: none has. */
  readonly last_success_at: string | null
  /** The first attempt that failed since one succeeded; null: the last one succeeded, or there was none. */
  readonly failing_since: string | null
  /** Ed25519 keys (`whpk_…`) whose signatures (`v1a`) messages have now, the current one first. */
  readonly public_keys: readonly string[]
  /** Verifies the signature `v1` of each message. Shown once; store it. */
  readonly secret: string
}

export interface WebhookEndpointEdit {
  /** Where updates are posted: `https`, to a public address. The operator can allow networks of their own. */
  readonly url?: string | undefined
  /** For the platform’s people. */
  readonly description?: string | undefined
  /** Which updates are sent; null: all. */
  readonly topics?: readonly ('orders' | 'positions' | 'balances')[] | null | undefined
  /** Of orders, only updates with one of these `normalized_status`; null: all. */
  readonly order_statuses?: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null | undefined
}

export interface WebhookKeyRotation {
  /** How long the old keys sign beside the new ones. */
  readonly overlap_hours?: number | undefined
}

/** A test message that was sent, and how the attempt ended. */
export interface WebhookTest {
  readonly delivery_id: string
  /** The `webhook-id`: the same for each attempt of a message. */
  readonly message_id: string
  /** Why the attempt was made. */
  readonly reason: 'event' | 'retry' | 'replay' | 'test'
  /** Null: a test message. */
  readonly user_id: string | null
  /** The first update of the message; null: a test message. */
  readonly from_seq: number | null
  /** The last one. */
  readonly to_seq: number | null
  /** How many updates it has. */
  readonly updates: number
  /** From 1, for each message. */
  readonly attempt: number
  readonly started_at: string
  /** Until the answer had ended, or the attempt had failed. */
  readonly took_ms: number
  /** Of the answer; null: there was none. */
  readonly status: number | null
  /**
   * Null: the endpoint answered with a status from 200 to 299. `status`: it answered with another one; `redirect`:
   * redirects are not followed.
   */
  readonly failure: 'status' | 'redirect' | 'timeout' | 'dns' | 'address_refused' | 'connect' | 'tls' | 'answer_too_large' | 'broken_off' | null
  /** When the message is tried again; null: it is not. */
  readonly retry_at: string | null
  /** Null: it was sent, and it is not known whether it was kept. */
  readonly is_kept: boolean | null
}

export interface WebhookReplay {
  /** The `webhook-id` of a message. Send either this or the others. */
  readonly message_id?: string | undefined
  readonly user_id?: string | undefined
  /** The first update that is sent again. */
  readonly from_seq?: number | undefined
  /** The last one; at most 10000 are sent again. */
  readonly to_seq?: number | undefined
}

/** What is being sent again. */
export interface AcceptedWebhookReplay {
  readonly endpoint_id: string
  readonly from_seq: number
  readonly to_seq: number
}

/** The endpoint that was deleted. */
export interface DeletedWebhookEndpoint {
  readonly endpoint_id: string
}

/** One attempt to send a message to an endpoint. */
export interface OperatorWebhookDelivery {
  readonly delivery_id: string
  /** The same for each attempt of a message. */
  readonly message_id: string
  readonly endpoint_id: string
  /** Null: a test message. */
  readonly user_key: string | null
  readonly reason: string
  readonly attempt: number
  readonly from_seq: number | null
  readonly to_seq: number | null
  readonly started_at: string
  readonly took_ms: number
  /** Of the answer; null: there was none. */
  readonly status: number | null
  /** Null: it was delivered. */
  readonly failure: 'status' | 'redirect' | 'timeout' | 'dns' | 'address_refused' | 'connect' | 'tls' | 'answer_too_large' | 'broken_off' | null
  /** Null: the message is not tried again, or was delivered. */
  readonly retry_at: string | null
}

/** One page of a list. */
export interface OperatorWebhookDeliveryPage {
  readonly data: readonly OperatorWebhookDelivery[]
  /** Send it back as `cursor` to read the next page; null on the last page. */
  readonly next_cursor: string | null
}

/** Which phase each class is in. */
export interface SandboxPhases {
  /** Of its market. */
  readonly share: string
  /** Of its market. */
  readonly crypto: string
  /** Of its market. */
  readonly option: string
  /** Of its market. */
  readonly future: string
}

/** The sandbox’s time and its markets. */
export interface SandboxClock {
  /** UTC with microseconds. It may be far from the machine’s. */
  readonly sandbox_time: string
  /** Whether time stands still. */
  readonly frozen: boolean
  /** Whether no prices come. */
  readonly paused: boolean
  /** `synthetic`, or those of a recorded day. */
  readonly prices: string
  readonly phases: SandboxPhases
}

/** The sandbox that this service started. */
export interface Sandbox {
  /** Where brokers’ requests go; on the machine of the service. */
  readonly url: string
  /** Which brokers are there. */
  readonly brokers: readonly string[]
  readonly clock: SandboxClock
  /** How many are set. */
  readonly faults: number
  /** How many practice users there are. */
  readonly logins: number
}

/** What the sandbox does to requests. */
export interface SandboxFault {
  readonly fault_id: string
  /** Of which operations. */
  readonly on: string
  readonly do: string
  /** Null: until it is cleared. */
  readonly times: number | null
  /** How many requests it still hits; null: until it is cleared. */
  readonly left: number | null
  /** How many requests it has hit. */
  readonly hits: number
  /** How many matching requests pass before. */
  readonly skip: number
  /** Null: of everybody. */
  readonly login: string | null
  /** Null: of any symbol. */
  readonly symbol: string | null
  /** Null: of any order. */
  readonly client_order_id: string | null
  /** Whether it takes effect after the operation was carried out. */
  readonly after: boolean
  /** Milliseconds, where its effect has them. */
  readonly ms: number
  /** Null: that of the effect. */
  readonly status: number | null
  /** Seconds; null: none. */
  readonly retry_after: number | null
  /** Null: that of the effect. */
  readonly code: string | null
  /** Null: that of the effect. */
  readonly message: string | null
}

/** All faults, in the order in which they were set. */
export interface SandboxFaultList {
  readonly data: readonly SandboxFault[]
  /** What is missing from the list, and why; null: nothing. */
  readonly incomplete: string | null
}

export interface SandboxFaultTicket {
  /** An operation of the sandbox, `orders.submit` for example; a trailing `*` stands for the rest. */
  readonly on: string
  /** What happens to the requests. Each is described in the API of the sandbox. */
  readonly do: 'lose_answer' | 'reset' | 'hang' | 'delay' | 'status' | 'html' | 'truncate' | 'garbage' | 'refuse' | 'refuse_later' | 'slow' | 'empty' | 'lose_page' | 'spoil' | 'hide' | 'place'
  /** How many requests it hits; absent: until it is cleared. */
  readonly times?: number | undefined
  /** How many matching requests pass before. */
  readonly skip?: number | undefined
  /** Only requests of this practice user. */
  readonly login?: string | undefined
  /** Only requests about this symbol. */
  readonly symbol?: string | undefined
  /** Only requests about the order with this id at the broker. */
  readonly client_order_id?: string | undefined
  /** It takes effect after the operation was carried out. */
  readonly after?: boolean | undefined
  /** Milliseconds; `delay`, `slow` and `hide` need it. */
  readonly ms?: number | undefined
  /** The status of the answer; `status` needs it. */
  readonly status?: number | undefined
  /** Seconds in the answer’s `Retry-After`. */
  readonly retry_after?: number | undefined
  /** The error’s code. */
  readonly code?: string | undefined
  /** The error’s message. */
  readonly message?: string | undefined
}

/** What was cleared. */
export interface SandboxCleared {
  readonly cleared: 'faults' | 'fault' | 'counters'
}

export interface SandboxClockTicket {
  /** The sandbox’s time from now on. It only goes forward, 31 days at most. */
  readonly set?: string | undefined
  /** How far it jumps, in milliseconds; 31 days at most. */
  readonly advance_ms?: number | undefined
  /** Whether it stands still. */
  readonly frozen?: boolean | undefined
}

export interface SandboxMarketTicket {
  /** `calendar`: its own hours again. */
  readonly phase?: 'open' | 'pre' | 'post' | 'closed' | 'calendar' | undefined
  /** Of what the phase is; shares if absent. */
  readonly class?: 'share' | 'crypto' | 'option' | 'future' | undefined
  /** Whether no prices come. */
  readonly paused?: boolean | undefined
}

/** A symbol’s best prices. */
export interface SandboxPrice {
  readonly symbol: string
  /** Null: there is none. */
  readonly bid: string | null
  /** Null: there is none. */
  readonly bid_size: string | null
  /** Null: there is none. */
  readonly ask: string | null
  /** Null: there is none. */
  readonly ask_size: string | null
  /** Null: there is none. */
  readonly last: string | null
  /** Null: there is none. */
  readonly previous_close: string | null
  readonly halted: boolean
  /** Of its market. */
  readonly phase: string
}

export interface SandboxLevel {
  readonly price: string
  readonly quantity: string
}

export interface SandboxPriceTicket {
  /** As the sandbox writes it, which is as this API does. */
  readonly symbol: string
  /** From which it moves on. */
  readonly price?: string | undefined
  /** Whether its trading is halted. */
  readonly halted?: boolean | undefined
  /** All bids shown, the best first. */
  readonly bids?: readonly SandboxLevel[] | undefined
  /** All asks shown, the best first. */
  readonly asks?: readonly SandboxLevel[] | undefined
}

export interface SandboxDividendTicket {
  /** As the sandbox writes it, which is as this API does. */
  readonly symbol: string
  /** Paid now to every holder. */
  readonly per_share: string
}

/** A dividend that was paid. */
export interface SandboxDividend {
  readonly symbol: string
  readonly per_share: string
  /** How many accounts received it. */
  readonly paid: number
}

export interface SandboxResetTicket {
  /** That it is meant: practice users that were created, orders and balances go. */
  readonly confirm: 'reset'
}

/** The sandbox after it was reset. */
export interface SandboxReset {
  readonly clock: SandboxClock
}

/** A practice account. */
export interface SandboxAccount {
  readonly number: string
  readonly name: string
  readonly kind: string
}

/** A practice user of the sandbox. */
export interface SandboxLogin {
  readonly username: string
  /** In plain text: it opens practice accounts only. */
  readonly password: string
  readonly name: string
  readonly accounts: readonly SandboxAccount[]
}

/** The practice users. */
export interface SandboxLoginList {
  readonly data: readonly SandboxLogin[]
  /** What is missing from the list, and why; null: nothing. */
  readonly incomplete: string | null
}

export interface SandboxAccountTicket {
  readonly kind: 'margin' | 'cash' | 'crypto' | 'futures'
  /** The first deposit in US dollars; 100000 if absent. */
  readonly cash?: string | undefined
  /** Shown to the user. */
  readonly name?: string | undefined
}

export interface SandboxLoginTicket {
  /** Absent: the sandbox chooses. */
  readonly username?: string | undefined
  /** For practice only; absent: the sandbox chooses. */
  readonly password?: string | undefined
  /** Of the person. */
  readonly name?: string | undefined
  /** Absent: margin, cash and crypto. */
  readonly accounts?: readonly SandboxAccountTicket[] | undefined
}

export interface SandboxGrantsTicket {
  /** Access tokens live on, and the next refresh fails. */
  readonly refresh_only?: boolean | undefined
}

/** The grants that have ended. */
export interface SandboxGrantsEnded {
  readonly username: string
  /** How many. */
  readonly grants: number
}

export interface SandboxTokensTicket {
  /** How long access tokens live from now on. */
  readonly access_seconds?: number | undefined
  /** How long a used refresh token still works, in milliseconds. */
  readonly refresh_grace_ms?: number | undefined
}

/** What holds for tokens from now on; null: that was not changed. */
export interface SandboxTokens {
  readonly access_seconds: number | null
  readonly refresh_grace_ms: number | null
}

/** The open streams of one kind and login. */
export interface SandboxStream {
  /** `account` or `market`. */
  readonly on: string
  /** The broker whose streams they are; null: the sandbox’s own. */
  readonly broker: string | null
  /** The sandbox’s id of the login; null: it is not named. */
  readonly login_id: string | null
  /** How many; null: not counted. */
  readonly open: number | null
}

/** The streams that are open. */
export interface SandboxStreamList {
  readonly data: readonly SandboxStream[]
  /** What is missing from the list, and why; null: nothing. */
  readonly incomplete: string | null
}

export interface SandboxStreamsTicket {
  /** `normal` ends all others. Each is described in the API of the sandbox. */
  readonly do: 'drop' | 'mute' | 'delay' | 'duplicate' | 'reorder' | 'lose' | 'garble' | 'normal'
  /** Which streams; those of accounts if absent. */
  readonly on?: 'account' | 'market' | undefined
  /** The streams of this broker in the sandbox; absent: its own. */
  readonly broker?: 'alpaca' | 'tradier' | 'tradestation' | undefined
  /** Only those of this practice user. */
  readonly login?: string | undefined
  /** With `drop`: the code of the close; absent: the connection is cut. */
  readonly code?: number | undefined
  /** With `mute` and `delay`: milliseconds. */
  readonly ms?: number | undefined
  /** With `duplicate` and `lose`: how many events. */
  readonly times?: number | undefined
  /** With `reorder`: how many events at a time. */
  readonly window?: number | undefined
}

/** The streams that it was done to. */
export interface SandboxStreamsDisturbed {
  /** How many. */
  readonly streams: number
}

/** An order as the sandbox has it. */
export interface SandboxOrder {
  readonly id: string
  readonly client_order_id: string
  /** Null: it has several legs. */
  readonly symbol: string | null
  readonly direction: string
  readonly state: string
  /** Null: there is none. */
  readonly quantity: string | null
  readonly filled: string
  readonly remaining: string
}

/** What the sandbox has of an order. */
export interface SandboxOrderList {
  /** How many requests with this id were processed since its start. */
  readonly received: number
  /** How many orders it recorded, refused ones included. */
  readonly accepted: number
  readonly data: readonly SandboxOrder[]
}

export interface SandboxFillTicket {
  /** What fills now, at the order’s own limit. */
  readonly quantity: string
}

/** The order that is shown now. */
export interface SandboxOrderRevealed {
  readonly id: string
}

/** Requests of one operation. */
export interface SandboxTally {
  /** All of them. */
  readonly requests: number
  /** Those that a fault hit. */
  readonly faults: number
  /** By status or by what was done instead. */
  readonly answers: Readonly<Record<string, number>>
}

/** Requests since the start, or since the counters were cleared. */
export interface SandboxCounters {
  readonly operations: Readonly<Record<string, SandboxTally>>
}

/** A part of the original that the replay does not have. */
export interface NotRepeated {
  /** `outcome`: how the two differ at the end of the replay. */
  readonly part: 'broker' | 'account' | 'answer' | 'time' | 'fills' | 'end' | 'changes' | 'outcome' | 'market'
  readonly why: string
}

/** An order that was placed again in the sandbox. */
export interface OrderReplay {
  readonly original_order_id: string
  readonly order: OperatorOrder
  readonly not_repeated: readonly NotRepeated[]
}

/** A broker account. */
export interface Account {
  readonly account_id: string
  readonly account_number: string
  readonly institution_name: string
  readonly broker: string
  readonly connection_id: string
  readonly name: string | null
  /** Null if the broker does not provide it. */
  readonly account_type: 'cash' | 'margin' | 'retirement' | 'futures' | 'crypto' | 'other' | null
  /** The broker’s own value. */
  readonly broker_account_type: string | null
  readonly currency_code: string | null
}

/** The best bid and ask; null if there is none. */
export interface MarketQuote {
  /** The symbol in the service’s format. */
  readonly symbol: string
  readonly bid_price: string | null
  readonly bid_size: string | null
  readonly ask_price: string | null
  readonly ask_size: string | null
  /** The broker’s time of the quote; null if it sent no quote within three seconds. */
  readonly quoted_at: string | null
  /** The broker’s market time when this was read. */
  readonly as_of: string
}

/** One bar. */
export interface MarketBar {
  /** The start of the bar. */
  readonly start: string
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
  /** False if the bar may still change. */
  readonly closed: boolean
}

/** Past bars of the session `BrokerDefault`, ascending. */
export interface MarketBars {
  /** The symbol in the service’s format. */
  readonly symbol: string
  readonly interval: string
  readonly bars: readonly MarketBar[]
  /** Send it as `start` to read the next page; null at the end of the window. */
  readonly next_start: string | null
  /** The broker’s market time when this was read. */
  readonly as_of: string
}

/** One page of a list. */
export interface OrderPage {
  readonly data: readonly Order[]
  /** Send it back to read the next page; null on the last page. */
  readonly next_cursor: string | null
  /** Send it back to read the previous page; null on the first page. */
  readonly prev_cursor: string | null
}

export interface NewLeg {
  readonly symbol: string
  readonly action: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE'
  readonly ratio: string
}

export interface NewPreview {
  readonly account_id: string
  readonly broker: string
  readonly side: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE'
  readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT'
  readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+'
  /** Null for a multi-leg order. */
  readonly symbol?: string | null | undefined
  /** If absent, derived from the format of the symbol. */
  readonly instrument?: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO' | null | undefined
  /** Send either this or `order_notional`. At most nine decimal places. */
  readonly order_qty?: string | null | undefined
  /** An amount of money instead of a quantity. */
  readonly order_notional?: string | null | undefined
  /** For `LMT` and `STPLMT` only. At most nine decimal places. */
  readonly order_limit_price?: string | null | undefined
  /** For `STP` and `STPLMT` only. At most nine decimal places. */
  readonly stop_price?: string | null | undefined
  /** For `MLEG_OPT` only. `order_qty` and `order_limit_price` apply to the whole order. */
  readonly legs?: readonly NewLeg[] | null | undefined
}

/** The broker’s estimate of an order’s cost. It is not a guarantee: prices move, and nothing is reserved for it. */
export interface OrderPreview {
  readonly account_id: string
  readonly broker: string
  /**
   * `estimated`: the broker would accept the order at this moment. `refused`: it would not, and `broker_message`
   * gives the reason.
   */
  readonly outcome: 'estimated' | 'refused'
  /** The broker’s refusal message; null when `outcome` is `estimated`. */
  readonly broker_message: string | null
  /** Why the order is refused, with the same values as the `reject_code` of an order. */
  readonly reject_code: 'unknown_symbol' | 'insufficient_funds' | 'insufficient_position' | 'market_closed' | 'price_out_of_range' | 'tick_size' | 'quantity_invalid' | 'not_tradable' | 'not_permitted' | 'duplicate' | 'risk_rejected' | 'order_ended' | 'other' | null
  /** The broker’s own message about an order that it would accept. */
  readonly warnings: readonly string[]
  /** Where the numbers come from. All of them are the broker’s; the service computes none. */
  readonly source: 'broker'
  /** The currency of the amounts. */
  readonly currency_code: string | null
  /** Per unit, like `order_limit_price`. Null if the broker does not state it. */
  readonly estimated_price: string | null
  /** Without commission and fees. Positive if paid, negative if received. Null if the broker does not state it. */
  readonly estimated_cost: string | null
  /** With commission and fees, signed like `estimated_cost`. Null if the broker does not state it. */
  readonly estimated_total: string | null
  /** `0.00` means that the broker states that there is none. Null if the broker does not state it. */
  readonly commission: string | null
  /** Fees in addition to the commission. Null if the broker does not state it. */
  readonly fees: string | null
  /** Initial margin that the order needs. Null if the broker does not state it. */
  readonly initial_margin: string | null
  /**
   * The change of the account’s margin requirement; negative if it decreases. Null if the broker does not state
   * it.
   */
  readonly margin_change: string | null
  /** The change of the buying power; negative if it decreases. Null if the broker does not state it. */
  readonly buying_power_change: string | null
  readonly previewed_at: string
}

export interface NewOrder {
  readonly account_id: string
  /** Chosen by the client; unique per user and trading day (the America/New_York date). */
  readonly cl_order_id: string
  readonly broker: string
  readonly side: 'BUY' | 'SELL' | 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE'
  readonly order_type: 'MKT' | 'LMT' | 'STP' | 'STPLMT'
  readonly order_tif: 'DAY' | 'GTC' | 'IOC' | 'FOK' | 'OPEN' | 'CLOSE' | 'DAY+' | 'GTC+'
  /** Null for a multi-leg order. */
  readonly symbol?: string | null | undefined
  /** If absent, derived from the format of the symbol. */
  readonly instrument?: 'STK' | 'OPT' | 'MLEG_OPT' | 'FUT' | 'CRYPTO' | null | undefined
  /** Send either this or `order_notional`. At most nine decimal places. */
  readonly order_qty?: string | null | undefined
  /** An amount of money instead of a quantity. */
  readonly order_notional?: string | null | undefined
  /** For `LMT` and `STPLMT` only. At most nine decimal places. */
  readonly order_limit_price?: string | null | undefined
  /** For `STP` and `STPLMT` only. At most nine decimal places. */
  readonly stop_price?: string | null | undefined
  /** For `MLEG_OPT` only. `order_qty` and `order_limit_price` apply to the whole order. */
  readonly legs?: readonly NewLeg[] | null | undefined
}

/** The body of every error response. */
export interface Problem {
  /** What was expected, what was found, and what to do. */
  readonly message: string
  /** Stable, for programs. Later versions may add codes. */
  readonly code: 'credentials_invalid' | 'entitlement_missing' | 'scope_missing' | 'path_invalid' | 'query_invalid' | 'header_invalid' | 'body_malformed' | 'field_invalid' | 'user_not_found' | 'connection_not_found' | 'account_not_found' | 'order_not_found' | 'webhook_endpoint_not_found' | 'webhook_delivery_not_found' | 'route_not_found' | 'method_not_allowed' | 'upgrade_required' | 'platform_not_found' | 'platform_disabled' | 'user_exists' | 'cl_order_id_duplicate' | 'connection_broken' | 'connection_claimed' | 'claim_refused' | 'session_exists' | 'webhook_endpoint_limit' | 'webhook_endpoint_disabled' | 'order_not_open' | 'order_not_settled' | 'order_not_supported' | 'market_data_unsupported' | 'preview_unsupported' | 'order_not_repeatable' | 'user_not_tradable' | 'sandbox_absent' | 'sandbox_refused' | 'body_too_large' | 'headers_too_large' | 'request_too_slow' | 'rate_limited' | 'broker_unavailable' | 'login_provider_unavailable' | 'sandbox_unavailable' | 'store_unavailable' | 'shutting_down' | 'internal'
  readonly request_id: string
  /**
   * With `cl_order_id_duplicate`: the user’s order that already has this `cl_order_id`. Read it with `GET
   * /orders/{order_id}`.
   */
  readonly order_id?: string
  /** The fields or parameters that are wrong. */
  readonly details?: readonly {
    readonly path: string
    readonly message: string
  }[]
}

/** What can be read, by its path below `/admin/v1`: the names of its parts and filters, and its answer. */
export interface Reads {
  /** Read how operators can log in */
  readonly '/login-options': {
    readonly parts: never
    readonly filters: never
    readonly answer: OperatorLoginOptions
  }
  /** Read who is logged in */
  readonly '/session': {
    readonly parts: never
    readonly filters: never
    readonly answer: OperatorSession
  }
  /** Read how the service is */
  readonly '/overview': {
    readonly parts: never
    readonly filters: never
    readonly answer: OperatorOverview
  }
  /** List the newest requests */
  readonly '/requests': {
    readonly parts: never
    readonly filters: 'failed' | 'code' | 'request_id' | 'platform' | 'user' | 'limit'
    readonly answer: AnsweredRequestPage
  }
  /** List the audit log */
  readonly '/audit': {
    readonly parts: never
    readonly filters: 'limit' | 'cursor'
    readonly answer: AuditEntryPage
  }
  /** Find what has an id */
  readonly '/search': {
    readonly parts: never
    readonly filters: 'q'
    readonly answer: SearchHitList
  }
  /** List the platforms */
  readonly '/platforms': {
    readonly parts: never
    readonly filters: never
    readonly answer: OperatorPlatformPage
  }
  /** List a platform’s users */
  readonly '/users': {
    readonly parts: never
    readonly filters: 'platform' | 'user_id' | 'limit' | 'cursor'
    readonly answer: OperatorUserPage
  }
  /** Read a user */
  readonly '/users/{user_key}': {
    readonly parts: 'user_key'
    readonly filters: never
    readonly answer: OperatorUser
  }
  /** List a user’s events */
  readonly '/events': {
    readonly parts: never
    readonly filters: 'user' | 'after' | 'limit' | 'wait'
    readonly answer: EventPage
  }
  /** List connections */
  readonly '/connections': {
    readonly parts: never
    readonly filters: 'platform' | 'user' | 'status' | 'limit' | 'cursor'
    readonly answer: OperatorConnectionPage
  }
  /** List orders */
  readonly '/orders': {
    readonly parts: never
    readonly filters: 'user' | 'connection' | 'cl_order_id' | 'limit' | 'cursor'
    readonly answer: OperatorOrderPage
  }
  /** Read an order */
  readonly '/orders/{order_id}': {
    readonly parts: 'order_id'
    readonly filters: never
    readonly answer: OperatorOrder
  }
  /** Read what became of an order */
  readonly '/orders/{order_id}/steps': {
    readonly parts: 'order_id'
    readonly filters: never
    readonly answer: OrderSteps
  }
  /** List abandoned orders */
  readonly '/abandoned-orders': {
    readonly parts: never
    readonly filters: 'limit'
    readonly answer: AbandonedOrderPage
  }
  /** List a platform’s webhook endpoints */
  readonly '/webhook-endpoints': {
    readonly parts: never
    readonly filters: 'platform'
    readonly answer: OperatorWebhookEndpointPage
  }
  /** Read a webhook endpoint */
  readonly '/platforms/{platform_id}/webhook-endpoints/{endpoint_id}': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly filters: never
    readonly answer: WebhookEndpointDetail
  }
  /** List attempts to send webhooks */
  readonly '/webhook-deliveries': {
    readonly parts: never
    readonly filters: 'endpoint' | 'user' | 'limit' | 'cursor'
    readonly answer: OperatorWebhookDeliveryPage
  }
  /** Read how the sandbox is */
  readonly '/sandbox': {
    readonly parts: never
    readonly filters: never
    readonly answer: Sandbox
  }
  /** List the faults */
  readonly '/sandbox/faults': {
    readonly parts: never
    readonly filters: never
    readonly answer: SandboxFaultList
  }
  /** Read a price */
  readonly '/sandbox/price': {
    readonly parts: never
    readonly filters: 'symbol'
    readonly answer: SandboxPrice
  }
  /** List the practice users */
  readonly '/sandbox/logins': {
    readonly parts: never
    readonly filters: never
    readonly answer: SandboxLoginList
  }
  /** List the sandbox’s open streams */
  readonly '/sandbox/streams': {
    readonly parts: never
    readonly filters: never
    readonly answer: SandboxStreamList
  }
  /** Find an order in the sandbox */
  readonly '/sandbox/orders': {
    readonly parts: never
    readonly filters: 'client_order_id'
    readonly answer: SandboxOrderList
  }
  /** Read how often each operation of the sandbox was asked for */
  readonly '/sandbox/counters': {
    readonly parts: never
    readonly filters: never
    readonly answer: SandboxCounters
  }
  /** List accounts */
  readonly '/sandbox/users/{user_key}/accounts': {
    readonly parts: 'user_key'
    readonly filters: 'connection_id' | 'broker'
    readonly answer: readonly Account[]
  }
  /** List balances */
  readonly '/sandbox/users/{user_key}/balances': {
    readonly parts: 'user_key'
    readonly filters: 'account_id' | 'connection_id'
    readonly answer: readonly Balance[]
  }
  /** List positions */
  readonly '/sandbox/users/{user_key}/positions': {
    readonly parts: 'user_key'
    readonly filters: 'account_id' | 'connection_id' | 'symbols'
    readonly answer: readonly Position[]
  }
  /** Read the last quote of a symbol */
  readonly '/sandbox/users/{user_key}/connections/{connection_id}/market-data/quote': {
    readonly parts: 'user_key' | 'connection_id'
    readonly filters: 'symbol'
    readonly answer: MarketQuote
  }
  /** Read past bars */
  readonly '/sandbox/users/{user_key}/connections/{connection_id}/market-data/bars': {
    readonly parts: 'user_key' | 'connection_id'
    readonly filters: 'symbol' | 'interval' | 'start' | 'end' | 'limit'
    readonly answer: MarketBars
  }
  /** List orders */
  readonly '/sandbox/users/{user_key}/orders': {
    readonly parts: 'user_key'
    readonly filters: 'connection_id' | 'account_id' | 'broker' | 'status' | 'symbols' | 'order_id' | 'cl_order_id' | 'side' | 'start_time' | 'end_time' | 'sort' | 'limit' | 'next_cursor' | 'prev_cursor'
    readonly answer: OrderPage
  }
  /** Read an order */
  readonly '/sandbox/users/{user_key}/orders/{order_id}': {
    readonly parts: 'user_key' | 'order_id'
    readonly filters: never
    readonly answer: Order
  }
}

/** What can be changed, by its method and path: the names of its parts, its body, and its answer. */
export interface Changes {
  /** Exchange a code for a session */
  readonly 'POST /sessions': {
    readonly parts: never
    readonly body: OperatorCode
    readonly answer: OperatorSession
  }
  /** Begin a login by the provider */
  readonly 'POST /oidc/logins': {
    readonly parts: never
    readonly body: ProviderLogin
    readonly answer: BegunProviderLogin
  }
  /** Complete a login by the provider */
  readonly 'POST /oidc/sessions': {
    readonly parts: never
    readonly body: ProviderAnswer
    readonly answer: ProviderSession
  }
  /** Log out */
  readonly 'DELETE /session': {
    readonly parts: never
    readonly body: undefined
    readonly answer: EndedOperatorSession
  }
  /** Disable a platform */
  readonly 'POST /platforms/{platform_id}/disable': {
    readonly parts: 'platform_id'
    readonly body: undefined
    readonly answer: OperatorPlatform
  }
  /** Enable a platform */
  readonly 'POST /platforms/{platform_id}/enable': {
    readonly parts: 'platform_id'
    readonly body: undefined
    readonly answer: OperatorPlatform
  }
  /** Disable a user */
  readonly 'POST /users/{user_key}/disable': {
    readonly parts: 'user_key'
    readonly body: undefined
    readonly answer: OperatorUser
  }
  /** Enable a user */
  readonly 'POST /users/{user_key}/enable': {
    readonly parts: 'user_key'
    readonly body: undefined
    readonly answer: OperatorUser
  }
  /** Read a connection’s records again */
  readonly 'POST /connections/{connection_id}/read-again': {
    readonly parts: 'connection_id'
    readonly body: undefined
    readonly answer: ConnectionReadAgain
  }
  /** End an order that the broker never received */
  readonly 'POST /orders/{order_id}/never-received': {
    readonly parts: 'order_id'
    readonly body: OrderNeverReceived
    readonly answer: OperatorOrder
  }
  /** End several orders that the broker never received */
  readonly 'POST /unresolved-orders/never-received': {
    readonly parts: never
    readonly body: OrdersNeverReceived
    readonly answer: OrdersEnded
  }
  /** Change a webhook endpoint */
  readonly 'PATCH /platforms/{platform_id}/webhook-endpoints/{endpoint_id}': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: WebhookEndpointEdit
    readonly answer: WebhookEndpointDetail
  }
  /** Delete a webhook endpoint */
  readonly 'DELETE /platforms/{platform_id}/webhook-endpoints/{endpoint_id}': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: undefined
    readonly answer: DeletedWebhookEndpoint
  }
  /** Create a webhook endpoint */
  readonly 'POST /platforms/{platform_id}/webhook-endpoints': {
    readonly parts: 'platform_id'
    readonly body: NewWebhookEndpoint
    readonly answer: WebhookEndpointWithSecret
  }
  /** Enable a webhook endpoint */
  readonly 'POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/enable': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: undefined
    readonly answer: WebhookEndpointDetail
  }
  /** Disable a webhook endpoint */
  readonly 'POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/disable': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: undefined
    readonly answer: WebhookEndpointDetail
  }
  /** Rotate the keys of a webhook endpoint */
  readonly 'POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/rotate-keys': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: WebhookKeyRotation
    readonly answer: WebhookEndpointWithSecret
  }
  /** Send a test message */
  readonly 'POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/test': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: undefined
    readonly answer: WebhookTest
  }
  /** Send updates again */
  readonly 'POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/replay': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: WebhookReplay
    readonly answer: AcceptedWebhookReplay
  }
  /** Set a fault */
  readonly 'POST /sandbox/faults': {
    readonly parts: never
    readonly body: SandboxFaultTicket
    readonly answer: SandboxFault
  }
  /** Clear all faults */
  readonly 'DELETE /sandbox/faults': {
    readonly parts: never
    readonly body: undefined
    readonly answer: SandboxCleared
  }
  /** Clear a fault */
  readonly 'DELETE /sandbox/faults/{fault_id}': {
    readonly parts: 'fault_id'
    readonly body: undefined
    readonly answer: SandboxCleared
  }
  /** Set the clock */
  readonly 'POST /sandbox/clock': {
    readonly parts: never
    readonly body: SandboxClockTicket
    readonly answer: SandboxClock
  }
  /** Set a market’s phase, or pause all prices */
  readonly 'POST /sandbox/market': {
    readonly parts: never
    readonly body: SandboxMarketTicket
    readonly answer: SandboxClock
  }
  /** Set a price */
  readonly 'POST /sandbox/price': {
    readonly parts: never
    readonly body: SandboxPriceTicket
    readonly answer: SandboxPrice
  }
  /** Pay a dividend */
  readonly 'POST /sandbox/dividends': {
    readonly parts: never
    readonly body: SandboxDividendTicket
    readonly answer: SandboxDividend
  }
  /** Reset the sandbox */
  readonly 'POST /sandbox/reset': {
    readonly parts: never
    readonly body: SandboxResetTicket
    readonly answer: SandboxReset
  }
  /** Create a practice user */
  readonly 'POST /sandbox/logins': {
    readonly parts: never
    readonly body: SandboxLoginTicket
    readonly answer: SandboxLogin
  }
  /** Add an account to a practice user */
  readonly 'POST /sandbox/logins/{username}/accounts': {
    readonly parts: 'username'
    readonly body: SandboxAccountTicket
    readonly answer: SandboxLogin
  }
  /** End a practice user’s grants */
  readonly 'POST /sandbox/logins/{username}/end-grants': {
    readonly parts: 'username'
    readonly body: SandboxGrantsTicket
    readonly answer: SandboxGrantsEnded
  }
  /** Set how long tokens live */
  readonly 'POST /sandbox/tokens': {
    readonly parts: never
    readonly body: SandboxTokensTicket
    readonly answer: SandboxTokens
  }
  /** Disturb streams */
  readonly 'POST /sandbox/streams': {
    readonly parts: never
    readonly body: SandboxStreamsTicket
    readonly answer: SandboxStreamsDisturbed
  }
  /** Fill an order in the sandbox */
  readonly 'POST /sandbox/orders/{broker_order_id}/fill': {
    readonly parts: 'broker_order_id'
    readonly body: SandboxFillTicket
    readonly answer: SandboxOrder
  }
  /** Cancel an order from the sandbox’s side */
  readonly 'POST /sandbox/orders/{broker_order_id}/cancel': {
    readonly parts: 'broker_order_id'
    readonly body: undefined
    readonly answer: SandboxOrder
  }
  /** Show an order that the fault `hide` hides */
  readonly 'POST /sandbox/orders/{broker_order_id}/reveal': {
    readonly parts: 'broker_order_id'
    readonly body: undefined
    readonly answer: SandboxOrderRevealed
  }
  /** Clear the counters */
  readonly 'DELETE /sandbox/counters': {
    readonly parts: never
    readonly body: undefined
    readonly answer: SandboxCleared
  }
  /** Replay an order in the sandbox */
  readonly 'POST /orders/{order_id}/replay': {
    readonly parts: 'order_id'
    readonly body: undefined
    readonly answer: OrderReplay
  }
  /** Place an order */
  readonly 'POST /sandbox/users/{user_key}/orders': {
    readonly parts: 'user_key'
    readonly body: NewOrder
    readonly answer: Order
  }
  /** Preview an order */
  readonly 'POST /sandbox/users/{user_key}/orders/preview': {
    readonly parts: 'user_key'
    readonly body: NewPreview
    readonly answer: OrderPreview
  }
  /** Cancel an open order */
  readonly 'DELETE /sandbox/users/{user_key}/accounts/{account_id}/orders/{order_id}': {
    readonly parts: 'user_key' | 'account_id' | 'order_id'
    readonly body: undefined
    readonly answer: Order
  }
}
