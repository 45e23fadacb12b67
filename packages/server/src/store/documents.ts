// Documents: the domain's records as JSON texts. What is read here was written here, so reading trusts it.
import type { Account, Balance, Connection, Position, Transaction } from '@trunkline/core/domain/account'
import type { TransactionId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, EventAccount } from '@trunkline/core/ports/store'

/** The days that transactions were read for. */
export interface DaySpan {
  readonly from: Day
  readonly to: Day
}

export function writeDocument(value: Transaction | DaySpan | readonly Balance[] | readonly Position[] | readonly string[] | null): string {
  return JSON.stringify(value)
}

/** The values of an order's members, without their names: half as long, and orders and their events are most of what is ever written. */
type OrderValues = readonly [
  orderId: Order['orderId'],
  clOrdId: Order['clOrdId'],
  tradingDay: Order['tradingDay'],
  platformId: Order['platformId'],
  userKey: Order['userKey'],
  userId: Order['userId'],
  connectionId: Order['connectionId'],
  accountId: Order['accountId'],
  accountNumber: Order['accountNumber'],
  broker: Order['broker'],
  side: Order['side'],
  type: Order['type'],
  tif: Order['tif'],
  symbol: Order['symbol'],
  instrument: Order['instrument'],
  quantity: Order['quantity'],
  notional: Order['notional'],
  limitPrice: Order['limitPrice'],
  stopPrice: Order['stopPrice'],
  legs: Order['legs'],
  status: Order['status'],
  submission: Order['submission'],
  pendingRequest: Order['pendingRequest'],
  brokerClOrdId: Order['brokerClOrdId'],
  brokerOrderId: Order['brokerOrderId'],
  brokerStatus: Order['brokerStatus'],
  brokerMessage: Order['brokerMessage'],
  brokerOrderType: Order['brokerOrderType'],
  execDest: Order['execDest'],
  fills: Order['fills'],
  entryTime: Order['entryTime'],
  lastExecTime: Order['lastExecTime'],
  lastModifiedTime: Order['lastModifiedTime'],
  systemTime: Order['systemTime'],
  replacesOrderId: Order['replacesOrderId'],
  replacedByOrderId: Order['replacedByOrderId'],
  revision: Order['revision'],
  previouslyFilledQuantity?: Order['previouslyFilledQuantity'],
  rejectCode?: Order['rejectCode']
]

/** Only ever append: documents that were written before have fewer values. What they lack is to be read as null. */
export function writeOrder(order: Order): string {
  const values: OrderValues = [
    order.orderId,
    order.clOrdId,
    order.tradingDay,
    order.platformId,
    order.userKey,
    order.userId,
    order.connectionId,
    order.accountId,
    order.accountNumber,
    order.broker,
    order.side,
    order.type,
    order.tif,
    order.symbol,
    order.instrument,
    order.quantity,
    order.notional,
    order.limitPrice,
    order.stopPrice,
    order.legs,
    order.status,
    order.submission,
    order.pendingRequest,
    order.brokerClOrdId,
    order.brokerOrderId,
    order.brokerStatus,
    order.brokerMessage,
    order.brokerOrderType,
    order.execDest,
    order.fills,
    order.entryTime,
    order.lastExecTime,
    order.lastModifiedTime,
    order.systemTime,
    order.replacesOrderId,
    order.replacedByOrderId,
    order.revision,
    order.previouslyFilledQuantity,
    order.rejectCode
  ]
  return JSON.stringify(values)
}

export function readOrder(document: string): Order {
  const [
    orderId,
    clOrdId,
    tradingDay,
    platformId,
    userKey,
    userId,
    connectionId,
    accountId,
    accountNumber,
    broker,
    side,
    type,
    tif,
    symbol,
    instrument,
    quantity,
    notional,
    limitPrice,
    stopPrice,
    legs,
    status,
    submission,
    pendingRequest,
    brokerClOrdId,
    brokerOrderId,
    brokerStatus,
    brokerMessage,
    brokerOrderType,
    execDest,
    fills,
    entryTime,
    lastExecTime,
    lastModifiedTime,
    systemTime,
    replacesOrderId,
    replacedByOrderId,
    revision,
    previouslyFilledQuantity = null,
    rejectCode = null
  ] = JSON.parse(document) as OrderValues
  // Plain names rather than a loop: an object literal of fixed shape is several times cheaper to make and to write.
  return {
    orderId,
    clOrdId,
    tradingDay,
    platformId,
    userKey,
    userId,
    connectionId,
    accountId,
    accountNumber,
    broker,
    side,
    type,
    tif,
    symbol,
    instrument,
    quantity,
    notional,
    limitPrice,
    stopPrice,
    legs,
    status,
    submission,
    // One that was stored before has no `takenAt`.
    pendingRequest: pendingRequest === null ? null : { ...pendingRequest, takenAt: pendingRequest.takenAt ?? null },
    brokerClOrdId,
    brokerOrderId,
    brokerStatus,
    brokerMessage,
    rejectCode,
    brokerOrderType,
    execDest,
    fills,
    entryTime,
    lastExecTime,
    lastModifiedTime,
    systemTime,
    replacesOrderId,
    replacedByOrderId,
    previouslyFilledQuantity,
    revision
  }
}

/** The data of an account event, with what it must still show when the account is gone. */
export function writeAccountEvent({ connectionId, accountNumber }: EventAccount, data: Balance | readonly Position[]): string {
  return JSON.stringify([connectionId, accountNumber, data])
}

export function readBalanceEvent(document: string): EventAccount & { readonly data: Balance } {
  return accountEvent<Balance>(document)
}

export function readPositionsEvent(document: string): EventAccount & { readonly data: readonly Position[] } {
  return accountEvent<readonly Position[]>(document)
}

function accountEvent<Data>(document: string): EventAccount & { readonly data: Data } {
  const [connectionId, accountNumber, data] = JSON.parse(document) as [EventAccount['connectionId'], string, Data]
  return { connectionId, accountNumber, data }
}

export function readBalances(document: string): readonly Balance[] {
  return JSON.parse(document) as readonly Balance[]
}

export function readPositions(document: string): readonly Position[] {
  return JSON.parse(document) as readonly Position[]
}

/** A transaction read again from the broker gets a new id from its reader; the first one stays. */
export function readTransaction(document: string, transactionId: TransactionId): Transaction {
  return { ...(JSON.parse(document) as Transaction), transactionId }
}

export function readDaySpan(document: string): DaySpan {
  return JSON.parse(document) as DaySpan
}

export function readTexts(document: string): readonly string[] {
  return JSON.parse(document) as readonly string[]
}

/** The one text of an audit entry: keys in a fixed order, so that equal entries have equal hashes. */
export function writeAuditEntry({ at, actor, action, target, result, ip, requestId, detail }: AuditEntry): string {
  const sorted = Object.fromEntries(Object.entries(detail).sort(([a], [b]) => (a < b ? -1 : 1)))
  return JSON.stringify({ at, actor, action, target, result, ip, requestId, detail: sorted })
}

export function readAuditEntry(document: string): AuditEntry {
  return JSON.parse(document) as AuditEntry
}

/** A connection that waits to be claimed, with its accounts. */
export interface PendingDocument {
  readonly connection: Connection
  readonly accounts: readonly Account[]
}

export function writePending({ connection, accounts }: PendingDocument): string {
  return JSON.stringify({ connection, accounts })
}

export function readPending(document: string): PendingDocument {
  return JSON.parse(document) as PendingDocument
}
