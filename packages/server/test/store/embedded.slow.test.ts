// The embedded store across restarts: what was confirmed is there, and one process has the directory.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as make from '@trunkline/testkit/store-contract/records'
import { openEngine, openStore } from '../../src/store/index.ts'
import { migrate, migrationOf, readMigrations } from '../../src/store/migrate.ts'
import { EngineRefused } from '../../src/store/pglite/index.ts'
import { testDeps } from './deps.ts'

test('a store is found again as it was left, is not opened twice, and survives a migration that fails', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-embedded-'))
  const settings = { kind: 'embedded', dataDir } as const
  try {
    const store = await openStore(settings, testDeps())
    const who = await make.owner(store)
    const order = make.order(who)
    await store.orders.record([make.created(order)])
    await assert.rejects(openStore(settings, testDeps()), EngineRefused)
    await store[Symbol.asyncDispose]()

    const engine = await openEngine(settings, testDeps())
    const own = readMigrations()
    const bad = migrationOf(own.length + 1, 'bad', '-- compatible\ncreate table half (id int); insert into nowhere values (1);')
    await assert.rejects(migrate(engine.db, testDeps(), [...own, bad]), /nowhere/)
    await engine.db.destroy()

    await using again = await openStore(settings, testDeps())
    assert.deepEqual(await again.orders.find(order.orderId), order)
    const [next] = await again.orders.record([make.moved(order, { status: 'working' })])
    assert.equal(next?.kind === 'recorded' && next.event?.seq, 2)
    assert.equal(again.stats().engine, 'embedded')
    assert.equal(again.stats().orders.changes, 1)
  } finally {
    await rm(dataDir, { recursive: true })
  }
})
