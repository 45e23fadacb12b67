import type { OrderOffer } from '../domain/combinations.ts'
import type { Decimal } from '../domain/decimal.ts'
import type { BrokerId } from '../domain/ids.ts'
import type { Fill, OrderTicket } from '../domain/order.ts'
import type { Day, Timestamp } from '../domain/timestamp.ts'
import type { Environment, Instrument, MarketDataChannel, OrderStatus, RejectCode, Session, TransactionType } from '../domain/vocabulary.ts'
import type { MarketSource } from './market.ts'
import type { OrderPreview, PreviewOrder } from './preview.ts'

/** What a broker can do, as data: the API shows it, validation and the contract suite go by it. */
export interface BrokerCapabilities extends OrderOffer {
  readonly id: BrokerId
  /** `#rrggbb`, for the portal. */
  readonly logoColor: string
  /** One or two letters on that colour, unlike those of every other broker: our own drawing, never the broker's trademark. */
  readonly logoInitials: string
  readonly login: 'oauth' | 'api_key'
  readonly sessions: readonly Session[]
  readonly marketData: MarketDataCapabilities
  readonly replace: 'native' | 'cancel_then_new' | 'none'
  /** Whether an order that was replaced has a new order id at the broker, or goes on under its own with other terms and all its fills. */
  readonly replacedOrderId: 'new' | 'same'
  /** How the quantity of an order that replaced another is reported: the total, what the other had filled included, or the rest of it. */
  readonly replacedQuantity: 'total' | 'rest'
  readonly accountStream: boolean
  /** Whether a message of the account stream that never came is noticed at once; else it shows in the next snapshot of the account. */
  readonly accountStreamNumbered: boolean
  /** Whether each execution is reported with its own id; else only how much is filled in all, and at what average. */
  readonly executions: boolean
  /** Whether an order that is rejected after it was taken says why. */
  readonly rejectReasons: boolean
  /** Whether access tokens end and are refreshed, or last until the user ends them. */
  readonly tokens: 'refreshed' | 'lasting'
  /**
   * What a revocation ends: the login that is revoked (`grant`), or every one that the same customer of the broker has made with our key (`customer`). `none`: only the
   * user can end a login, at the broker.
   */
  readonly revocation: 'grant' | 'customer' | 'none'
  readonly transactions: boolean
  /** Whether the broker says what an order would come to without placing it. */
  readonly orderPreview: boolean
  /**
   * What the broker does with a client order id it has seen: `enforced` refuses it for ever and finds orders by it, `bounded` for a time,
   * `open_only` while the first is open, `label` only echoes it, `none` neither echoes it nor finds by it. Decides how an unknown outcome is
   * looked up: with `none` by what the order asks for and when, so that {@link Broker.findOrder} is then never asked by client order id.
   */
  readonly deduplication: 'enforced' | 'bounded' | 'open_only' | 'label' | 'none'
  /** Longest client order id, and the characters it may have. */
  readonly brokerClOrdId: { readonly lengthMax: number; readonly alphabet: 'alphanumeric' | 'uuid' }
}

export interface MarketDataCapabilities {
  readonly channels: readonly MarketDataChannel[]
  /** Intervals of the broker's own past bars, such as `1m` and `1d`; longer ones are made of these. Empty where it has no history. */
  readonly historyIntervals: readonly string[]
  /** How many days back its bars of an interval reach, where that is not decades. An interval that is not named here reaches as far as there are any. */
  readonly historyDays: { readonly [interval: string]: number }
  /**
   * What a day of a share is in its own daily bars: the core session of the exchange, or all hours that it trades. Where it trades by no exchange's
   * hours it is all of them.
   */
  readonly dailyBars: 'core' | 'all_hours'
  /** Sessions that its daily bars of a share can be requested for by name, whatever hours the share trades there. */
  readonly dailySessions: readonly Session[]
  /** Intervals of the bars it streams itself; empty: bars are built from its trades. */
  readonly liveIntervals: readonly string[]
  /** What the volume of a bar counts as it closes live: all that was traded, or only what set a price. The broker's history counts all. */
  readonly liveVolume: 'all' | 'priced'
  /** Whether symbols can be searched for; else a symbol is known only by asking for it. */
  readonly symbolSearch: boolean
  /** Most bars a subscription may ask to begin with. */
  readonly backfillMax: number
  /** How long after it happened the broker's history may not have what it streamed, in milliseconds. */
  readonly historyLagMs: number
  /** Whether every trade is streamed; else only what changes of the last price show. */
  readonly everyTrade: boolean
  /** Whether a message of the market stream that never came, or came out of order, is noticed. */
  readonly streamNumbered: boolean
  /** Connections to the broker that serve all topics of a login: one, or several by channel or by symbol. */
  readonly connections: 'one' | 'several'
}

/** A broker's own secrets of one login; opaque outside its adapter. All values are text so that they can be sealed as one. */
export type Credentials = Readonly<Record<string, string>>

