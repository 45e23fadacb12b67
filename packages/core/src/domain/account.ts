import type { Decimal } from './decimal.ts'
import type { AccountId, AttemptId, BrokerId, ConnectionId, KeyId, OrderId, PlatformId, TransactionId, UserId, UserKey } from './ids.ts'
import type { Day, Timestamp } from './timestamp.ts'
import type { BrokenCode, ConnectionStatus, ConnectionType, Environment, Instrument, TransactionType } from './vocabulary.ts'

/** A client application. Its secret is known only by hash. */
export interface Platform {
  readonly platformId: PlatformId
  readonly clientId: string
  readonly name: string
  /** Redirect targets allowed for its connections, compared as raw text; empty allows any valid one. */
  readonly redirectAllowList: readonly string[]
  /** Whether it confirms each new connection with its user's own credentials before the connection is one. */
  readonly claims: boolean
  readonly createdAt: Timestamp
}

/** How a platform shows itself to its users in the portal. */
export interface PlatformBrand {
  /** `#rrggbb`; null: the portal's own. */
  readonly color: string | null
  /** Where its users find it again when a link leads nowhere else; null: not given. */
  readonly appUrl: string | null
}

export interface User {
  readonly userKey: UserKey
  readonly platformId: PlatformId
  readonly userId: UserId
  readonly createdAt: Timestamp
}

/** Why and since when an attempt at connecting came to its end. */
export type AttemptStatus = 'open' | 'authorizing' | 'completed' | 'declined' | 'failed'

/** One use of a portal link: from `POST /connections` to a connection, a refusal, or the link's end. */
export interface ConnectionAttempt {
  readonly attemptId: AttemptId
  readonly platformId: PlatformId
  readonly userKey: UserKey
  /** The platform's key it was asked for with, which it ends with; null: it is not known. */
  readonly keyId: KeyId | null
  readonly connectionType: ConnectionType
  /** The broker the platform named; null leaves the choice to the user. */
  readonly broker: BrokerId | null
  /** The connection whose login is renewed; null: a new one is made. */
  readonly renewConnectionId: ConnectionId | null
  /** Whose login page the user was last sent to; null before that. */
  readonly chosenBroker: BrokerId | null
  readonly redirectUrl: string | null
  readonly redirectOnErrorUrl: string | null
  readonly createdAt: Timestamp
  readonly expiresAt: Timestamp
  readonly status: AttemptStatus
  /** SHA-256 (hex) of the cookie of the browser the attempt belongs to; null before a browser opened it. */
  readonly browserHash: string | null
  /** SHA-256 (hex) of the OAuth `state` in flight; null outside the broker step. */
  readonly stateHash: string | null
}

/** Where a broker is reached: which of its environments, and the host that orders go to. Credentials of one are never sent to another. */
export interface BrokerEndpoint {
  readonly environment: Environment
  readonly host: string
}

/** One completed broker login. */
export interface Connection {
  readonly connectionId: ConnectionId
  readonly platformId: PlatformId
  readonly userKey: UserKey
  readonly userId: UserId
  readonly broker: BrokerId
  readonly connectionType: ConnectionType
  readonly status: ConnectionStatus
  /** Where its login was made. Null: before that was recorded, at a broker that has not been offered since. */
  readonly endpoint: BrokerEndpoint | null
  /** Why it cannot be used; null while ACTIVE. */
  readonly brokenCode: BrokenCode | null
  /** The same in a sentence. */
  readonly brokenReason: string | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/**
 * How well what is stored of a connection follows its broker. `live`: by its account stream, without a gap. `polling`: by asking, because the
 * broker has no stream, its stream is down, or no mirror follows it and reads ask. `stale`: the broker gives no answer, so what is stored is the last
 * known. `broken`: the broker rejected the credentials.
 */
export interface ConnectionHealth {
  readonly state: (typeof HEALTH_STATES)[number]
  readonly since: Timestamp
  /** Why it is not live, in a sentence; null while it is. */
  readonly reason: string | null
}

export const HEALTH_STATES = ['live', 'polling', 'stale', 'broken'] as const

export interface Account {
  readonly accountId: AccountId
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly accountNumber: string
  /** The broker's own key of the account, for its API. */
  readonly brokerAccountId: string
  readonly institutionName: string
  readonly broker: BrokerId
  readonly name: string | null
  readonly accountType: string | null
  readonly currency: string | null
}

/** Amounts in `currency`. One record per account and currency. Null: the broker does not report it. */
export interface Balance {
  readonly accountId: AccountId
  readonly currency: string
  readonly cash: Decimal | null
  readonly buyingPower: Decimal | null
  readonly initialMargin: Decimal | null
  readonly maintenanceMargin: Decimal | null
  readonly regTBuyingPower: Decimal | null
  readonly equity: Decimal | null
  readonly marketValue: Decimal | null
  /** When the broker last confirmed it. */
  readonly systemTime: Timestamp
}

/** A holding; negative `quantity` is short. Null: the broker does not report it. */
export interface Position {
  readonly accountId: AccountId
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
  readonly systemTime: Timestamp
}

export interface Transaction {
  readonly transactionId: TransactionId
  readonly accountId: AccountId
  readonly type: TransactionType
  readonly brokerTransactionId: string
  readonly brokerType: string | null
  readonly symbol: string | null
  readonly instrument: Instrument | null
  readonly quantity: Decimal | null
  readonly price: Decimal | null
  /** Signed: what the account's cash gained. */
  readonly amount: Decimal | null
  readonly fees: Decimal | null
  readonly currency: string | null
  readonly day: Day
  readonly settlementDay: Day | null
  readonly orderId: OrderId | null
  readonly brokerOrderId: string | null
  readonly description: string | null
  readonly systemTime: Timestamp
}
