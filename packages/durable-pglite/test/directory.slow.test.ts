/**
 * A data directory: created completely or not at all, used by one process, refused if its commits would not last, and intact after a crash.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isWhole } from '@trunkline/testkit/search'
import { thisProcess } from '../src/host.ts'
import { type EmbeddedOptions, EngineRefused, openEmbedded, type RefusedReason } from '../src/index.ts'
import type { Fault } from './children/fault-hook.ts'
import type { PowerCut } from './children/power-cut-hook.ts'
import { startChild } from './children/run.ts'
import { emptyDirectory, freshDataDir } from './template.ts'

function refusedFor(reason: RefusedReason, pattern: RegExp = /./): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof EngineRefused, String(error))
    assert.equal(error.reason, reason)
    assert.match(error.message, pattern)
    return true
  }
}

function faulty(fault: Fault): NonNullable<EmbeddedOptions['hook']> {
  return { module: new URL('./children/fault-hook.ts', import.meta.url).href, data: fault }
}

function powerCut(cutAt: number): NonNullable<EmbeddedOptions['hook']> {
  const data: PowerCut = { seed: 1, cutAt, lie: false }
  return { module: new URL('./children/power-cut-hook.ts', import.meta.url).href, data }
}

async function items(dataDir: string): Promise<number> {
  await using database = await openEmbedded({ dataDir, maintenanceMs: 0 })
  const { rows } = await database.query('SELECT count(*)::int AS n FROM item')
  return Number(rows[0]?.n)
}

const acknowledged = (lines: readonly string[]): number => lines.filter(line => line.startsWith('A ')).length

test('a half-made database is moved aside; then it is made once, private, marked, and reopened with what was written', async t => {
  const dataDir = join(emptyDirectory(t), 'deep', 'data')
  // The process that creates it is killed half-way.
  await assert.rejects(openEmbedded({ dataDir, maintenanceMs: 0, hook: powerCut(900) }), refusedFor('creation_failed'))
  assert.deepEqual(readdirSync(dataDir).toSorted(), ['database.half-1', 'owner.lock'])
  // It looks finished, but has no marker.
  mkdirSync(join(dataDir, 'database'))
  writeFileSync(join(dataDir, 'database', 'PG_VERSION'), '18\n')
  const first = await openEmbedded({ dataDir, maintenanceMs: 0 })
  await first.exec('CREATE TABLE item (id int); INSERT INTO item VALUES (1)')
  assert.ok(existsSync(join(dataDir, 'owner.json')))
  await first.close()
  const made = ['READY', 'database', 'database.half-1', 'database.half-2', 'owner.lock']
  assert.deepEqual(readdirSync(dataDir).toSorted(), made)
  assert.equal(await items(dataDir), 1)
  assert.deepEqual(readdirSync(dataDir).toSorted(), made)
})

test('a directory where making fails again and again is refused', async t => {
  const dataDir = join(emptyDirectory(t), 'data')
  for (let n = 1; n <= 5; n++) mkdirSync(join(dataDir, `database.half-${n}`), { recursive: true })
  await assert.rejects(openEmbedded({ dataDir, maintenanceMs: 0 }), refusedFor('creation_failed', /delete its database\.half/))
})

test('a directory of another format is refused and left as it is', async t => {
  const dataDir = await freshDataDir(t)
  writeFileSync(join(dataDir, 'READY'), 'trunkline-embedded 9 postgresql 44\n')
  await assert.rejects(openEmbedded({ dataDir, maintenanceMs: 0 }), refusedFor('incompatible', /postgresql 44/))
  assert.ok(existsSync(join(dataDir, 'database', 'PG_VERSION')))
})

test('a second process refuses at once and names the first, which goes on', async t => {
  const dataDir = await freshDataDir(t)
  const first = startChild('./holder.ts', { dataDir })
  t.after(() => first.process.kill('SIGKILL'))
  await first.line(line => line.startsWith('A '))
  const second = startChild('./holder.ts', { dataDir })
  const refusal = await second.line(line => line.startsWith('refused'))
  assert.match(refusal, new RegExp(`process ${first.process.pid} on ${hostname()}, which is running`))
  assert.equal((await second.ended).code, 3)
  await assert.rejects(openEmbedded({ dataDir, maintenanceMs: 0 }), refusedFor('held', new RegExp(`process ${first.process.pid} `)))
  const seen = acknowledged(first.lines)
  await first.line(line => line === `A ${seen + 20}`)
})

test('the same process cannot open a directory twice either', async t => {
  const dataDir = await freshDataDir(t)
  await using _database = await openEmbedded({ dataDir, maintenanceMs: 0 })
  await assert.rejects(openEmbedded({ dataDir, maintenanceMs: 0 }), refusedFor('held', new RegExp(`process ${process.pid} `)))
})

test('a directory is taken over only from a holder that is provably dead', async t => {
  const dataDir = await freshDataDir(t)
  const self = thisProcess()
  const owners = [
    { name: 'number gone', owner: { ...self, pid: 2 ** 22 + 1 }, free: true },
    { name: 'number used again', owner: { ...self, startedAt: '1' }, free: true },
    { name: 'another container', owner: { ...self, pidSpace: 'pid:[1]' }, free: true },
    { name: 'before a reboot', owner: { ...self, bootId: 'an earlier one' }, free: true },
    // Its lock on the file has no effect here, so only its being alive protects it.
    { name: 'alive', owner: self, free: false },
    { name: 'another machine', owner: { ...self, bootId: 'its own', hostname: 'elsewhere' }, free: false },
    { name: 'a machine that cannot say when it started', owner: { ...self, bootId: null }, free: false },
    { name: 'unreadable', owner: 'x', free: false }
  ]
  for (const { name, owner, free } of owners) {
    writeFileSync(join(dataDir, 'owner.json'), JSON.stringify(owner))
    const before = readFileSync(join(dataDir, 'owner.json'), 'utf8')
    const opening = openEmbedded({ dataDir, maintenanceMs: 0 })
    if (free) await (await opening).close()
    else {
      await assert.rejects(opening, refusedFor('held', /owner\.json/), name)
      assert.equal(readFileSync(join(dataDir, 'owner.json'), 'utf8'), before, name)
      rmSync(join(dataDir, 'owner.json'))
    }
  }
})

test('an engine whose fsync reaches nothing is refused', async t => {
  const dataDir = await freshDataDir(t)
  await assert.rejects(
    openEmbedded({ dataDir, maintenanceMs: 0, hook: faulty({ kind: 'deaf', from: 0 }) }),
    refusedFor('not_durable', /did not reach the disk/)
  )
  await (await openEmbedded({ dataDir, maintenanceMs: 0 })).close()
})

test('an fsync that fails ends the process at once, with one line and no answer', async t => {
  const dataDir = await freshDataDir(t)
  const child = startChild('./holder.ts', { dataDir, hook: faulty({ kind: 'eio', from: 40 }) })
  const { signal } = await child.ended
  assert.equal(signal, 'SIGKILL')
  assert.match(child.stderr(), /^trunkline: fsync failed \(EIO: i\/o error, fsync\); commits in flight are unknown\. .*\n$/)
  const acknowledgedBefore = acknowledged(child.lines)
  assert.ok(acknowledgedBefore > 0)
  const there = await items(dataDir)
  assert.ok(there === acknowledgedBefore || there === acknowledgedBefore + 1, `${acknowledgedBefore} were acknowledged, ${there} are there`)
})

test('a disk that is full in the middle of a commit ends the process; nothing acknowledged is lost and it starts again', async t => {
  const dataDir = await freshDataDir(t)
  const child = startChild('./holder.ts', { dataDir, hook: faulty({ kind: 'full', from: 150 }) })
  const { signal } = await child.ended
  assert.equal(signal, 'SIGKILL')
  assert.match(child.stderr(), /^trunkline: the database engine .*No space left.*\n$/)
  assert.ok((await items(dataDir)) >= acknowledged(child.lines))
})

test('killed at any moment, everything acknowledged is there', async t => {
  const dataDir = await freshDataDir(t)
  let acknowledgedBefore = 0
  for (const after of isWhole ? [1, 7, 40, 150, 400] : [1, 40, 150]) {
    const child = startChild('./holder.ts', { dataDir })
    await child.line(line => line === `A ${after}`)
    child.process.kill('SIGKILL')
    await child.ended
    acknowledgedBefore += acknowledged(child.lines)
    const there = await items(dataDir)
    assert.ok(there >= acknowledgedBefore && there <= acknowledgedBefore + 5, `${acknowledgedBefore} were acknowledged, ${there} are there`)
    acknowledgedBefore = there
  }
})

test('a page whose bytes changed on the disk is noticed', async t => {
  const dataDir = await freshDataDir(t)
  const first = await openEmbedded({ dataDir, maintenanceMs: 0 })
  await first.exec(`CREATE TABLE item (id int, note text); INSERT INTO item SELECT n, repeat('x', 100) FROM generate_series(1, 200) AS n`)
  const { rows } = await first.query(`SELECT pg_relation_filepath('item') AS path`)
  await first.close()
  const file = join(dataDir, 'database', String(rows[0]?.path))
  const bytes = readFileSync(file)
  bytes[8192 + 4000] = (bytes[8192 + 4000] ?? 0) ^ 1
  writeFileSync(file, bytes)
  await using second = await openEmbedded({ dataDir, maintenanceMs: 0 })
  await assert.rejects(second.query('SELECT count(note) FROM item'), /invalid page in block 1/)
})
