/** What a broker with a REST API is, as data and small functions: `restBroker` makes a broker of it. */

import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import type { Environment } from '@trunkline/core/domain/vocabulary'
import type {
  BalanceReport,
  BrokerAccount,
  BrokerCapabilities,
  NewOrder,
  OrderReport,
  Outcome,
  PositionReport,
  ReplaceOrder,
  TransactionReport
} from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OrderEstimate, PreviewOrder } from '@trunkline/core/ports/preview'
import type { CallOptions } from '../calls.ts'
import type { HttpLimits, HttpReply, HttpRequest } from '../http.ts'
import type { LoginScheme } from '../login-scheme.ts'
import type { OAuthOptions } from '../oauth.ts'
import type { Refusal } from '../order-rules.ts'
import type { CallPriority, RateLimits } from '../rate-limiter.ts'
import type { RecordLists } from '../record-lists.ts'
import type { SocketOptions } from '../socket.ts'
import type { TokenSource } from '../tokens.ts'
import type { UnknownValueCounter } from '../unknown-values.ts'
import type { AccountStreamDefinition } from './account-stream.ts'
import type { OrderReads } from './order-reads.ts'
import type { OrderTracker } from './order-tracker.ts'
import type { AccountQuery, ListRead, OrderList, OrderRead, OrdersQuery, ReadItems } from './read-definitions.ts'
import type { Reads } from './reads.ts'
import type { ResourceCalls } from './resource-calls.ts'
import type { MarketDefinition, RestMarket } from './rest-market.ts'
import type { SoleAccount } from './sole-account.ts'

export interface RestDefinition<Resource extends string, Placing> {
  readonly capabilities: BrokerCapabilities
  readonly environment: Environment
  /** Whether plain `http:` is allowed: the sandbox brokerage runs beside the service. */
  readonly plain: boolean
  /** URL of the API; its path precedes the path of every request. */
  readonly apiUrl: string
  /** URLs of the resources that are elsewhere. */
  readonly resourceUrls?: { readonly [resource in Resource]?: string }
  readonly httpLimits?: Partial<HttpLimits>
  /** New connections of streams per second, over all logins; 10 unless the broker's streams are many. */
  readonly connectsPerSecond?: number
  /** What the broker counts together, each with its own rate limit. */
  readonly quotas: { readonly [resource in Resource]: RateLimits }
  /** Of OAuth only what the broker's own is; its token is in the `Authorization` header. */
  readonly login: LoginScheme | OAuthClient
  /** What every answer of this broker may say, besides what was requested. */
  readonly answers: Pick<CallOptions, 'unauthorized' | 'transient' | 'limits' | 'requestedPauseMs' | 'errorMessage'>
  /** A rate limit over all logins. */
  readonly sharedRates?: RateLimits
  /** A small read that every login may make: it decides whether a refused token is invalid. Absent: a 401 is definitive. */
  readonly confirm?: { readonly resource: Resource; readonly request: HttpRequest }
  readonly reads: ReadDefinitions<Resource>
  /** Set where requests do not name the account: every read and command is checked to be for the login's own. */
  readonly soleAccount?: (login: OpenLogin<Resource>) => SoleAccount
  readonly orders: OrderDefinitions<Resource, Placing>
  /** Set where what is known of an order completes what the broker sends of it (`tracker`). */
  readonly tracksOrders?: true
  readonly accountStreams: (login: OpenLogin<Resource>) => readonly AccountStreamDefinition[]
  /** `market` is the one that is made of this: it may be kept, and not used yet. */
  readonly market: (login: OpenLogin<Resource>, market: RestMarket<Resource>) => MarketDefinition<Resource>
  /** For a broker that reports its time in whole seconds: within this, in milliseconds, the machine's clock counts. */
  readonly coarseClockMs?: number
}

export type OAuthClient = Omit<OAuthOptions, 'http' | 'clock'>

