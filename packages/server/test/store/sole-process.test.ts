// One process per PostgreSQL database: a second is refused with the holder’s name, and a lock that was lost is taken again or ends its
// holder.
import assert from 'node:assert/strict'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { FaultProxy } from '@trunkline/testkit/fault-proxy/index'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { SETTINGS } from '../../src/config/settings.ts'
import { SystemClock } from '../../src/ops/clock.ts'
import { MIGRATION_LOCK } from '../../src/store/migrate.ts'
import { processName } from '../../src/store/process-name.ts'
import { DatabaseHeld, databaseAddressOf, SILENCE_MS, type SoleOptions, SoleProcess } from '../../src/store/sole-process.ts'

const cluster = await sharedPostgres()
const database = await createDatabase(cluster.url)
after(async () => {
  await database[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const HELD = `select a.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())`

/** Options of a process of that name, and what became of it. */
function process(name: string, more: Partial<SoleOptions> = {}) {
  const [lines, taken]: [string[], Error[]] = [[], []]
  const note = (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { info: note, warn: note }
  const options = {
    url: database.url,
    name,
    schema: 1,
    waitMs: 0,
    clock: new SystemClock(),
    log,
    onTaken: (cause: Error) => void taken.push(cause),
    ...more
  }
  return { options, lines, taken }
}

async function admin(url = database.url): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

test('a second process is refused with the holder’s name; once that one stops it may', async () => {
  const first = await SoleProcess.take(process('trunkline here 11 aa').options)
  await assert.rejects(SoleProcess.take(process('trunkline there 22 bb').options), (cause: unknown) => {
    assert.ok(cause instanceof DatabaseHeld)
    assert.match(cause.message, /held by another process \(trunkline here 11 aa.*Stop that one first/)
    assert.ok(!cause.message.includes(new URL(database.url).password))
    return true
  })
  const { options, lines } = process('trunkline there 22 bb', { waitMs: 60_000 })
  const waiting = SoleProcess.take(options)
  await until(() => lines.length > 0, 'the second waits')
  await first[Symbol.asyncDispose]()
  const second = await waiting
  assert.match(lines.join('\n'), /^waiting for the database .*trunkline here 11 aa.*"seconds":60/)
  assert.equal(lines.length, 1, 'said once')
  await second[Symbol.asyncDispose]()
})

test('a lock whose connection was ended is taken again', async () => {
  await using watcher = await admin()
  const { options, lines, taken } = process('trunkline here 33 cc')
  await using _sole = await SoleProcess.take(options)
  const [before] = (await watcher.query(HELD)).rows
  await watcher.query('select pg_terminate_backend($1)', [before.pid])
  await until(() => lines.some(proxy => proxy.startsWith('the database is held again')), 'it is held again', 60_000)
  const [now] = (await watcher.query(HELD)).rows
  assert.ok(now.pid !== undefined && now.pid !== before.pid)
  assert.deepEqual(taken, [])
})

test('while the database cannot be held again that is said, and known', async () => {
  const target = new URL(database.url)
  const sockets = new Set<Socket>()
  const proxy = createServer(socket => {
    const there = connect(Number(target.port), target.hostname)
    for (const end of [socket, there]) {
      end.on('error', () => undefined)
      sockets.add(end)
    }
    socket.pipe(there).pipe(socket)
  })
  const port = await freePort()
  proxy.listen(port, '127.0.0.1')
  await until(() => proxy.listening, 'the proxy listens')
  const url = Object.assign(new URL(database.url), { port: String(port) }).href
  const { options, lines } = process('trunkline here 88 hh', { url })
  await using sole = await SoleProcess.take(options)
  assert.equal(sole.isHeld, true)
  proxy.close()
  for (const socket of sockets) socket.destroy()
  await until(() => lines.some(logged => logged.startsWith('the database cannot be held again yet')), 'it is said', 60_000)
  assert.equal(sole.isHeld, false)
  proxy.listen(port, '127.0.0.1')
  await until(() => sole.isHeld, 'it is held again', 60_000)
  proxy.close()
  for (const socket of sockets) socket.destroy()
})

/** A proxy to the database that can fall silent without closing. */
async function proxyTo(): Promise<{ readonly proxy: FaultProxy; readonly url: string }> {
  const proxy = await FaultProxy.start()
  proxy.leadTo(Number(new URL(database.url).port))
  return { proxy, url: Object.assign(new URL(database.url), { port: String(proxy.port) }).href }
}

test('a process that ends behind a silent connection does not keep the next one out', async () => {
  const { proxy, url } = await proxyTo()
  await using _proxy = proxy
  const sole = await SoleProcess.take(process('trunkline here 91 ii', { url, silenceMs: 2_000 }).options)
  proxy.set('request', 'both', { held: true })
  await sole[Symbol.asyncDispose]()
  await using next = await SoleProcess.take(process('trunkline here 92 ii', { waitMs: 60_000 }).options)
  assert.equal(next.isHeld, true)
})

test('a process that lives behind a silent connection knows that another may have the database, and ends when one has', async () => {
  const { proxy, url } = await proxyTo()
  await using _proxy = proxy
  const { options, taken } = process('trunkline here 93 jj', { url, silenceMs: 2_000 })
  await using first = await SoleProcess.take(options)
  proxy.set('request', 'both', { held: true })
  await until(() => !first.isHeld, 'it stops writing', 60_000)
  await using second = await SoleProcess.take(process('trunkline here 94 jj', { waitMs: 60_000 }).options)
  proxy.clear()
  await until(() => taken.length > 0, 'it is notified', 60_000)
  assert.deepEqual([first.isHeld, second.isHeld], [false, true])
})

/** Of a process that stood still: time has passed, and nothing was done in it. */
class LateClock extends SystemClock {
  stoodMs = 0

  override monotonicMs(): number {
    return super.monotonicMs() + this.stoodMs
  }
}

test('a process that stood still writes nothing until it knows that it has the database', async () => {
  const late = new LateClock()
  const { options, taken } = process('trunkline here 95 kk', { clock: late })
  await using sole = await SoleProcess.take(options)
  assert.equal(sole.isHeld, true)
  late.stoodMs = SILENCE_MS
  assert.equal(sole.isHeld, false)
  await until(() => sole.isHeld, 'the session has answered', 60_000)
  assert.deepEqual(taken, [])
})

test('the server gives up a silent process before a start gives up waiting', () => {
  assert.ok(SILENCE_MS + 5_000 <= Number(SETTINGS.databaseWaitSeconds.fallback) * 1_000)
})

test('a session of ours that the server has not missed yet gives way', async () => {
  const ghost = new Client({ connectionString: database.url, application_name: 'trunkline here 44 dd' })
  ghost.on('error', () => undefined)
  await ghost.connect()
  await ghost.query('select pg_advisory_lock($1, $2)', [0x74726b6c, 1])
  await using _sole = await SoleProcess.take(process('trunkline here 44 dd').options)
  await ghost.end().catch(() => undefined)
})

test('a process whose database another one took meanwhile is notified once', async () => {
  await using watcher = await admin()
  await using other = await admin()
  const { options, taken } = process('trunkline here 55 ee')
  await using _sole = await SoleProcess.take(options)
  const [before] = (await watcher.query(HELD)).rows
  // Waits in the server's own queue, so that it is first when the lock is free.
  const theirs = other.query('select pg_advisory_lock($1, $2)', [0x74726b6c, 1])
  const isQueued = async () => (await watcher.query('select 1 from pg_locks where not granted')).rows.length > 0
  await until(isQueued, 'another one waits for the lock', 60_000)
  await watcher.query('select pg_terminate_backend($1)', [before.pid])
  await theirs
  await until(() => taken.length > 0, 'it is notified', 60_000)
  assert.ok(taken[0] instanceof DatabaseHeld)
  assert.equal(taken.length, 1)
})

test('a database that is down is waited for, and named without its password when it does not come', async () => {
  const target = new URL(database.url)
  const port = await freePort()
  const url = Object.assign(new URL(database.url), { port: String(port) }).href
  await assert.rejects(SoleProcess.take(process('trunkline here 66 ff', { url }).options), (cause: unknown) => {
    assert.ok(cause instanceof StoreUnavailable)
    assert.match(
      cause.message,
      new RegExp(
        `^PostgreSQL at ${RegExp.escape(target.hostname)}:${port}/\\w+ \\(TRUNKLINE_DATABASE_URL\\) cannot be reached: .*ECONNREFUSED`
      )
    )
    assert.ok(!cause.message.includes(target.password))
    return true
  })
  const { options, lines } = process('trunkline here 66 ff', { url, waitMs: 60_000 })
  const waiting = SoleProcess.take(options)
  await until(() => lines.length > 0, 'it waits')
  const proxy = createServer(socket => {
    const there = connect(Number(target.port), target.hostname)
    for (const end of [socket, there]) end.on('error', () => undefined)
    socket.pipe(there).pipe(socket)
  }).listen(port, '127.0.0.1')
  const sole = await waiting
  await sole[Symbol.asyncDispose]()
  proxy.close()
})

test('what waiting cannot cure is reported at once', async () => {
  const url = Object.assign(new URL(database.url), { password: 'wrong-password' }).href
  const { options, lines } = process('trunkline here 77 gg', { url, waitMs: 60_000 })
  await assert.rejects(SoleProcess.take(options), /refuses the service: password authentication failed/)
  assert.deepEqual(lines, [])
})

test('a database address has host, port and database only', () => {
  assert.equal(databaseAddressOf('postgres://me:secret@db.example.com:6543/trunkline?sslmode=require'), 'db.example.com:6543/trunkline')
  assert.equal(databaseAddressOf('postgres://me:secret@db.example.com/x'), 'db.example.com:5432/x')
})

async function freePort(): Promise<number> {
  const server: Server = createServer().listen(0, '127.0.0.1')
  await until(() => server.listening, 'a port is free')
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

test('nodes of a cluster share the database with each other, and not with a process that runs alone', async () => {
  const shared = { isShared: true }
  const first = await SoleProcess.take(process('trunkline node 11 aa', shared).options)
  const second = await SoleProcess.take(process('trunkline node 22 bb', shared).options)
  await assert.rejects(SoleProcess.take(process('trunkline alone 33 cc').options), /start all with TRUNKLINE_NATS_URL/)
  await first[Symbol.asyncDispose]()
  await assert.rejects(SoleProcess.take(process('trunkline alone 33 cc').options), /trunkline node 22 bb/)
  await second[Symbol.asyncDispose]()
  const alone = await SoleProcess.take(process('trunkline alone 33 cc').options)
  await assert.rejects(SoleProcess.take(process('trunkline node 11 dd', shared).options), /runs alone: start it with TRUNKLINE_NATS_URL/)
  await alone[Symbol.asyncDispose]()
})

const BREAKING = { number: 9, name: 'nine' }
const nodeOf = (schema: number, host: string, isShared = true) =>
  process(processName(schema, { host, pid: 11, random: 'aa' }), { schema, isShared })

test('a migration that breaks older nodes is refused while one has the database, and names it; nodes that know it do not matter', async () => {
  await using old = await SoleProcess.take(nodeOf(8, 'old').options)
  await using early = await SoleProcess.take(process('trunkline early 11 aa', { schema: 0, isShared: true }).options)
  await using next = await SoleProcess.take(nodeOf(9, 'next').options)
  await using _same = await SoleProcess.take(nodeOf(9, 'same').options)
  await using _newer = await SoleProcess.take(nodeOf(10, 'newer').options)
  await assert.rejects(
    next.demandNoOlder(BREAKING),
    /Migration 9 \(nine\) .*: trunkline early 11 aa \(an unknown schema\), trunkline\/8 old 11 aa \(schema 8\)\. Stop them first/
  )
  for (const node of [old, early]) await node[Symbol.asyncDispose]()
  await until(async () => (await next.demandNoOlder(BREAKING).catch(() => 'refused')) === undefined, 'the old nodes are gone')
})

test('the name of a process has its schema, and fits into that of a session with what is added to it', async () => {
  const name = processName(1_234, {
    host: 'a-host.with-a-name.that-is.longer-than.any-name.of-a-session.example',
    pid: 4_194_304,
    random: 'f00'
  })
  assert.match(name, /^trunkline\/1234 a-host\.with.* 4194304 f00$/)
  assert.equal(`${name} lease`.length, 63)
})

test('a node whose lock was lost ends if the database was migrated meanwhile to what it cannot work with', async () => {
  await using own = await createDatabase(cluster.url)
  await using watcher = await admin(own.url)
  const { options, lines, taken } = process(processName(8, { host: 'old', pid: 11, random: 'aa' }), { url: own.url, schema: 8 })
  await using sole = await SoleProcess.take(options)
  const end = async () => watcher.query(`select pg_terminate_backend(pid) from (${HELD}) held where pid <> pg_backend_pid()`)
  await end()
  await until(
    () => lines.filter(line => line.startsWith('the database is held again')).length === 1,
    'held again, without a schema',
    60_000
  )
  await watcher.query(`create table schema_migrations (number int, name text, breaking boolean)`)
  await watcher.query(`insert into schema_migrations values (8, 'eight', true), (9, 'nine', false)`)
  await end()
  await until(() => lines.filter(line => line.startsWith('the database is held again')).length === 2, 'held again, as it knows', 60_000)
  // The newer process is still at it: the old one waits.
  await watcher.query('begin')
  await watcher.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
  await watcher.query(`insert into schema_migrations values (10, 'ten', true)`)
  await end()
  const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`
  await until(async () => (await watcher.query(waits)).rows.length === 1, 'it waits for the migration', 60_000)
  assert.equal(sole.isHeld, false)
  await watcher.query('commit')
  await until(() => taken.length > 0, 'it ends', 60_000)
  assert.match(String(taken[0]), /SchemaMismatch: The database has migration 10 \(ten\) of a newer version/)
})
