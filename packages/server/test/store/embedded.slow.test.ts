// The embedded store across restarts: what was confirmed is there, and one process has the directory.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EngineRefused } from '@trunkline/durable-pglite/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { emptyDirectory } from '../../../durable-pglite/test/template.ts'
import { openEngine, openStore } from '../../src/store/index.ts'
import { migrate, migrationOf, readMigrations } from '../../src/store/migrate.ts'
import { testDeps } from './deps.ts'
import { copyStore } from './template.ts'

test('a store is found again as it was left, is not opened twice, and survives a migration that fails', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-embedded-'))
  const settings = { kind: 'embedded', dataDir } as const
  try {
    const store = await openStore(settings, testDeps())
    const who = await make.owner(store)
    const order = make.order(who)
    await store.orders.record([make.created(order)])
    const place = { ...make.slot(who.platform, 'first'), sessionId: 'of the first process' }
    assert.equal(await store.streamSlots.take(place, 1, 3_600_000), true)
    await assert.rejects(openStore(settings, testDeps()), EngineRefused)
    await store[Symbol.asyncDispose]()

    const engine = await openEngine(settings, testDeps())
    const own = readMigrations()
    const bad = migrationOf(own.length + 1, 'bad', '-- compatible\ncreate table half (id int); insert into nowhere values (1);')
    await assert.rejects(migrate(engine.db, testDeps(), { migrations: [...own, bad] }), /nowhere/)
    await engine.db.destroy()

    await using again = await openStore(settings, testDeps())
    assert.deepEqual(await again.orders.find(order.orderId), order)
    const [next] = await again.orders.record([make.moved(order, { status: 'working' })])
    assert.equal(next?.kind === 'recorded' && next.event?.seq, 2)
    assert.deepEqual(await again.streamSlots.renew('first', 3_600_000), [], 'no session of the previous process holds a slot')
    assert.equal(await again.streamSlots.take({ ...place, sessionId: 'of the second' }, 1, 3_600_000), true)
    assert.equal(again.stats().engine, 'embedded')
    assert.equal(again.stats().orders.changes, 1)
  } finally {
    await rm(dataDir, { recursive: true })
  }
})

test('what writes shares commits and reads nothing first, except what an account holds when it is written for the first time', async t => {
  const dataDir = join(emptyDirectory(t), 'data')
  await copyStore(dataDir)
  await using store = await openStore({ kind: 'embedded', dataDir }, testDeps())
  const owners = await Promise.all(Array.from({ length: 20 }, () => make.owner(store)))
  const figures = () => store.stats().embedded ?? assert.fail('no figures of the engine')
  const put = (cash: string) => Promise.all(owners.map(({ account }) => store.accounts.putBalances(account, [make.balance(account, cash)])))
  const before = figures()
  await put('1')
  const first = figures()
  assert.equal(first.reads - before.reads, owners.length)
  for (let cash = 2; cash < 10; cash += 1) await put(`${cash}`)
  const later = figures()
  assert.equal(later.reads, first.reads)
  assert.equal(later.commits - first.commits, 8, 'the accounts of one moment share a commit')

  const [who] = owners
  assert.ok(who !== undefined)
  await store.orders.record([make.created(make.order(who))])
  await store.events.prune(make.time('9999-01-01T00:00:00Z'), 10)
  await store.streamSlots.take(make.slot(who.platform), 1, 1_000)
  const last = figures()
  assert.deepEqual([last.reads, last.commits], [later.reads, later.commits + 3], 'a function that writes is a write')
})
