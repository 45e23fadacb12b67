import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { probeFiles } from '../../src/ops/file-probe.ts'
import { Readiness } from '../../src/ops/readiness.ts'

test('ready means that something was written: a database that answers is not enough', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-ready-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const clock = new VirtualClock()
  const readiness = new Readiness({ probe: () => probeFiles(folder) }, clock)
  assert.equal(await readiness.problem(), 'starting')
  readiness.serving()
  assert.equal(await readiness.problem(), null)
  assert.deepEqual(readdirSync(folder), [])
  rmSync(folder, { recursive: true })
  assert.equal(await readiness.problem(), null, 'remembered for a moment')
  await clock.advance(3_000)
  assert.equal(await readiness.problem(), 'store')
})
