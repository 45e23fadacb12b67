// Records to store: complete, plausible, and different each time.
import { randomBytes, randomUUID } from 'node:crypto'
import type {
  Account,
  Balance,
  BrokerEndpoint,
  Connection,
  ConnectionAttempt,
  Platform,
  Position,
  Transaction,
  User
} from '@trunkline/core/domain/account'
import type { Brand } from '@trunkline/core/domain/brand'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import {
  type KeyId,
  parseBrokerId,
  parseClOrdId,
  parseUserId,
  parseUuid,
  type UserKey,
  type WebhookEndpointId
} from '@trunkline/core/domain/ids'
import type { Fill, Order } from '@trunkline/core/domain/order'
import type { PlatformKey } from '@trunkline/core/domain/platform-key'
import { parseDay, parseTimestamp, type Timestamp, tradingDay } from '@trunkline/core/domain/timestamp'
import type { WebhookEndpoint } from '@trunkline/core/domain/webhook'
import type { AuditEntry, KnownToken, OrderChange, SealedValue, Store, StreamSlot } from '@trunkline/core/ports/store'
import type { WebhookDelivery } from '@trunkline/core/ports/webhook-store'

export const START_MS = Date.UTC(2026, 10, 20, 15)

/** `START_MS` plus some milliseconds, fractions kept to the microsecond. */
export function at(ms: number): Timestamp {
  const micros = Math.round(ms * 1_000)
  const whole = Math.floor(micros / 1_000)
  const rest = String(micros - whole * 1_000).padStart(3, '0')
  return time(`${new Date(START_MS + whole).toISOString().slice(0, -1)}${rest}Z`)
}

export function time(text: string): Timestamp {
  return parseTimestamp(text, 'time')
}

export function uuid<Id extends Brand<string, string>>(): Id {
  return parseUuid<Id>(randomUUID(), 'id')
}

export function decimal(text: string) {
  return parseDecimal(text, 'decimal')
}

export function day(text: string) {
  return parseDay(text, 'day')
}

export function hash(): string {
  return randomBytes(32).toString('hex')
}

export function sealed(revision = 1): SealedValue {
  return { sealed: new Uint8Array(randomBytes(48)), revision }
}

export function audit(action = 'test.act', detail: AuditEntry['detail'] = {}): AuditEntry {
  return { at: at(0), actor: 'service', action, target: randomUUID(), result: 'ok', ip: '192.0.2.7', requestId: 'req-1', detail }
}

export function platform(): Platform {
  const platformId = uuid<Platform['platformId']>()
  return {
    platformId,
    clientId: `pk_${platformId}`,
    name: 'Test platform',
    redirectAllowList: ['https://a.example/'],
    claims: false,
    createdAt: at(0)
  }
}

/** A further key of the platform. */
export function key({ platformId }: Pick<Platform, 'platformId'>): PlatformKey {
  return {
    keyId: uuid<KeyId>(),
    platformId,
    clientId: `pk_${uuid<KeyId>()}`,
    name: 'Reports',
    scopes: ['read'],
    addresses: ['192.0.2.0/24', '2001:db8::/32'],
    createdAt: at(5),
    expiresAt: at(50),
    ...{ lastUsedAt: null, disabledAt: null }
  }
}

/** A slot for a new session, of the platform's first key unless another is named. */
export function slot({ platformId }: Pick<Platform, 'platformId'>, nodeId = 'n', keyId = platformId as string as KeyId): StreamSlot {
  return { platformId, keyId, sessionId: randomUUID(), nodeId }
}

export function user({ platformId }: Platform, userId: string = randomUUID(), createdAt = at(0)): User {
  return { userKey: uuid(), platformId, userId: parseUserId(userId), createdAt }
}

export function attempt({ platformId, userKey }: User): ConnectionAttempt {
  return {
    attemptId: uuid(),
    platformId,
    userKey,
    keyId: null,
    connectionType: 'trade',
    broker: null,
    renewConnectionId: null,
    chosenBroker: null,
    redirectUrl: 'https://a.example/done?x=1',
    redirectOnErrorUrl: null,
    createdAt: at(0),
    expiresAt: at(30 * 60_000),
    status: 'open',
    browserHash: null,
    stateHash: null
  }
}

