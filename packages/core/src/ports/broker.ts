import type { OrderOffer } from '../domain/combinations.ts'
import type { Decimal } from '../domain/decimal.ts'
import type { BrokerId } from '../domain/ids.ts'
import type { Fill, OrderTicket } from '../domain/order.ts'
import type { Day, Timestamp } from '../domain/timestamp.ts'
import type { Environment, Instrument, MarketDataChannel, OrderStatus, RejectCode, Session, TransactionType } from '../domain/vocabulary.ts'
import type { Credentials, CredentialsHolder } from './credentials.ts'
import type { GapCause } from './gap.ts'
import type { MarketSource } from './market.ts'
import type { OrderPreview, PreviewOrder } from './preview.ts'

export type { Credentials, CredentialsHolder, CredentialsRefresh } from './credentials.ts'

/** What a broker supports, as data: the API publishes it, and validation and the contract suite use it. */
export interface BrokerCapabilities extends OrderOffer {
  readonly id: BrokerId
  /** `#rrggbb`, for the portal. */
  readonly logoColor: string
  /** One or two letters shown on that colour, unique among brokers: our own drawing, never the broker's trademark. */
  readonly logoInitials: string
  readonly login: 'oauth' | 'api_key'
  readonly sessions: readonly Session[]
  readonly marketData: MarketDataCapabilities
  readonly replace: 'native' | 'cancel_then_new' | 'none'
  /** Whether a replaced order gets a new broker order id, or keeps its id and all its fills under new terms. */
  readonly replacedOrderId: 'new' | 'same'
  /** The quantity reported for an order that replaced another: `total` includes what was filled before, `rest` is the leaves quantity. */
  readonly replacedQuantity: 'total' | 'rest'
  readonly accountStream: boolean
  /** Whether a missing message of the account stream is detected at once. If not, the loss shows in the next snapshot of the account. */
  readonly accountStreamNumbered: boolean
  /** Whether each execution is reported with its own id. If not, only cum qty and average price are. */
  readonly executions: boolean
  /** Whether an order that is rejected after it was accepted carries a reason. */
  readonly rejectReasons: boolean
  /** Whether access tokens expire and are refreshed, or last until the user revokes them. */
  readonly tokens: 'refreshed' | 'lasting'
  /**
   * What a revocation ends: the revoked login (`grant`), or every login that this customer of the broker made with our key (`customer`).
   * `none`: only the user can end a login, at the broker.
   */
  readonly revocation: 'grant' | 'customer' | 'none'
  readonly transactions: boolean
  /** Whether the broker can estimate an order without placing it. */
  readonly orderPreview: boolean
  /**
   * How the broker treats a client order id it has seen: `enforced` rejects it for ever and finds orders by it, `bounded` does so for a
   * time, `open_only` while the first order is open, `label` only echoes it, `none` neither echoes it nor finds by it. Decides how an
   * unknown outcome is looked up: with `none` by the order's terms and time, so {@link Broker.findOrder} is never called with a client
   * order id.
   */
  readonly deduplication: 'enforced' | 'bounded' | 'open_only' | 'label' | 'none'
  /** The longest client order id, and its allowed characters. */
  readonly brokerClOrdId: { readonly lengthMax: number; readonly alphabet: 'alphanumeric' | 'uuid' }
}

export interface MarketDataCapabilities {
  readonly channels: readonly MarketDataChannel[]
  /** Intervals of the broker's own past bars, such as `1m` and `1d`; longer ones are aggregated from these. Empty if it has no history. */
  readonly historyIntervals: readonly string[]
  /** How many days back the bars of an interval reach, where that is not decades. Other intervals reach back to the first bar. */
  readonly historyDays: { readonly [interval: string]: number }
  /** What its daily bars of a share cover: the core session, or all hours. All hours if the share follows no exchange's hours. */
  readonly dailyBars: 'core' | 'all_hours'
  /** Sessions that daily bars of a share can be requested for by name, whatever the share's hours. */
  readonly dailySessions: readonly Session[]
  /** Intervals of the bars that the broker streams; empty: live bars are built from its trades. */
  readonly liveIntervals: readonly string[]
  /** Which trades the volume of a live bar counts when it closes: all, or only those that set a price. The broker's history counts all. */
  readonly liveVolume: 'all' | 'priced'
  /** Whether symbols can be searched. If not, a symbol must be looked up by its exact text. */
  readonly symbolSearch: boolean
  /** Most past bars that a subscription may request. */
  readonly backfillMax: number
  /** How long the broker's history may lag behind its stream, in milliseconds. */
  readonly historyLagMs: number
  /** Whether every trade is streamed. If not, only changes of the last price are. */
  readonly everyTrade: boolean
  /** Whether missing and out-of-order messages of the market stream are detected. */
  readonly streamNumbered: boolean
  /** Connections to the broker for all topics of a login: one, or several, by channel or by symbol. */
  readonly connections: 'one' | 'several'
}

