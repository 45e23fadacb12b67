// The throw-away PostgreSQL: durable, private, and gone when its owner is.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Client } from 'pg'
import { nativeFolder, unprivilegedUser, usableBin } from '../src/postgres/binaries.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../src/postgres/index.ts'
import { until } from '../src/until.ts'

let server: PostgresServer

before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('durability is left on, and passwords are required', async () => {
  const names = ['fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'unix_socket_directories']
  const rows = await query(server.url, `select name, setting from pg_settings where name in ('${names.join("','")}') order by name`)
  assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
    fsync: 'on',
    full_page_writes: 'on',
    listen_addresses: '127.0.0.1',
    synchronous_commit: 'on',
    unix_socket_directories: ''
  })
  const unauthenticated = new URL(server.url)
  unauthenticated.password = 'guess'
  await assert.rejects(query(unauthenticated.href, 'select 1'), /password authentication failed/)
})

test('databases are apart from each other, and dropping one cuts off who is in it', async () => {
  const [one, other] = await Promise.all([createDatabase(server.url), createDatabase(server.url)])
  await query(one.url, 'create table seen (id int)')
  await assert.rejects(query(other.url, 'select * from seen'), /does not exist/)

  const lingering = new Client({ connectionString: one.url })
  await lingering.connect()
  lingering.on('error', () => {}) // the error, then the end of the connection
  const cutOff = new Promise(resolve => lingering.once('end', resolve))
  await one.drop()
  await cutOff
  await other.drop()
  await assert.rejects(query(one.url, 'select 1'), /does not exist/)
})

test('stopping removes the files and closes the port', async () => {
  const own = await startPostgres()
  const [row] = await query(own.url, 'show data_directory')
  const folder = String(row?.data_directory)
  assert.ok(existsSync(folder))
  await own.stop()
  await own.stop()
  assert.ok(!existsSync(folder))
  await assert.rejects(query(own.url, 'select 1'), /ECONNREFUSED/)
})

test('when the owner is killed, the server ends and its files go', async () => {
  const module = new URL('../src/postgres/index.ts', import.meta.url).href
  const script = `import { startPostgres } from '${module}'; const { url } = await startPostgres(); console.log(url); setInterval(() => {}, 1000)`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(owner.stdout.setEncoding('utf8'), 'data')
  const url = String(line).trim()
  const [row] = await query(url, 'show data_directory')
  const folder = String(row?.data_directory)
  owner.kill('SIGKILL')
  await until(() => !existsSync(folder), 'the files are removed')
  await assert.rejects(query(url, 'select 1'), /ECONNREFUSED/)
})

test('programs in a folder that the unprivileged user cannot enter are copied to one it can', () => {
  const runAs = unprivilegedUser()
  const base = mkdtempSync(join(tmpdir(), 'trunkline-private-'))
  try {
    const [home, scratch] = [join(base, 'home'), join(base, 'scratch')]
    mkdirSync(home, { mode: 0o700 })
    mkdirSync(scratch)
    cpSync(nativeFolder(), join(home, 'native'), { recursive: true, verbatimSymlinks: true })
    const bin = usableBin(join(home, 'native'), scratch, runAs)
    assert.equal(bin, runAs === null ? join(home, 'native', 'bin') : join(scratch, 'native', 'bin'))
    assert.ok(existsSync(join(bin, 'postgres')))
  } finally {
    rmSync(base, { recursive: true })
  }
})
