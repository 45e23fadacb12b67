import type { Decimal } from './decimal.ts'
import type { AccountId, AttemptId, BrokerId, ConnectionId, KeyId, OrderId, PlatformId, TransactionId, UserId, UserKey } from './ids.ts'
import type { Day, Timestamp } from './timestamp.ts'
import type { BrokenCode, ConnectionStatus, ConnectionType, Environment, Instrument, TransactionType } from './vocabulary.ts'

/** A client application. Only the hash of its secret is stored. */
export interface Platform {
  readonly platformId: PlatformId
  readonly clientId: string
  readonly name: string
  /** Redirect targets allowed for its connections, compared as raw text; empty: any valid one is allowed. */
  readonly redirectAllowList: readonly string[]
  /** Whether each new connection must be claimed with the user's credentials before it exists for the platform. */
  readonly claims: boolean
  readonly createdAt: Timestamp
}

/** How a platform shows itself to its users in the portal. */
export interface PlatformBrand {
  /** `#rrggbb`; null: the portal's default. */
  readonly color: string | null
  /** The platform's own page, for users that no link leads back to; null: not given. */
  readonly appUrl: string | null
}

export interface User {
  readonly userKey: UserKey
  readonly platformId: PlatformId
  readonly userId: UserId
  readonly createdAt: Timestamp
}

/** The state of an attempt to connect. */
export type AttemptStatus = 'open' | 'authorizing' | 'completed' | 'declined' | 'failed'

/** One use of a portal link, from `POST /connections` to a connection, a refusal or the expiry of the link. */
export interface ConnectionAttempt {
  readonly attemptId: AttemptId
  readonly platformId: PlatformId
  readonly userKey: UserKey
  /** The platform key that created it; the attempt ends when the key does. Null: unknown. */
  readonly keyId: KeyId | null
  readonly connectionType: ConnectionType
  /** The broker that the platform named; null: the user chooses. */
  readonly broker: BrokerId | null
  /** The connection whose login is renewed; null: a new connection is made. */
  readonly renewConnectionId: ConnectionId | null
  /** The broker whose login page the user was last sent to; null before that. */
  readonly chosenBroker: BrokerId | null
  readonly redirectUrl: string | null
  readonly redirectOnErrorUrl: string | null
  readonly createdAt: Timestamp
  readonly expiresAt: Timestamp
  readonly status: AttemptStatus
  /** SHA-256 (hex) of the cookie of the browser that the attempt is bound to; null before a browser opened it. */
  readonly browserHash: string | null
  /** SHA-256 (hex) of the OAuth `state` in use; null outside the broker step. */
  readonly stateHash: string | null
}

/** Where a broker is reached: the environment, and the host that orders go to. Credentials of one endpoint are never sent to another. */
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
  /** Where the login was made. Null: made before this was recorded, at a broker that has not been offered since. */
  readonly endpoint: BrokerEndpoint | null
  /** Why it cannot be used; null while ACTIVE. */
  readonly brokenCode: BrokenCode | null
  /** The same as a sentence. */
  readonly brokenReason: string | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/**
 * How closely the stored records of a connection follow its broker. `live`: by the account stream, without a gap. `polling`: by reads,
 * because the broker has no stream, the stream is down, or the connection has no mirror. `stale`: the broker does not answer, so the
 * records are the last known. `broken`: the broker rejected the credentials.
 */
export interface ConnectionHealth {
  readonly state: (typeof HEALTH_STATES)[number]
  readonly since: Timestamp
  /** Why it is not live, as a sentence; null while it is. */
  readonly reason: string | null
}

export function isSameHealth(a: ConnectionHealth | undefined, b: ConnectionHealth): boolean {
  return a !== undefined && a.state === b.state && a.since === b.since && a.reason === b.reason
}

/** Records that the broker lists and that cannot be read: how many at present, and when one was last left out. */
export interface LeftOut {
  readonly records: number
  readonly at: Timestamp
}

export const HEALTH_STATES = ['live', 'polling', 'stale', 'broken'] as const

export interface Account {
  readonly accountId: AccountId
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
  readonly accountNumber: string
  /** The broker's key of the account in its API. */
  readonly brokerAccountId: string
  readonly institutionName: string
  readonly broker: BrokerId
  readonly name: string | null
  readonly accountType: string | null
  readonly currency: string | null
}

/** Amounts in `currency`. One record per account and currency. Null: not reported by the broker. */
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

/** A holding; a negative `quantity` is short. Null: not reported by the broker. */
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
  /** Signed: positive adds to the account's cash. */
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
