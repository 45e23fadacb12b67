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
  /** Path and query of the console’s page to show afterwards, such as `/console/orders`. */
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
  readonly unseen?: boolean
}

export interface OrdersNeverReceived {
  /** Only orders at this broker. */
  readonly broker?: string | null
  /** Only orders of this connection. */
  readonly connection_id?: string | null
  /** Only orders that were entered before that. */
  readonly older_than_hours?: number | null
  /** How you know that the broker never received it; written to the audit log. */
  readonly because: string
  /** The broker is not asked, because it does not answer and you checked its records by other means. */
  readonly unseen?: boolean
  /** Of the trial whose orders are ended; absent or null: a trial. */
  readonly set?: string | null
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

/** What was logged and not received yet. */
export interface WebhookLag {
  /** Users with such updates; counted up to 10,000. */
  readonly users: number
  /** Their updates, also those that the filter will pass over. */
  readonly updates: number
  /** When the oldest of these updates was logged; null: there is none. */
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
  readonly description?: string
  /** Which updates are sent; null: all. */
  readonly topics?: readonly ('orders' | 'positions' | 'balances')[] | null
  /** Of orders, only updates with one of these `normalized_status`; null: all. */
  readonly order_statuses?: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null
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
  readonly url?: string
  /** For the platform’s people. */
  readonly description?: string
  /** Which updates are sent; null: all. */
  readonly topics?: readonly ('orders' | 'positions' | 'balances')[] | null
  /** Of orders, only updates with one of these `normalized_status`; null: all. */
  readonly order_statuses?: readonly ('pending' | 'working' | 'partially_filled' | 'filled' | 'cancelled' | 'rejected' | 'expired' | 'replaced' | 'pending_cancel' | 'pending_replace')[] | null
}

export interface WebhookKeyRotation {
  /** How long the old keys sign beside the new ones. */
  readonly overlap_hours?: number
}

/** One attempt to send a message. */
export interface WebhookDelivery {
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
}

export interface WebhookReplay {
  /** The `webhook-id` of a message. Send either this or the others. */
  readonly message_id?: string
  readonly user_id?: string
  /** The first update that is sent again. */
  readonly from_seq?: number
  /** The last one; at most 10000 are sent again. */
  readonly to_seq?: number
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

/** The body of every error response. */
export interface Problem {
  /** What was expected, what was found, and what to do. */
  readonly message: string
  /** Stable, for programs. Later versions may add codes. */
  readonly code: 'credentials_invalid' | 'entitlement_missing' | 'scope_missing' | 'path_invalid' | 'query_invalid' | 'header_invalid' | 'body_malformed' | 'field_invalid' | 'user_not_found' | 'connection_not_found' | 'account_not_found' | 'order_not_found' | 'webhook_endpoint_not_found' | 'webhook_delivery_not_found' | 'route_not_found' | 'method_not_allowed' | 'upgrade_required' | 'platform_not_found' | 'platform_disabled' | 'user_exists' | 'cl_order_id_duplicate' | 'connection_broken' | 'connection_claimed' | 'claim_refused' | 'session_exists' | 'webhook_endpoint_limit' | 'webhook_endpoint_disabled' | 'order_not_open' | 'order_not_settled' | 'order_not_supported' | 'market_data_unsupported' | 'preview_unsupported' | 'body_too_large' | 'headers_too_large' | 'request_too_slow' | 'rate_limited' | 'broker_unavailable' | 'login_provider_unavailable' | 'store_unavailable' | 'shutting_down' | 'internal'
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
    readonly answer: WebhookDelivery
  }
  /** Send updates again */
  readonly 'POST /platforms/{platform_id}/webhook-endpoints/{endpoint_id}/replay': {
    readonly parts: 'platform_id' | 'endpoint_id'
    readonly body: WebhookReplay
    readonly answer: AcceptedWebhookReplay
  }
}
