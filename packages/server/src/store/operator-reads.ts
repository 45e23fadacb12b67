// Reads that only operators need: what is stored about one order beside the order.
import type { OrderId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { ChainedEntry, FirstSteps, FoundAccount, OperatorReads, PlacedEntry } from '@trunkline/core/ports/operator-reads'
import type { WebhookDelivery } from '@trunkline/core/ports/webhook-store'
import { sql } from 'kysely'
import { readAuditEntry } from './documents.ts'
import type { Session } from './session.ts'
import { readDelivery } from './webhooks/documents.ts'

/** Exactly the index's expression and condition, without parameters. */
const TARGET = sql<string>`substring(entry from '"target":"([^"]*)"')`
const OF_ORDERS = sql<boolean>`entry like '%"action":"order.%'`

// Each looks at one row, but for the second where nobody has connected the sandbox: then at all connections of brokers.
const FIRST_STEPS = `select exists (select from users) as "userCreated",
  exists (select from connections where broker = 'SANDBOX') as "sandboxConnected", exists (select from orders) as "orderPlaced"`

// Each part follows an index of its own. Text that is no id has no account by id.
const ACCOUNTS_WITH = `select account_id as "accountId", account_number as "accountNumber", accounts.broker, accounts.user_key as "userKey",
    connections.platform_id as "platformId"
  from accounts join connections using (connection_id)
  where account_id in (
    select account_id from accounts where account_number = $1
    union select account_id from accounts where account_id = $2::uuid
  ) order by account_id limit $3`
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export class SqlOperatorReads implements OperatorReads {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  auditOfOrder(orderId: OrderId, limit: number): Promise<readonly PlacedEntry[]> {
    return this.#session.read(async db => {
      // Entries are chained within a second or so. Those that wait are read first: one that is chained meanwhile is found by both reads.
      const pending = await db
        .selectFrom('audit_pending')
        .select('entry')
        .where(OF_ORDERS)
        .where(TARGET, '=', orderId)
        .orderBy('id')
        .limit(limit)
        .execute()
      const sealed = await db
        .selectFrom('audit_log')
        .select(['entry', 'position'])
        .where(OF_ORDERS)
        .where(TARGET, '=', orderId)
        .orderBy('position')
        .limit(limit)
        .execute()
      const known = new Set(sealed.map(({ entry }) => entry))
      const waiting = pending.filter(({ entry }) => !known.has(entry)).map(({ entry }) => ({ entry, position: null }))
      return [...sealed, ...waiting].slice(0, limit).map(({ entry, position }) => ({ ...readAuditEntry(entry), position }))
    })
  }

  async deliveriesOf(userKey: UserKey, from: Timestamp, limit: number): Promise<readonly WebhookDelivery[]> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('webhook_deliveries')
        .select('document')
        .where('user_key', '=', userKey)
        .where('started_at', '>=', from)
        .orderBy('started_at')
        .orderBy('delivery_id')
        .limit(limit)
        .execute()
    )
    return rows.map(({ document }) => readDelivery(document))
  }

  async newestDeliveries(userKey: UserKey, limit: number): Promise<readonly WebhookDelivery[]> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('webhook_deliveries')
        .select('document')
        .where('user_key', '=', userKey)
        .orderBy('started_at', 'desc')
        .orderBy('delivery_id', 'desc')
        .limit(limit)
        .execute()
    )
    return rows.map(({ document }) => readDelivery(document))
  }

  accountsWith(idOrNumber: string, limit: number): Promise<readonly FoundAccount[]> {
    return this.#session.rows<FoundAccount>(ACCOUNTS_WITH, [idOrNumber, UUID.test(idOrNumber) ? idOrNumber : null, limit])
  }

  async auditBefore(position: number | null, limit: number): Promise<readonly ChainedEntry[]> {
    const rows = await this.#session.read(db => {
      const chained = db.selectFrom('audit_log').select(['entry', 'position']).orderBy('position', 'desc').limit(limit)
      return (position === null ? chained : chained.where('position', '<', position)).execute()
    })
    return rows.map(row => ({ ...readAuditEntry(row.entry), position: row.position }))
  }

  async auditWaiting(limit: number): Promise<number> {
    const [row] = await this.#session.rows<{ waiting: number }>(
      'select count(*)::int as waiting from (select from audit_pending limit $1) waiting',
      [limit]
    )
    return row?.waiting ?? 0
  }

  async firstSteps(): Promise<FirstSteps> {
    const [row] = await this.#session.rows<FirstSteps>(FIRST_STEPS, [])
    return row ?? { userCreated: false, sandboxConnected: false, orderPlaced: false }
  }
}