/** How a user logs in at a broker. */
export type BrokerLogin = OAuthBrokerLogin | ApiKeyBrokerLogin

/** Login at the broker's own page. */
export interface OAuthBrokerLogin {
  readonly kind: 'oauth'
  /** Origin of the login page. The portal's content security policy must allow forms to lead there. */
  readonly origin: string
  /** Returns where to send the browser, and what must be stored (sealed) until it returns. */
  begin(request: LoginRequest): Promise<{ readonly authorizationUrl: string; readonly verifier: string }>
  /** Exchanges the callback for credentials. @throws LoginDeclined if the user declined; BrokerFault for everything else. */
  complete(answer: LoginAnswer, signal: AbortSignal): Promise<Credentials>
  /** Best effort and idempotent: a token that is already revoked is a success. @throws BrokerFault if it should be tried again. */
  revoke(credentials: Credentials, signal: AbortSignal): Promise<void>
}

/** Login with keys that the user created at the broker and enters in the portal. */
export interface ApiKeyBrokerLogin {
  readonly kind: 'api_key'
  /** The fields of the form, in order. */
  readonly fields: readonly ApiKeyField[]
  /** Where the user can create such keys, for the form. */
  readonly helpUrl: string | null
  /**
   * Makes credentials of the entered values, by field name. Checks their form only; the first read of accounts proves that they work.
   * @throws LoginRefused for values that cannot be keys of this broker, with a message for the user.
   */
  complete(entered: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Credentials>
  /** Does nothing for keys that the user owns. @throws BrokerFault if it should be tried again. */
  revoke(credentials: Credentials, signal: AbortSignal): Promise<void>
}

export interface ApiKeyField {
  /** Letters, digits and `_`; unique in its form. */
  readonly name: string
  readonly label: string
  /** Never shown and never put back into the page. */
  readonly secret: boolean
  readonly lengthMax: number
}

/** The entered value cannot be a key of this broker. The message says what it should be and never repeats the value. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
  /** The field concerned; null: all of them together. */
  readonly field: string | null

  constructor(message: string, field: string | null = null) {
    super(message)
    this.field = field
  }
}

export interface LoginRequest {
  readonly redirectUri: string
  readonly state: string
  /** Whether the login must permit placing orders. */
  readonly trading: boolean
}

export interface LoginAnswer {
  /** The full callback URL that the browser was redirected to. */
  readonly callbackUrl: string
  readonly redirectUri: string
  readonly state: string
  readonly verifier: string
}

/** The user declined at the broker's page. */
export class LoginDeclined extends Error {
  override readonly name = 'LoginDeclined'
}

/**
 * Why a broker could not answer. `credentials_rejected` is definitive (the refresh token, or a fresh access token, was rejected), and only
 * this breaks a connection. All other faults are temporary.
 */
export type BrokerFaultKind = 'unreachable' | 'rate_limited' | 'malformed' | 'credentials_rejected' | 'refused'

export class BrokerFault extends Error {
  override readonly name = 'BrokerFault'
  readonly kind: BrokerFaultKind
  readonly retryAfterMs: number | undefined

  constructor(kind: BrokerFaultKind, message: string, more: { readonly cause?: unknown; readonly retryAfterMs?: number } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.kind = kind
    this.retryAfterMs = more.retryAfterMs
  }
}

