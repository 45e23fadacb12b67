// Documents: the domain's records as JSON texts. Only this program writes them, so reading trusts them.
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

/**
 * An order as stored: its members by their names, decimals and times as texts. Members that are added later must be read as null where
 * absent.
 */
export function writeOrder(order: Order): string {
  return JSON.stringify(order)
}

export function readOrder(document: string): Order {
  return JSON.parse(document) as Order
}

/** The data of an account event, with the fields it must still show if the account is gone. */
export function writeAccountEvent({ connectionId, accountNumber }: EventAccount, data: Balance | readonly Position[]): string {
  return JSON.stringify({ connectionId, accountNumber, data })
}

export function readBalanceEvent(document: string): EventAccount & { readonly data: Balance } {
  return JSON.parse(document) as EventAccount & { readonly data: Balance }
}

export function readPositionsEvent(document: string): EventAccount & { readonly data: readonly Position[] } {
  return JSON.parse(document) as EventAccount & { readonly data: readonly Position[] }
}

export function readBalances(document: string): readonly Balance[] {
  return JSON.parse(document) as readonly Balance[]
}

export function readPositions(document: string): readonly Position[] {
  return JSON.parse(document) as readonly Position[]
}

/** A transaction read again from the broker gets a new id from its reader; the first id stays. */
export function readTransaction(document: string, transactionId: TransactionId): Transaction {
  return { ...(JSON.parse(document) as Transaction), transactionId }
}

export function readDaySpan(document: string): DaySpan {
  return JSON.parse(document) as DaySpan
}

export function readTexts(document: string): readonly string[] {
  return JSON.parse(document) as readonly string[]
}

/** The text of an audit entry: keys in a fixed order, so that equal entries have equal hashes. */
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
