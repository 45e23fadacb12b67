// One process per PostgreSQL database, as platforms and operators see it: while the hold is lost the service says that it is not ready.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { startService } from './harness.ts'

const PATIENCE_MS = 60_000

test('while the hold of the database is lost and cannot be taken again the service is not ready, though the store answers; then it is', async () => {
  await using resources = new AsyncDisposableStack()
  const cluster = resources.use(await sharedPostgres())
  const database = resources.use(await createDatabase(cluster.url))
  const name = new URL(database.url).pathname.slice(1)
  const watcher = new Client({ connectionString: cluster.url })
  await watcher.connect()
  resources.defer(() => watcher.end())
  const service = resources.use(await startService('embedded', { TRUNKLINE_DATABASE_URL: database.url }))
  const statusOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${service.url}${path}`, { headers, signal: AbortSignal.timeout(PATIENCE_MS) })).status
  const platform = { 'client-id': service.demo.client_id, 'client-secret': service.demo.client_secret }
  assert.equal(await statusOf('/readyz'), 200)

  // Connections that are there stay. The one that holds the database is ended, and no new one is taken.
  await watcher.query(`alter database ${name} allow_connections false`)
  const { rowCount } = await watcher.query(
    `select pg_terminate_backend(l.pid) from pg_locks l
      where l.locktype = 'advisory' and l.granted and l.objsubid = 2 and l.database = (select oid from pg_database where datname = $1)`,
    [name]
  )
  assert.equal(rowCount, 1)
  const isUnheld = async () => (await statusOf('/readyz')) === 503 && (await statusOf('/users', platform)) === 200
  await until(isUnheld, 'the service is not ready, and its store answers', PATIENCE_MS)
  // Another process may have the database now: nothing may be written beside it.
  const create = async () => {
    const init = { method: 'POST', headers: { ...platform, 'content-type': 'application/json' }, body: '{"user_id":"ada"}' }
    return (await fetch(`${service.url}/users`, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })).status
  }
  assert.equal(await create(), 503)
  assert.equal(await statusOf('/healthz'), 200, 'it lives, and need not be started again')
  assert.match(service.output(), /the connection that holds the database was lost/)

  await watcher.query(`alter database ${name} allow_connections true`)
  await until(async () => (await statusOf('/readyz')) === 200, 'the service is ready again', PATIENCE_MS)
  assert.match(service.output(), /the database is held again/)
  assert.equal(await create(), 200, 'the refused one left nothing behind')
})
