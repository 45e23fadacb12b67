// The rights of the service's role in PostgreSQL if another role owns the schema: all it needs, and none to change sealed or logged
// records.
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

type Db = Kysely<Database>
type Privilege = 'select' | 'insert' | 'update' | 'delete'

const READ: readonly Privilege[] = ['select']
/** Entries and events are added and read; only functions of the owner move or erase them. */
const APPEND: readonly Privilege[] = ['select', 'insert']
/** The rows are the schema's. */
const UPDATE: readonly Privilege[] = ['select', 'update']
const CHANGE: readonly Privilege[] = ['select', 'insert', 'update', 'delete']

/** Of every table. A test compares with the schema. */
export const PRIVILEGES: { readonly [table in keyof Database]: readonly Privilege[] } = {
  schema_migrations: READ,
  audit_log: READ,
  audit_head: READ,
  audit_pending: APPEND,
  events: APPEND,
  platforms: CHANGE,
  platform_keys: CHANGE,
  users: CHANGE,
  user_counters: CHANGE,
  connection_attempts: CHANGE,
  connections: CHANGE,
  connection_credentials: CHANGE,
  credential_refreshes: CHANGE,
  revocations: CHANGE,
  pending_claims: CHANGE,
  accounts: CHANGE,
  account_records: CHANGE,
  transactions: CHANGE,
  market_data_tokens: CHANGE,
  orders: CHANGE,
  order_broker_ids: CHANGE,
  order_symbols: CHANGE,
  stream_slots: CHANGE,
  market_slots: CHANGE,
  submissions: CHANGE,
  key_checks: CHANGE,
  erasures: CHANGE,
  probes: CHANGE,
  webhook_endpoints: CHANGE,
  webhook_cursors: CHANGE,
  webhook_deliveries: CHANGE,
  operator_codes: CHANGE,
  operator_logins: CHANGE,
  operator_sessions: CHANGE,
  operator_keys: CHANGE,
  members: CHANGE,
  partitions: UPDATE
}

const FUNCTIONS = ['seal_audit(int)', 'prune_events(timestamptz, int)', 'erase_events(uuid, int)']

/** The role of a connection. */
export async function roleOf(db: Db): Promise<string> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db)
  const [found] = rows
  if (found === undefined) throw new StoreUnavailable('The database does not say which role it was given.')
  return found.role
}

/** Grants `role` the listed rights and revokes all others, in one transaction, as the owner of the schema. */
export async function grantTo(owner: Db, role: string): Promise<void> {
  await owner.transaction().execute(async trx => {
    const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(trx)
    const schema = sql.id(rows[0]?.schema ?? 'public')
    const to = sql.id(role)
    await sql`grant usage on schema ${schema} to ${to}`.execute(trx)
    for (const [table, privileges] of Object.entries(PRIVILEGES)) {
      await sql`revoke all on ${sql.table(table)} from ${to}`.execute(trx)
      await sql`grant ${sql.raw(privileges.join(', '))} on ${sql.table(table)} to ${to}`.execute(trx)
    }
    for (const name of FUNCTIONS) await sql`grant execute on function ${sql.raw(name)} to ${to}`.execute(trx)
  })
}

/** The rights of {@link PRIVILEGES} that the connection's role lacks: `update on orders`. Empty if it owns the tables. */
export async function lacking(db: Db): Promise<readonly string[]> {
  const wanted = Object.entries(PRIVILEGES).flatMap(([table, privileges]) => privileges.map(privilege => ({ table, privilege })))
  const { rows } = await sql<{ what: string }>`
    select privilege || ' on ' || name as what
    from unnest(${wanted.map(({ table }) => table)}::text[], ${wanted.map(({ privilege }) => privilege)}::text[])
      with ordinality as wanted (name, privilege, place)
    where not has_table_privilege(name, privilege)
    union all
    select 'execute on ' || name from unnest(${FUNCTIONS}::text[]) as wanted (name) where not has_function_privilege(name, 'execute')`.execute(
    db
  )
  return rows.map(({ what }) => what)
}

/**
 * Whether the connection's role could change sealed audit entries: it owns them, may act as their owner, or was granted the right. Null:
 * there is no table yet.
 */
export async function canAlterAudit(db: Db): Promise<boolean | null> {
  const { rows } = await sql<{ can: boolean }>`
    select pg_has_role(relowner, 'member') or has_table_privilege(oid, 'update') or has_table_privilege(oid, 'delete')
      or has_table_privilege(oid, 'truncate') as can
    from pg_class where oid = to_regclass('audit_log')`.execute(db)
  return rows[0]?.can ?? null
}