/** Holds one login's credentials for an adapter. Refreshing goes through it, so that it happens once. */
export interface CredentialsHolder {
  read(signal: AbortSignal): Promise<Credentials>
  /**
   * Runs `refresh` single-flight, on all nodes together, unless someone replaced `used` meanwhile, stores what it gives and returns the newest.
   * When `refresh` throws nothing is stored.
   */
  renew(used: Credentials, refresh: CredentialsRefresh, signal: AbortSignal): Promise<Credentials>
}

/**
 * `mayBeSpent`: an earlier refresh with these credentials was begun, and the broker's answer is unknown. Then a refusal may be of our own
 * making, and is no proof that the user's consent has ended.
 */
export type CredentialsRefresh = (current: Credentials, signal: AbortSignal, mayBeSpent?: boolean) => Promise<Credentials>

/** How a user logs in at a broker. */
export type BrokerLogin = OAuthBrokerLogin | ApiKeyBrokerLogin

/** At the broker's own page. */
export interface OAuthBrokerLogin {
  readonly kind: 'oauth'
  /** Origin of the login page, which the portal's content security policy must let a form lead to. */
  readonly origin: string
  /** Where to send the browser, and what must be kept (sealed) until it comes back. */
  begin(request: LoginRequest): Promise<{ readonly authorizationUrl: string; readonly verifier: string }>
  /** Exchanges what came back. @throws LoginDeclined when the user said no; BrokerFault for everything else. */
  complete(answer: LoginAnswer, signal: AbortSignal): Promise<Credentials>
  /** Best effort, repeatable: an already revoked token is success. @throws BrokerFault when it should be tried again. */
  revoke(credentials: Credentials, signal: AbortSignal): Promise<void>
}

/** With keys that the user made at the broker and enters in the portal. */
export interface ApiKeyBrokerLogin {
  readonly kind: 'api_key'
  /** What the form asks for, in its order. */
  readonly fields: readonly ApiKeyField[]
  /** Where the user makes such keys, for the form. */
  readonly helpUrl: string | null
  /**
   * Makes credentials of what was entered, by name; checks their form only, the first read of accounts checks their worth.
   * @throws LoginRefused for values that cannot be keys of this broker, with a message for the user.
   */
  complete(entered: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Credentials>
  /** Nothing to do where keys are the user's own. @throws BrokerFault when it should be tried again. */
  revoke(credentials: Credentials, signal: AbortSignal): Promise<void>
}

export interface ApiKeyField {
  /** Letters, digits and `_`; unique in its form. */
  readonly name: string
  readonly label: string
  /** Never shown, never kept in the page. */
  readonly secret: boolean
  readonly lengthMax: number
}

/** What was entered cannot be a key of this broker. The message says what it should be, and never repeats it. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
  /** The field it is about; null: all of them together. */
  readonly field: string | null

  constructor(message: string, field: string | null = null) {
    super(message)
    this.field = field
  }
}

export interface LoginRequest {
  readonly redirectUri: string
  readonly state: string
  /** Whether orders will be placed. */
  readonly trading: boolean
}

export interface LoginAnswer {
  /** The full callback address the browser arrived at. */
  readonly callbackUrl: string
  readonly redirectUri: string
  readonly state: string
  readonly verifier: string
}

/** The user refused at the broker's page. */
export class LoginDeclined extends Error {
  override readonly name = 'LoginDeclined'
}

/**
 * Why a broker could not answer. `credentials_rejected` is definitive (the refresh token was refused, or a fresh token was): it alone
 * breaks a connection. Everything else passes.
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

/** A command has three outcomes. `unknown` is never repeated and never shown as a rejection: it is looked up. */
export type Outcome<T> =
  /** `fault` is what kept the broker from being asked what came of what it took; it says nothing of the command, and of the connection what any does. */
  | { readonly kind: 'accepted'; readonly value: T; readonly fault?: unknown }
  /** Evidence that the broker refused: its own message, fit to show, and the code it maps to; null where it gave no reason. */
  | {
      readonly kind: 'refused'
      readonly message: string
      readonly rejectCode: RejectCode | null
      readonly brokerStatus: string | null
      /** Set where the adapter refused by what it knows of the broker: the command was not sent. */
      readonly isUnsent?: true
    }
  /** Proof that no byte left this process: the rate budget or the deadline ran out first, or no connection could be made. */
  | { readonly kind: 'not_sent'; readonly cause: unknown }
  /** The command may have reached the broker. */
  | { readonly kind: 'unknown'; readonly cause: unknown }

