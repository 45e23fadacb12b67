// The service's role where another one owns the schema, on a real PostgreSQL.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDatabase, type DatabaseRoles, type PostgresServer, separateRoles, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { Client } from 'pg'
import { openEngine, openStore } from '../../src/store/index.ts'
import { readMigrations, SchemaMismatch } from '../../src/store/migrate.ts'
import { canAlterAudit, PRIVILEGES } from '../../src/store/roles.ts'
import { testDeps } from './deps.ts'

let server: PostgresServer
before(async () => {
  server = await sharedPostgres()
})
after(() => server.stop())

/** An empty database and its two roles. */
async function separated(): Promise<DatabaseRoles & AsyncDisposable> {
  const database = await createDatabase(server.url)
  const roles = await separateRoles(server.url, database.url)
  return {
    ...roles,
    async [Symbol.asyncDispose]() {
      await database.drop()
      await roles.drop()
    }
  }
}

const settingsOf = ({ serviceUrl, ownerUrl }: DatabaseRoles, isOwnerKnown = true) =>
  ({ kind: 'postgres', url: serviceUrl, poolMax: 4, ownerUrl: isOwnerKnown ? ownerUrl : null }) as const

async function query(url: string, ...statements: readonly string[]): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const answers: unknown[] = []
    for (const statement of statements) answers.push(...(await client.query(statement)).rows)
    return answers
  } finally {
    await client.end()
  }
}

const codeOf = (url: string, ...statements: readonly string[]) =>
  query(url, ...statements).then(
    () => 'done',
    (cause: unknown) => (cause instanceof Error && 'code' in cause ? cause.code : cause)
  )

const DENIED = '42501'

test('the service’s role can neither alter nor remove sealed audit entries, waiting ones, or events, whatever it tries [S81]', async () => {
  await using roles = await separated()
  await using store = await openStore(settingsOf(roles), testDeps())
  const who = await make.owner(store)
  await store.orders.record([make.created(make.order(who))])
  for (let count = 0; count < 3; count += 1) await store.audit.append(make.audit())
  assert.ok((await store.audit.seal(4)) === 4, 'sealing is the service’s, through a function of the owner')
  const before = await store.audit.verify()
  assert.equal(before.broken, null)
  // PostgreSQL only warns that nothing was granted.
  await query(roles.serviceUrl, 'grant all on audit_log to current_user')
  for (const statement of [
    `update audit_log set entry = '{}'`,
    'delete from audit_log',
    'truncate audit_log',
    `insert into audit_log (position, entry, hash) values (99, '{}', '\\x00')`,
    'update audit_head set position = 0',
    'delete from audit_head',
    `update audit_pending set entry = '{}'`,
    'delete from audit_pending',
    `update events set data = '{}'`,
    'delete from events',
    'truncate events',
    'delete from schema_migrations',
    'alter table audit_log disable trigger all',
    'drop table audit_log',
    'drop trigger audit_log_rows on audit_log',
    'create or replace function refuse_audit_change() returns trigger language plpgsql as $$ begin return old; end $$',
    'create or replace function seal_audit(p_limit int) returns int language sql as $$ select 0 $$',
    'create table mine (x int)',
    `select prune_events(now(), 1000)`,
    `select erase_events('${who.user.userKey}', 1000)`
  ])
    assert.equal(await codeOf(roles.serviceUrl, statement), DENIED, statement)
  // Nor through a name of its own that a function of the owner would find first.
  await codeOf(
    roles.serviceUrl,
    'create temporary table audit_pending (id bigint, entry text)',
    `insert into pg_temp.audit_pending values (1, '{"forged": true}')`,
    'select seal_audit(100)'
  )
  assert.equal(await codeOf(roles.serviceUrl, 'set session_replication_role = replica'), DENIED)
  const after = await store.audit.verify()
  assert.equal(after.broken, null)
  assert.ok(!(await store.audit.sealed(0, 1_000)).some(({ entry }) => entry.includes('forged')))
  assert.equal((await store.events.read(who.user.userKey, 0, 10)).length, 1)
})

test('events are still erased: those that are old, and those of a user who is gone', async () => {
  await using roles = await separated()
  await using store = await openStore(settingsOf(roles), testDeps())
  const [who, other] = [await make.owner(store), await make.owner(store)]
  for (const each of [who, other]) await store.orders.record([make.created(make.order(each))])
  const ofAll = async () => (await query(roles.ownerUrl, 'select user_key from events')).length
  await store.users.remove(who.user.userKey, make.at(1), make.audit())
  assert.equal(await ofAll(), 1)
  await query(
    roles.ownerUrl,
    `update events set at = now() - interval '40 days'`,
    `update user_counters set oldest_at = now() - interval '40 days'`
  )
  const [row] = await query(roles.serviceUrl, `select prune_events(now() - interval '30 days', 100) as gone`)
  assert.deepEqual([row, await ofAll()], [{ gone: 1 }, 0])
})

test('what the service’s role is granted is said of every table there is', async () => {
  await using roles = await separated()
  await using _store = await openStore(settingsOf(roles), testDeps())
  const rows = await query(
    roles.ownerUrl,
    `select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`
  )
  const there = rows.map(row => (typeof row === 'object' && row !== null && 'relname' in row ? row.relname : null))
  assert.deepEqual(there.toSorted(), Object.keys(PRIVILEGES).toSorted())
})

test('without the owner, a role that may not bring the schema up to date is refused with what to do, and serves once it is', async () => {
  await using roles = await separated()
  const alone = () => openStore(settingsOf(roles, false), testDeps())
  const isExplained = (cause: unknown) =>
    cause instanceof SchemaMismatch && /database migrate.*TRUNKLINE_DATABASE_OWNER_URL/.test(cause.message)
  await assert.rejects(alone(), isExplained)
  await (await openStore(settingsOf(roles), testDeps()))[Symbol.asyncDispose]()
  await (await alone())[Symbol.asyncDispose]()
  const [role] = [new URL(roles.serviceUrl).username]
  await query(roles.ownerUrl, `revoke update on orders from ${role}`)
  await assert.rejects(
    alone(),
    (cause: unknown) => isExplained(cause) && cause instanceof Error && /lacks .*update on orders/.test(cause.message)
  )
  await (await openStore(settingsOf(roles), testDeps()))[Symbol.asyncDispose]()
  await query(roles.ownerUrl, `delete from schema_migrations where number = ${readMigrations().length}`)
  await assert.rejects(alone(), isExplained)
})

test('whether a role could change the audit log is known: the owner and the superuser could, the service’s role could not', async () => {
  await using roles = await separated()
  const found = async (url: string) => {
    const { db } = await openEngine({ kind: 'postgres', url, poolMax: 1 }, testDeps())
    try {
      return await canAlterAudit(db)
    } finally {
      await db.destroy()
    }
  }
  assert.equal(await found(roles.serviceUrl), null)
  await (await openStore(settingsOf(roles), testDeps()))[Symbol.asyncDispose]()
  const superuser = new URL(roles.ownerUrl)
  ;({ username: superuser.username, password: superuser.password } = new URL(server.url))
  assert.deepEqual([await found(roles.serviceUrl), await found(roles.ownerUrl), await found(superuser.href)], [false, true, true])
})
