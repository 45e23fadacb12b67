/** Maintenance of a single-user engine: the log stays short, dead rows are removed, statistics are updated. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openEmbedded } from '../src/index.ts'
import { freshDataDir } from './template.ts'

test('the log does not grow for ever', async t => {
  const dataDir = await freshDataDir(t)
  await using database = await openEmbedded({ dataDir, maintenanceMs: 0, checkpointBytes: 4 * 1024 * 1024 })
  await database.exec('CREATE TABLE item (id int, note text)')
  await database.maintain()
  for (let n = 0; n < 10; n++) {
    await database.query(`INSERT INTO item SELECT n, repeat(md5(n::text), 20) FROM generate_series(1, 6000) AS n`)
    await database.maintain()
  }
  const { checkpoints, logBytes } = database.stats()
  assert.ok(checkpoints >= 5, `${checkpoints} checkpoints`)
  assert.ok(logBytes < 12 * 1024 * 1024, `${logBytes} bytes since the last one`)
  const segments = readdirSync(join(dataDir, 'database', 'pg_wal')).filter(name => /^[0-9A-F]{24}$/.test(name))
  assert.ok(segments.length <= 24, `${segments.length} segments of 4 MiB`)
})

test('a quiet moment is used for a checkpoint that is not due yet', async t => {
  await using database = await openEmbedded({ dataDir: await freshDataDir(t), maintenanceMs: 0, checkpointBytes: 8 * 1024 * 1024 })
  await database.maintain()
  await database.exec(`CREATE TABLE item AS SELECT repeat('x', 1000) AS note FROM generate_series(1, 3000)`)
  await database.maintain()
  assert.equal(database.stats().checkpoints, 0)
  await database.maintain()
  await database.maintain()
  assert.equal(database.stats().checkpoints, 1)
})

test('dead rows are vacuumed and changed tables analysed', async t => {
  await using database = await openEmbedded({ dataDir: await freshDataDir(t), maintenanceMs: 0 })
  await database.exec('CREATE TABLE item (id int, note text); INSERT INTO item SELECT n FROM generate_series(1, 5000) AS n')
  for (let n = 0; n < 4; n++) await database.query('UPDATE item SET note = $1', [String(n)])
  await database.query('SELECT pg_stat_force_next_flush()')
  const figures = async (): Promise<unknown> =>
    (
      await database.query(
        `SELECT n_dead_tup > 1000 AS dead, n_mod_since_analyze > 500 AS changed FROM pg_stat_user_tables WHERE relname = 'item'`
      )
    ).rows
  assert.deepEqual(await figures(), [{ dead: true, changed: true }])
  for (let n = 0; n < 8; n++) await database.maintain()
  assert.deepEqual(await figures(), [{ dead: false, changed: false }])
})

test('a full disk is not written to by maintenance, nor by the end, and what was committed is there at the next start', async t => {
  const dataDir = await freshDataDir(t)
  let free = 1e9
  const options = { dataDir, maintenanceMs: 0, checkpointBytes: 1, freeBytesMin: 1e6 }
  const database = await openEmbedded({ ...options, freeBytes: () => free })
  await database.maintain()
  await database.exec('CREATE TABLE item AS SELECT 1 AS id')
  free = 10
  const { fsyncs } = database.stats()
  await database.maintain()
  await database.close()
  assert.deepEqual([database.stats().checkpoints, database.stats().fsyncs], [0, fsyncs])
  await using again = await openEmbedded(options)
  assert.deepEqual((await again.query('SELECT id FROM item')).rows, [{ id: 1 }])
})
