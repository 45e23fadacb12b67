// A process without descriptors fails what needs one, and nothing once it has some again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openEmbedded } from '../src/index.ts'
import { FAILS } from './children/descriptors-hook.ts'
import { freshDataDir } from './template.ts'

for (const what of ['create', 'open'] as const) {
  test(`a write whose new file could not be made (${what}) works as soon as there are descriptors again`, async t => {
    const state = new Int32Array(new SharedArrayBuffer(4))
    const hook = { module: new URL('./children/descriptors-hook.ts', import.meta.url).href, data: state }
    await using database = await openEmbedded({ dataDir: await freshDataDir(t), maintenanceMs: 0, hook })
    await database.exec('CREATE TABLE item (text text)')
    // For the second page of a table the engine creates a map of its free space: a new file, with the same name at every try.
    const insert = () => database.query("INSERT INTO item SELECT repeat('x', 1000) FROM generate_series(1, 100)")
    Atomics.store(state, 0, FAILS[what])
    for (let tries = 0; tries < 3; tries++) await assert.rejects(insert(), /too many open files|Too many open files|No file descriptors/i)
    Atomics.store(state, 0, FAILS.nothing)
    await insert()
    const { rows } = await database.query('SELECT count(*)::int AS n FROM item')
    assert.equal(rows[0]?.n, 100)
  })
}
