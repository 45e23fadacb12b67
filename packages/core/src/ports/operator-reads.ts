import type { Account } from '../domain/account.ts'
import type { OrderId, PlatformId, UserKey } from '../domain/ids.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { AuditEntry } from './audit-store.ts'
import type { WebhookDelivery } from './webhook-store.ts'

/** An audit entry, and its place in the chain; null: it waits to be chained. */
export type PlacedEntry = AuditEntry & { readonly position: number | null }

export type ChainedEntry = AuditEntry & { readonly position: number }

export interface FirstSteps {
  readonly userCreated: boolean
  readonly sandboxConnected: boolean
  readonly orderPlaced: boolean
}

export interface FoundAccount extends Pick<Account, 'accountId' | 'accountNumber' | 'broker' | 'userKey'> {
  readonly platformId: PlatformId
}

/** Reads that only operators need. Each follows an index. */
export interface OperatorReads {
  /** Entries `order.…` whose target is the order, oldest first, at most `limit`. */
  auditOfOrder(orderId: OrderId, limit: number): Promise<readonly PlacedEntry[]>
  /** Attempts to send the user's events to endpoints that began at `from` or later, oldest first, at most `limit`. */
  deliveriesOf(userKey: UserKey, from: Timestamp, limit: number): Promise<readonly WebhookDelivery[]>
  /** The newest of these attempts, the newest first. */
  newestDeliveries(userKey: UserKey, limit: number): Promise<readonly WebhookDelivery[]>
  /** The chain before a position, the newest first; null: from the newest on. */
  auditBefore(position: number | null, limit: number): Promise<readonly ChainedEntry[]>
  /** How many entries wait to be chained; at most `limit` are counted. */
  auditWaiting(limit: number): Promise<number>
  /** Accounts with this id or this number, at most `limit`: brokers give numbers independently of each other. */
  accountsWith(idOrNumber: string, limit: number): Promise<readonly FoundAccount[]>
  /** What a newcomer has done so far: whether there is any of each. */
  firstSteps(): Promise<FirstSteps>
}