/** An order as the broker reports it, in the core's types. */
export interface OrderReport extends OrderTicket {
  readonly brokerAccountId: string
  readonly brokerOrderId: string
  /** Null when the broker does not echo it, or the order was placed elsewhere. */
  readonly brokerClOrdId: string | null
  readonly status: OrderStatus
  /** Set when this report says that a cancel or replace was refused, so a live status ends the pending one. */
  readonly releases?: true
  readonly brokerStatus: string
  readonly brokerMessage: string | null
  /** Why the order is rejected; null for every other order, and where the broker gives no reason. */
  readonly rejectCode: RejectCode | null
  readonly brokerOrderType: string | null
  readonly execDest: string | null
  /**
   * Executions known to the broker; null when this message does not list them. A message about a single execution, of a broker that reports only
   * totals otherwise, has that one and in `filledTotal` what is filled with it.
   */
  readonly fills: readonly Fill[] | null
  /** Cumulative quantity, for brokers (or messages) without single executions. */
  readonly filledTotal: { readonly quantity: Decimal; readonly averagePrice: Decimal | null } | null
  readonly entryTime: Timestamp
  readonly updatedAt: Timestamp
  /** Broker id of the order this one replaced, and of the one that replaced it. */
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
  /** Null where the broker does not say: then it is the account that was asked for. */
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

/**
 * A whole answer about an account; never a list cut short, and what of it could not be taken is named. `asOf` is the broker's own time of the answer where it has one: to be shown, and not to
 * be compared with times of other clocks.
 */
export interface Snapshot<T> {
  readonly items: readonly T[]
  readonly asOf: Timestamp
  /** When the adapter requested it, on the monotonic clock, where it comes as an event whose request only the adapter knows. */
  readonly requestedMs?: number
  /** The time of the broker's own clock, by which it dates its records, when it answered; left out where that is unknown. */
  readonly brokerClock?: Timestamp
  /** Ids of orders that could not be taken, null where unknown or another account's. While one may be the order in question, no absence is proved. */
  readonly leftOut?: readonly (string | null)[]
}

/**
 * Why an account stream lost continuity: the socket ended, a message is missing, silence for more than two heartbeats, the token ended, a
 * message could not be read, or more events waited than may.
 */
export const GAP_CAUSES = ['lost', 'missing', 'silence', 'token', 'malformed', 'overflow', 'refused'] as const
export type GapCause = (typeof GAP_CAUSES)[number]

/** What an account stream emits. After `gap`, and at first, nothing before the next snapshot can be relied on. */
export type AccountEvent =
  | { readonly type: 'live'; readonly at: Timestamp }
  | { readonly type: 'gap'; readonly cause: GapCause; readonly reason: string; readonly at: Timestamp }
  | { readonly type: 'order'; readonly report: OrderReport }
  /** A message about an order could not be taken: what is stored may lack it until the orders are read again. */
  | { readonly type: 'left_out' }
  /** All positions of one account; absent symbols are flat. */
  | { readonly type: 'positions'; readonly brokerAccountId: string; readonly positions: Snapshot<PositionReport> }
  | { readonly type: 'balances'; readonly brokerAccountId: string; readonly balances: Snapshot<BalanceReport> }

export interface NewOrder extends OrderTicket {
  readonly brokerAccountId: string
  readonly brokerClOrdId: string
}

/** The broker answered a preview as if it had placed an order, which may stand: never a success, and to be seen by the operator. */
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
  /** Client order id of the order that takes its place. */
  readonly brokerClOrdId: string
  /** The whole order as it shall be; quantity is the total, never the remainder. */
  readonly ticket: OrderTicket
  /** By how much the total changes, where it is known. With a quantity that a broker states as what is left, it bounds the new order. */
  readonly totalChange?: Decimal
}

/** How to look up an order of unknown outcome. */
export type OrderKey = { readonly brokerAccountId: string } & (
  | { readonly by: 'brokerClOrdId'; readonly brokerClOrdId: string }
  | { readonly by: 'brokerOrderId'; readonly brokerOrderId: string }
)

/**
 * One connected login at one broker. Reads throw {@link BrokerFault}; commands give an {@link Outcome} and never throw for anything the
 * broker or the network did. Nothing here retries a command.
 */
export interface Broker extends AsyncDisposable {
  readonly capabilities: BrokerCapabilities
  /** Null where the broker has no market data. */
  readonly market: MarketSource | null
  accounts(signal: AbortSignal): Promise<readonly BrokerAccount[]>
  balances(brokerAccountId: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>>
  positions(brokerAccountId: string, signal: AbortSignal): Promise<Snapshot<PositionReport>>
  /** All open orders and those updated since `since`; every page, or a fault. */
  orders(brokerAccountId: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>>
  /** The days are inclusive; newest first. */
  transactions(brokerAccountId: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>>
  /** `found: null` is the broker's answer that it has no such order as of `asOf`; a failed look-up throws. */
  findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }>
  /** What the order would come to. Asked once, never placed. @throws BrokerFault; {@link PreviewPlaced} when the answer is of an order. */
  preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview>
  submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>>
  /** The report is the new order's. Null: the broker took the request, and does not show yet what came of it. */
  replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>>
  /** Accepted: the broker took the request; the report says how far it got. Null: it reported nothing more. */
  cancel(
    request: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>>
  /** Events of all accounts of the login. Reconnects by itself, emitting `gap` and then `live`. Ends only when `signal` aborts; throws only `credentials_rejected`. */
  events(signal: AbortSignal): AsyncIterable<AccountEvent>
}

/** One broker of the registry. */
export interface BrokerDefinition {
  readonly capabilities: BrokerCapabilities
  readonly environment: Environment
  /** The host that orders go to; the sandbox brokerage beside us, whose port changes, goes by a name. */
  readonly host: string
  readonly login: BrokerLogin
  open(credentials: CredentialsHolder): Broker
}