/** The endpoint of these records' connections: the sandbox brokerage beside the service. */
export const ENDPOINT: BrokerEndpoint = { environment: 'sandbox', host: 'local' }

export function connection({ platformId, userKey, userId }: User, createdAt = at(0)): Connection {
  return {
    connectionId: uuid(),
    platformId,
    userKey,
    userId,
    broker: parseBrokerId('SANDBOX'),
    connectionType: 'trade',
    status: 'ACTIVE',
    endpoint: ENDPOINT,
    brokenCode: null,
    brokenReason: null,
    createdAt,
    updatedAt: createdAt
  }
}

export function account({ connectionId, userKey, broker }: Connection, accountNumber = 'A-1'): Account {
  return {
    accountId: uuid(),
    connectionId,
    userKey,
    accountNumber,
    brokerAccountId: `b-${accountNumber}`,
    institutionName: 'Sandbox',
    broker,
    name: 'Margin',
    accountType: null,
    currency: 'USD'
  }
}

export function balance({ accountId }: Account, cash: string, currency = 'USD', systemTime = at(0)): Balance {
  const unknown = { initialMargin: null, maintenanceMargin: null, regTBuyingPower: null, equity: null, marketValue: null }
  return { accountId, currency, cash: decimal(cash), buyingPower: decimal('2000.10'), ...unknown, systemTime }
}

export function position({ accountId }: Account, symbol: string, quantity: string, systemTime = at(0)): Position {
  return {
    accountId,
    symbol,
    instrument: 'STK',
    quantity: decimal(quantity),
    lastPrice: decimal('101.500'),
    averagePrice: decimal('99.90'),
    unrealizedPl: decimal('-1.60'),
    realizedPl: null,
    dailyPl: null,
    totalPl: null,
    brokerPositionId: null,
    systemTime
  }
}

export function transaction({ accountId }: Account, brokerTransactionId: string, on: string): Transaction {
  return {
    transactionId: uuid(),
    accountId,
    type: 'BUY',
    brokerTransactionId,
    brokerType: 'trade',
    symbol: 'SPY',
    instrument: 'STK',
    quantity: decimal('1.50'),
    price: decimal('100.00'),
    amount: decimal('-150.000'),
    fees: decimal('0.00'),
    currency: 'USD',
    day: day(on),
    settlementDay: null,
    orderId: null,
    brokerOrderId: null,
    description: 'Bought "SPY"',
    systemTime: at(0)
  }
}

export function fill(fillId: string, quantity = '1.00', more: Partial<Fill> = {}): Fill {
  return { fillId, at: at(1), quantity: decimal(quantity), price: decimal('10.10'), execDest: 'XNAS', ...more }
}

/** A stored user with a connection and accounts: an owner of orders. */
export interface Owner {
  readonly platform: Platform
  readonly user: User
  readonly connection: Connection
  readonly account: Account
  readonly accounts: readonly Account[]
}

/** Stores a platform (unless given), a user, a connection and `accounts` accounts. */
export async function owner(
  store: Store,
  options: { readonly platform?: Platform; readonly accounts?: number; readonly userId?: string } = {}
): Promise<Owner> {
  const owning = options.platform ?? platform()
  if (options.platform === undefined) await store.platforms.create(owning, hash(), audit())
  const who = user(owning, options.userId)
  await store.users.create(who, hash(), audit())
  return { platform: owning, user: who, ...(await connected(store, who, options.accounts ?? 1)) }
}

