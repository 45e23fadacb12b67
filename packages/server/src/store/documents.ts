// Documents: the domain's records as JSON texts. What is read here was written here, so reading trusts it.
import type { Balance, Position, Transaction } from '@trunkline/core/domain/account'
import type { TransactionId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, EventAccount } from '@trunkline/core/ports/store'

/** Never occurs in JSON text, so a list of documents travels as one text without escaping. */
export const DOCUMENT_SEPARATOR = '\u001e'

/** The days that transactions were read for. */
export interface DaySpan {
  readonly from: Day
  readonly to: Day
}

export function writeDocument(value: Transaction | DaySpan | readonly Balance[] | readonly Position[] | readonly string[] | null): string {
  return JSON.stringify(value)
}

/**
 * The members of an order in the order in which a document has their values. Only ever append: documents that were written before have
 * fewer values, and what they lack reads as null.
 */
const ORDER_MEMBERS = [
  'orderId',
  'clOrdId',
  'tradingDay',
  'platformId',
  'userKey',
  'userId',
  'connectionId',
  'accountId',
  'accountNumber',
  'broker',
  'side',
  'type',
  'tif',
  'symbol',
  'instrument',
  'quantity',
  'notional',
  'limitPrice',
  'stopPrice',
  'legs',
  'status',
  'submission',
  'pendingRequest',
  'brokerClOrdId',
  'brokerOrderId',
  'brokerStatus',
  'brokerMessage',
  'brokerOrderType',
  'execDest',
  'fills',
  'entryTime',
  'lastExecTime',
  'lastModifiedTime',
  'systemTime',
  'replacesOrderId',
  'replacedByOrderId',
  'revision'
] as const satisfies readonly (keyof Order)[]

type Stored = Pick<Order, (typeof ORDER_MEMBERS)[number]>

export function writeOrder(order: Order): string {
  return JSON.stringify(ORDER_MEMBERS.map(name => order[name]))
}

export function readOrder(document: string): Order {
  const values = JSON.parse(document) as readonly unknown[]
  // A member that is missing above is missing in `Stored`, and this does not compile.
  const order: Order = Object.fromEntries(ORDER_MEMBERS.map((name, place) => [name, values[place] ?? null])) as unknown as Stored
  return order
}

/** What an event tells of an account, with what it must still say when the account is gone. */
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
