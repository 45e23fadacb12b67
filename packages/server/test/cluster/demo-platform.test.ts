// Nodes that start together in an empty practice installation make one demo platform.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { DemoFile, demoPlatform } from '../../src/ops/demo-platform.ts'
import { openStore } from '../../src/store/index.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { directory } from '../admin/support.ts'
import { testDeps } from '../store/deps.ts'

test('three nodes that start together make one demo platform, and only its maker has a file with its secret', async context => {
  await using cluster = await sharedPostgres()
  await using database = await createDatabase(cluster.url)
  const deps = testDeps()
  await using store = await openStore({ kind: 'postgres', url: database.url, poolMax: 6 }, deps)
  const hasher = new Sha256Hasher(Buffer.alloc(32, 5))
  const folder = directory(context)
  const files = [0, 1, 2].map(index => new DemoFile(join(folder, `${index}.json`)))
  const addresses = {
    base_url: '',
    stream_url: '',
    market_data_stream_url: '',
    portal_url: '',
    sandbox_control_url: null,
    sandbox_logins: []
  }
  const start = (file: DemoFile) => demoPlatform({ ...deps, store, hasher }, file, { ...addresses, home_url: '' })
  const made = await Promise.all(files.map(start))
  const [platform, ...others] = await store.platforms.list()
  assert.deepEqual(others, [])
  for (const [index, demo] of made.entries()) {
    assert.equal(existsSync(files[index]?.path ?? ''), demo !== null)
    if (demo !== null) assert.equal(demo.demo.client_id, platform?.clientId)
  }
  assert.equal(made.filter(demo => demo !== null).length, 1)
  // A later start finds the same.
  assert.deepEqual((await Promise.all(files.map(start))).map(demo => demo?.created ?? null).sort(), [false, null, null])
})