/** Stores another connection of a user, made by an attempt. */
export async function connected(store: Store, who: User, accounts = 1, createdAt = at(0)): Promise<Omit<Owner, 'platform' | 'user'>> {
  const [link, login] = [attempt(who), connection(who, createdAt)]
  const theirs = Array.from({ length: accounts }, (_, index) => account(login, `A-${index + 1}`))
  await store.attempts.create(link, hash(), audit())
  await store.connections.create(login, theirs, sealed(), link.attemptId, audit())
  const [first] = theirs
  if (first === undefined) throw new Error('a connection of the tests needs an account')
  return { connection: login, account: first, accounts: theirs }
}

/** A new order of the owner's first account, `pending` and not sent. */
export function order(
  { user: { userKey, userId }, platform: { platformId }, connection: login, account: own }: Owner,
  more: Partial<Order> = {}
): Order {
  const orderId = more.orderId ?? uuid<Order['orderId']>()
  const entryTime = more.entryTime ?? at(0)
  return {
    orderId,
    clOrdId: parseClOrdId(orderId),
    tradingDay: tradingDay(entryTime),
    platformId,
    userKey,
    userId,
    connectionId: login.connectionId,
    accountId: own.accountId,
    accountNumber: own.accountNumber,
    broker: login.broker,
    side: 'BUY',
    type: 'LMT',
    tif: 'DAY',
    symbol: 'SPY',
    instrument: 'STK',
    quantity: decimal('2.00'),
    notional: null,
    limitPrice: decimal('10.10'),
    stopPrice: null,
    legs: null,
    status: 'pending',
    submission: { state: 'submitting', since: entryTime, attempts: 1, method: null },
    pendingRequest: null,
    brokerClOrdId: `T${orderId.replaceAll('-', '')}`,
    brokerOrderId: null,
    brokerStatus: null,
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: null,
    execDest: null,
    fills: [],
    entryTime,
    lastExecTime: null,
    lastModifiedTime: entryTime,
    systemTime: entryTime,
    replacesOrderId: null,
    replacedByOrderId: null,
    previouslyFilledQuantity: null,
    revision: 1,
    ...more
  }
}

/** The change that creates an order. */
export function created(made: Order, more: Partial<OrderChange> = {}): OrderChange {
  return { order: made, overRevision: null, publish: true, audit: null, ...more }
}

/** The change from a stored order to its next state, and that state. */
export function moved(from: Order, to: Partial<Order>, more: Partial<OrderChange> = {}): OrderChange & { readonly order: Order } {
  return { order: { ...from, ...to, revision: from.revision + 1 }, overRevision: from.revision, publish: true, audit: null, ...more }
}

export function token(
  { user: { userKey }, connection: { connectionId } }: Pick<Owner, 'user' | 'connection'>,
  createdAt = at(0)
): KnownToken {
  const key = { keyId: null, keySecretHash: null, keyEndsAt: null }
  return { tokenHash: hash(), userKey, connectionId, ...key, createdAt, expiresAt: at(3_600_000), supersededAt: null }
}

/** An enabled endpoint of the platform, for all events. */
export function webhookEndpoint({ platformId }: Platform, more: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    ...{ endpointId: uuid<WebhookEndpointId>(), platformId, url: 'https://a.example/in', description: '' },
    ...{ filter: { topics: null, orderStatuses: null }, createdAt: at(0), disabled: null, lastSuccessAt: null, failingSince: null },
    ...{ revision: 1, ...more }
  }
}

/** An attempt that succeeded; null: a test message. */
export function webhookDelivery(
  endpointId: WebhookEndpointId,
  userKey: UserKey | null,
  more: Partial<WebhookDelivery> = {}
): WebhookDelivery {
  return {
    ...{ deliveryId: uuid(), endpointId, messageId: `msg_${hash()}`, userKey },
    events: userKey === null ? null : { from: 1, to: 3, firstEventId: uuid(), count: 3 },
    ...{ reason: userKey === null ? 'test' : 'event', attempt: 1, startedAt: at(1_000), tookMs: 12.5 },
    ...{ requestHeaders: { 'webhook-id': 'msg_x' }, requestBytes: 812, answer: { status: 200, body: 'ok', isCut: false } },
    ...{ failure: null, retryAt: null, ...more }
  }
}