/** The outcome of a command. An unknown one is never sent again and never shown as a rejection; it is looked up. */
export type Outcome<T> =
  /** `fault`: reading the result of the accepted command failed. It counts for the connection's health, not for the command. */
  | { readonly kind: 'accepted'; readonly value: T; readonly fault?: unknown }
  /** The broker refused: its own message, fit to show, and the reject code that it maps to; null if it gave no reason. */
  | {
      readonly kind: 'refused'
      readonly message: string
      readonly rejectCode: RejectCode | null
      readonly brokerStatus: string | null
      /** Set if the adapter refused because of a known limit of the broker: the command was not sent. */
      readonly isUnsent?: true
    }
  /** Proof that no byte was sent: the rate limit or the deadline was reached first, or no connection could be made. */
  | { readonly kind: 'not_sent'; readonly cause: unknown }
  /** The command may have reached the broker. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** A broker's report of an order (FIX: execution report), in the core's types. */
export interface OrderReport extends OrderTicket {
  readonly brokerAccountId: string
  readonly brokerOrderId: string
  /** Null if the broker does not echo it, or the order was placed elsewhere. */
  readonly brokerClOrdId: string | null
  readonly status: OrderStatus
  /** Set if this report says that a cancel or replace was refused: a live status then ends the pending request. */
  readonly releases?: true
  readonly brokerStatus: string
  readonly brokerMessage: string | null
  /** Why the order is rejected; null for every other order, and if the broker gives no reason. */
  readonly rejectCode: RejectCode | null
  readonly brokerOrderType: string | null
  readonly execDest: string | null
  /**
   * The executions that the broker lists; null if this message lists none. If the broker otherwise reports totals only, a message may carry
   * one execution, and `filledTotal` is then the total including it.
   */
  readonly fills: readonly Fill[] | null
  /** Cum qty and average price, from brokers (or messages) without single executions. */
  readonly filledTotal: { readonly quantity: Decimal; readonly averagePrice: Decimal | null } | null
  readonly entryTime: Timestamp
  readonly updatedAt: Timestamp
  /** Broker order ids of the order that this one replaced, and of its successor. */
  readonly replacesBrokerOrderId: string | null
  readonly replacedByBrokerOrderId: string | null
}

export interface BrokerAccount {
  readonly brokerAccountId: string
  readonly accountNumber: string
  readonly institutionName: string
  readonly name: string | null
  readonly accountType: string | null
  readonly currency: string | null
}

export interface BalanceReport {
  readonly brokerAccountId: string
  readonly currency: string
  readonly cash: Decimal | null
  readonly buyingPower: Decimal | null
  readonly initialMargin: Decimal | null
  readonly maintenanceMargin: Decimal | null
  readonly regTBuyingPower: Decimal | null
  readonly equity: Decimal | null
  readonly marketValue: Decimal | null
  readonly asOf: Timestamp
}

export interface PositionReport {
  readonly brokerAccountId: string
  readonly symbol: string
  readonly instrument: Instrument
  readonly quantity: Decimal
  readonly lastPrice: Decimal | null
  readonly averagePrice: Decimal | null
  readonly unrealizedPl: Decimal | null
  readonly realizedPl: Decimal | null
  readonly dailyPl: Decimal | null
  readonly totalPl: Decimal | null
  readonly brokerPositionId: string | null
}

export interface TransactionReport {
  /** Null if the broker does not report it: then it is the requested account. */
  readonly brokerAccountId: string | null
  readonly brokerTransactionId: string
  readonly type: TransactionType
  readonly brokerType: string | null
  readonly symbol: string | null
  readonly instrument: Instrument | null
  readonly quantity: Decimal | null
  readonly price: Decimal | null
  readonly amount: Decimal | null
  readonly fees: Decimal | null
  readonly currency: string | null
  readonly day: Day
  readonly settlementDay: Day | null
  readonly brokerOrderId: string | null
  readonly description: string | null
}

/** A list of a broker: never cut short, but for records that could not be read. */
export interface Listed<T> {
  readonly items: readonly T[]
  /**
   * Set, and not empty: the list is partial. The broker's ids of the records that could not be read; null: unknown, or of another account.
   * Nothing that a partial list lacks counts as gone, and while one of these may be an order that is looked for, its absence is not proved.
   */
  readonly leftOut?: readonly (string | null)[]
}

/**
 * An answer about an account. `asOf` is the broker's time of the answer, if it reports one: for display, not for comparison with other
 * clocks.
 */