/** One open login: what the parts of its broker work with. */
export interface OpenLogin<Resource extends string> {
  readonly calls: ResourceCalls<Resource>
  readonly reads: Reads<Resource>
  readonly tokens: TokenSource
  readonly tracker: OrderTracker
  readonly orders: OrderReads<Resource>
  readonly unknownValues: UnknownValueCounter
  readonly lists: RecordLists
  readonly socket: SocketOptions
  readonly clock: Clock
  readonly log: Log
}

export interface ReadDefinitions<Resource extends string> {
  readonly accounts: Read<Resource, null, BrokerAccount>
  readonly balances: Read<Resource, AccountQuery, BalanceReport>
  readonly positions: Read<Resource, AccountQuery, PositionReport>
  /** All open orders and those updated since a time. */
  readonly orders: Read<Resource, OrdersQuery, OrderReport>
  readonly order: OrderRead<Resource>
  /** Null: every order has its own look-up. */
  readonly orderList: OrderList<Resource> | null
  readonly transactions: Read<Resource, AccountQuery & { readonly from: Day; readonly to: Day }, TransactionReport>
}

/** Usually one list. @throws BrokerFault */
export type Read<Resource extends string, Query, T> =
  | ListRead<Resource, Query, T>
  | ((login: OpenLogin<Resource>, query: Query, signal: AbortSignal) => Promise<ReadItems<T>>)

/** `Placing`: the values of an order that its ticket alone does not give. */
export interface OrderDefinitions<Resource extends string, Placing> {
  /** Of commands and previews. */
  readonly resource: Resource
  /** Why the order is not sent, or the values that it needs. @throws BrokerFault when they cannot be read; then nothing is sent. */
  readonly placing: (
    order: PreviewOrder,
    login: OpenLogin<Resource>,
    kind: CallPriority,
    signal: AbortSignal
  ) => Placing | Promise<Placing | Refused>
  readonly submit: {
    /** @throws Malformed for what the broker has no value for */
    readonly request: (order: NewOrder, placing: Placing) => HttpRequest | Refused
    readonly interpret: (reply: HttpReply, order: NewOrder, at: Timestamp) => Outcome<OrderReport>
  }
  readonly replace: {
    /** The request, or why it is not sent. @throws BrokerFault, `refused` if there is no such order; Malformed. Then nothing is sent. */
    readonly request: (
      request: ReplaceOrder,
      login: OpenLogin<Resource>,
      signal: AbortSignal
    ) => HttpRequest | Refused | Promise<HttpRequest | Refused>
    readonly interpret: (reply: HttpReply, request: ReplaceOrder) => Outcome<OrderReport | null>
    /**
     * For a broker whose acceptance means only that it took the request. Called after each pause, in milliseconds, until it gives an
     * outcome; null: undecided. @throws BrokerFault
     */
    readonly confirm?: {
      readonly pausesMs: readonly number[]
      readonly look: (
        request: ReplaceOrder,
        accepted: OrderReport | null,
        login: OpenLogin<Resource>,
        signal: AbortSignal
      ) => Promise<Outcome<OrderReport> | null>
    }
  }
  readonly cancel: {
    readonly request: (account: string, brokerOrderId: string) => HttpRequest
    /** The report shows the result so far; null: the broker reports nothing more. */
    readonly interpret: (reply: HttpReply, brokerOrderId: string) => Outcome<OrderReport | null>
  }
  /** Null: the broker previews no orders. */
  readonly preview: {
    readonly request: (order: PreviewOrder, placing: Placing) => HttpRequest | Refused
    /** Whether the broker will take the request for a preview; every other is an order, and is not sent. */
    readonly isPreview: (request: HttpRequest) => boolean
    readonly interpret: (reply: HttpReply, order: PreviewOrder) => Outcome<OrderEstimate>
  } | null
}

export interface Refused {
  readonly refused: Refusal
}
