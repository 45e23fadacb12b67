// Removal of connections and users, and what remains: logins to be revoked, and the log.
import type { ConnectionId, UserKey } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, RemovalAudit } from '@trunkline/core/ports/store'
import type { MemoryDatabase, StoredClaim } from './database.ts'

/** Removes the connections, and stores their logins for revocation. `audit` is called first: if it throws, everything stays. */
export function removeConnections(db: MemoryDatabase, ids: readonly ConnectionId[], at: Timestamp, audit: AuditEntry | RemovalAudit): void {
  const going = new Set(ids)
  const orders = [...db.orders.values()].filter(({ connectionId }) => going.has(connectionId))
  const entries = typeof audit === 'function' ? audit(sortedByEntry(orders.filter(({ status }) => isOpen(status)))) : [audit]
  for (const connectionId of going) {
    const stored = db.connections.get(connectionId)
    if (stored === undefined) continue
    const accounts = [...db.accounts.values()].filter(({ account }) => account.connectionId === connectionId)
    const { userKey, broker, endpoint } = stored.connection
    const brokerAccountIds = accounts.map(({ account }) => account.brokerAccountId)
    db.revocations.set(connectionId, {
      ...{ connectionId, userKey, broker, endpoint, brokerAccountIds },
      ...{ credentials: stored.credentials, attempts: 0, removedAt: at, dueAt: at }
    })
    db.connections.delete(connectionId)
    db.eraseTokens(token => token.connectionId === connectionId)
    for (const { account } of accounts) db.accounts.delete(account.accountId)
  }
  for (const { orderId } of orders) db.orders.delete(orderId)
  db.audit.push(...entries)
}

export function revokeClaim(db: MemoryDatabase, { connection, accounts, credentials }: StoredClaim, at: Timestamp): void {
  const { connectionId, userKey, broker, endpoint } = connection
  const brokerAccountIds = accounts.map(({ brokerAccountId }) => brokerAccountId)
  db.revocations.set(connectionId, {
    ...{ connectionId, userKey, broker, endpoint, brokerAccountIds },
    ...{ credentials, attempts: 0, removedAt: at, dueAt: at }
  })
  db.claims.delete(connectionId)
}

export function revokeClaimsOf(db: MemoryDatabase, userKey: UserKey, at: Timestamp): void {
  for (const claim of [...db.claims.values()]) if (claim.connection.userKey === userKey) revokeClaim(db, claim, at)
}

export function sortedByEntry(orders: readonly Order[]): readonly Order[] {
  return orders.toSorted((a, b) => (`${a.entryTime} ${a.orderId}` < `${b.entryTime} ${b.orderId}` ? -1 : 1))
}
