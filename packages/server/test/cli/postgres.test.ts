// Commands on PostgreSQL: S81, and what check-config finds out about a server.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createDatabase, type PostgresServer, separateRoles, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { Client } from 'pg'
import { SystemClock } from '../../src/ops/clock.ts'
import { readMigrations } from '../../src/store/migrate.ts'
import { SoleProcess } from '../../src/store/sole-process.ts'
import { directory } from '../admin/support.ts'
import { answerOf, cli } from './terminal.ts'

let server: PostgresServer
before(async () => {
  server = await sharedPostgres()
})
after(() => server.stop())

async function sql(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

test('an audit entry that was altered or removed is reported; the table itself refuses both [S81]', async context => {
  const database = await createDatabase(server.url)
  context.after(() => database.drop())
  const env = { TRUNKLINE_DATA_DIR: directory(context), TRUNKLINE_DATABASE_URL: database.url }
  for (const name of ['One', 'Two', 'Three', 'Four'])
    assert.equal((await cli(env, 'platform', 'create', '--claim', 'off', '--name', name)).code, 0)
  assert.match((await cli(env, 'audit', 'verify')).out, /^4 entries/)
  for (const statement of ['update audit_log set entry = entry', 'delete from audit_log', 'truncate audit_log'])
    await assert.rejects(sql(database.url, statement), /append-only/)
  assert.equal((await cli(env, 'audit', 'verify')).code, 0)

  const unlocked = 'alter table audit_log disable trigger all'
  await sql(database.url, unlocked, `update audit_log set entry = replace(entry, 'Three', 'Throu') where position = 3`)
  const altered = await cli(env, 'audit', 'verify')
  assert.equal(altered.code, 1)
  assert.match(altered.err, /tampered with at entry 3: the entry, or the order of entries, was altered/)
  await sql(database.url, 'delete from audit_log where position = 2')
  const removed = await cli(env, 'audit', 'verify')
  assert.match(removed.err, /tampered with at entry 2: the entry is missing/)
})

test('check-config checks that the database is reachable and its commits are durable', async context => {
  const database = await createDatabase(server.url)
  context.after(() => database.drop())
  const env = { TRUNKLINE_DATA_DIR: directory(context), TRUNKLINE_DATABASE_URL: database.url, TRUNKLINE_PORT: '0' }
  const checked = await cli(env, 'check-config')
  assert.equal(checked.code, 0, checked.out)
  assert.match(checked.out, /PostgreSQL \d+\S* is reachable, and its commits are durable/)
  // Nothing was made there.
  await assert.rejects(sql(database.url, 'select 1 from schema_migrations'), /does not exist/)

  await sql(database.url, `alter database ${new URL(database.url).pathname.slice(1)} set synchronous_commit = off`)
  const unsafe = await cli(env, 'check-config')
  assert.equal(unsafe.code, 1)
  assert.match(unsafe.out, /fault .*would lose confirmed orders in a crash: synchronous_commit is off/)
  const allowed = await cli({ ...env, TRUNKLINE_ALLOW_UNSAFE_DURABILITY: '1' }, 'check-config')
  assert.equal(allowed.code, 0)
  assert.match(allowed.out, /warning .*would lose confirmed orders/)
})

test('an unreachable server is a fault, reported without its password', async context => {
  const url = new URL(server.url)
  url.pathname = '/nowhere'
  for (const [address, expected] of [
    [url.href, /database "nowhere" does not exist/],
    ['postgres://app:canary-pw@127.0.0.1:9/x', /ECONNREFUSED/]
  ] as const) {
    const checked = await cli(
      { TRUNKLINE_DATA_DIR: join(directory(context), 'd'), TRUNKLINE_DATABASE_URL: address, TRUNKLINE_PORT: 'x' },
      'check-config',
      '--json'
    )
    assert.equal(checked.code, 1)
    assert.doesNotMatch(checked.out, /canary/)
    const faults = answerOf(checked).findings.filter((finding: { level: string }) => finding.level === 'fault')
    assert.equal(faults.length, 2)
    assert.match(faults[1].message, expected)
  }
})

test('a command does not migrate a database that an older service uses; it works on one with the current schema', async context => {
  const database = await createDatabase(server.url)
  context.after(() => database.drop())
  const env = { TRUNKLINE_DATA_DIR: directory(context), TRUNKLINE_DATABASE_URL: database.url }
  assert.equal((await cli(env, 'platform', 'list')).code, 0)
  const log = { info() {}, warn() {} }
  const options = {
    url: database.url,
    name: 'trunkline/0 there 11 aa',
    schema: 0,
    waitMs: 0,
    onTaken: assert.fail,
    clock: new SystemClock(),
    log
  }
  const service = await SoleProcess.take(options)
  assert.equal((await cli(env, 'platform', 'list')).code, 0)
  const last = readMigrations().length
  await sql(database.url, `delete from schema_migrations where number = ${last}`)
  const refused = await cli(env, 'platform', 'list')
  assert.equal(refused.code, 1)
  assert.match(
    refused.err,
    /held by another process \(trunkline\/0 there 11 aa.*this one is newer and would change the schema.*Nothing was changed/s
  )
  await assert.rejects(sql(database.url, `select 1 / (select count(*) from schema_migrations where number = ${last})`), /division by zero/)
  await service[Symbol.asyncDispose]()
})

test('database migrate works beside the nodes of a cluster, unless it would break an older one of them', async context => {
  const database = await createDatabase(server.url)
  context.after(() => database.drop())
  const env = { TRUNKLINE_DATA_DIR: directory(context), TRUNKLINE_DATABASE_URL: database.url }
  assert.equal((await cli(env, 'database', 'migrate')).code, 0)
  const compatible = async () => sql(database.url, 'drop index audit_log_abandoned', 'delete from schema_migrations where number = 17')
  const breaking = readMigrations().findLast(migration => migration.breaking) ?? assert.fail()
  const schema = breaking.number - 1
  const options = {
    url: database.url,
    isShared: true,
    waitMs: 0,
    onTaken: assert.fail,
    clock: new SystemClock(),
    log: { info() {}, warn() {} }
  }
  await using _node = await SoleProcess.take({ ...options, name: `trunkline/${schema} node 11 aa`, schema })
  await compatible()
  assert.equal((await cli(env, 'platform', 'list')).code, 1, 'other commands leave the schema as it is')
  assert.equal((await cli(env, 'database', 'migrate')).code, 0)
  await compatible()
  await sql(database.url, `delete from schema_migrations where number = ${breaking.number}`)
  const refused = await cli(env, 'database', 'migrate')
  assert.equal(refused.code, 1)
  const expected = `Migration ${breaking.number} .*: trunkline/${schema} node 11 aa \\(schema ${schema}\\)\\. Stop them first`
  assert.match(refused.err, new RegExp(expected))
  await sql(database.url, 'create index audit_log_abandoned on audit_log (position)') // it was left as it was
})

test('database migrate separates the service’s role from the owner, and check-config warns if that was not done', async context => {
  const database = await createDatabase(server.url)
  const roles = await separateRoles(server.url, database.url)
  context.after(async () => {
    await database.drop()
    await roles.drop()
  })
  const service = { TRUNKLINE_DATA_DIR: directory(context), TRUNKLINE_DATABASE_URL: roles.serviceUrl }
  const both = { ...service, TRUNKLINE_DATABASE_OWNER_URL: roles.ownerUrl }
  const refused = await cli(service, 'platform', 'list')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /may not bring the schema up to date.*database migrate.*TRUNKLINE_DATABASE_OWNER_URL/s)

  const done = await cli(both, 'database', 'migrate')
  assert.equal(done.code, 0, done.err)
  assert.match(done.out, /The service’s role is service_\w+, which can add to the audit log and read it, but cannot change it\./)
  assert.equal((await cli(service, 'platform', 'create', '--claim', 'off', '--name', 'One')).code, 0)
  assert.match((await cli(service, 'audit', 'verify')).out, /^1 entry/)
  await assert.rejects(sql(roles.serviceUrl, 'delete from audit_log'), /permission denied/)

  const isPublic = { TRUNKLINE_PUBLIC_URL: 'https://trade.example.com' }
  const warned = async (env: Readonly<Record<string, string>>) =>
    /can change the audit log, and TRUNKLINE_PUBLIC_URL/.test((await cli(env, 'check-config')).out)
  const owner = { ...service, TRUNKLINE_DATABASE_URL: roles.ownerUrl }
  assert.deepEqual([await warned({ ...service, ...isPublic }), await warned({ ...owner, ...isPublic })], [false, true])
  assert.doesNotMatch((await cli(owner, 'check-config')).out, /can change the audit log/)
  const alone = await cli(owner, 'database', 'migrate', '--json')
  assert.equal(answerOf(alone).can_alter_audit, true)
  assert.equal((await cli({ TRUNKLINE_DATA_DIR: directory(context) }, 'database', 'migrate')).code, 2)
})