export interface Snapshot<T> extends Listed<T> {
  readonly asOf: Timestamp
  /** When the adapter sent the request (monotonic clock), if the snapshot arrives as an event. */
  readonly requestedMs?: number
  /** The broker's clock, by which it dates its records, at the time of the answer; absent if unknown. */
  readonly brokerClock?: Timestamp
}

/** Events of an account stream. Initially, and after `gap`, the state is unreliable until the next snapshot. */
export type AccountEvent =
  | { readonly type: 'live'; readonly at: Timestamp }
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string; readonly at: Timestamp }
  | { readonly type: 'order'; readonly report: OrderReport }
  /** A message about an order could not be parsed: the stored orders may lack it until they are read again. */
  | { readonly type: 'left_out' }
  /** All positions of one account; symbols not listed are flat, unless the list is partial. */
  | { readonly type: 'positions'; readonly brokerAccountId: string; readonly positions: Snapshot<PositionReport> }
  | { readonly type: 'balances'; readonly brokerAccountId: string; readonly balances: Snapshot<BalanceReport> }

export interface NewOrder extends OrderTicket {
  readonly brokerAccountId: string
  readonly brokerClOrdId: string
}

/** The broker answered a preview with a placed order, which may be live. Never a success; the operator must be alerted. */
export class PreviewPlaced extends BrokerFault {
  readonly brokerOrderId: string | null

  constructor(brokerOrderId: string | null) {
    super('malformed', `the broker answered a preview with an order${brokerOrderId === null ? '' : `, ${brokerOrderId}`}`)
    this.brokerOrderId = brokerOrderId
  }
}

export interface ReplaceOrder {
  readonly brokerAccountId: string
  readonly brokerOrderId: string
  /** Client order id of the replacement. */
  readonly brokerClOrdId: string
  /** The whole order as it should be after the replacement; its quantity is the total, never the leaves quantity. */
  readonly ticket: OrderTicket
  /** By how much the total changes, if known. Bounds the new order at brokers whose quantity is the leaves quantity. */
  readonly totalChange?: Decimal
}

/** How to look up an order of unknown outcome. */
export type OrderKey = { readonly brokerAccountId: string } & (
  | { readonly by: 'brokerClOrdId'; readonly brokerClOrdId: string }
  | { readonly by: 'brokerOrderId'; readonly brokerOrderId: string }
)

/**
 * One login at one broker. Reads throw {@link BrokerFault}; commands return an {@link Outcome} and never throw for anything that the broker
 * or the network did. No command is retried.
 */
export interface Broker extends AsyncDisposable {
  readonly capabilities: BrokerCapabilities
  /** Null if the broker has no market data. */
  readonly market: MarketSource | null
  accounts(signal: AbortSignal): Promise<Listed<BrokerAccount>>
  balances(brokerAccountId: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>>
  positions(brokerAccountId: string, signal: AbortSignal): Promise<Snapshot<PositionReport>>
  /** All open orders and those updated since `since`: all pages, or a fault. */
  orders(brokerAccountId: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>>
  /** The days are inclusive; newest first. */
  transactions(brokerAccountId: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>>
  /** `found: null`: the broker answered that it has no such order as of `asOf`. A failed look-up throws. */
  findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }>
  /** Estimates an order. Requested once, never placed. @throws BrokerFault; {@link PreviewPlaced} if the answer is of a placed order. */
  preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview>
  submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>>
  /** The report is the new order's. Null: the broker accepted the request (pending replace), and its result is not known yet. */
  replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>>
  /** Accepted: the broker accepted the request, and the report shows the result so far. Null: it reported nothing more. */
  cancel(
    request: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>>
  /** Events of all accounts. Reconnects by itself: `gap`, then `live`. Ends only on `signal`; throws only `credentials_rejected`. */
  events(signal: AbortSignal): AsyncIterable<AccountEvent>
}

/** One broker of the registry. */
export interface BrokerDefinition {
  readonly capabilities: BrokerCapabilities
  readonly environment: Environment
  /** The host that orders go to. The sandbox brokerage run beside the service goes by a name, because its port changes. */
  readonly host: string
  readonly login: BrokerLogin
  open(credentials: CredentialsHolder): Broker
}
