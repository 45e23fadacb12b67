// Anybody can send a callback: what of it reaches the audit log is bounded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry, Store } from '@trunkline/core/ports/store'
import { Refusals } from '../../src/portal/refusals.ts'

test('sixty refusals at once are audited, and then one every ten seconds', async () => {
  const entries: AuditEntry[] = []
  let ms = 1_000_000
  const audit: Pick<Store['audit'], 'append'> = { append: async entry => void entries.push(entry) }
  const clock = {
    now: () => '2026-01-01T00:00:00.000000Z' as Timestamp,
    monotonicMs: () => ms,
    sleep: async () => {},
    alarm: () => assert.fail()
  }
  const refusals = new Refusals({ store: { audit }, clock })
  const flood = async () => {
    const before = entries.length
    for (let sent = 0; sent < 200; sent++)
      await refusals.note(null, 'bad_callback', { browser: null, ip: '192.0.2.1', requestId: `r-${sent}` })
    return entries.length - before
  }
  assert.equal(await flood(), 60)
  assert.equal(await flood(), 0)
  ms += 9_999
  assert.equal(await flood(), 0)
  ms += 1
  assert.equal(await flood(), 1)
  ms += 3_600_000
  assert.equal(await flood(), 60)
  assert.deepEqual([entries[0]?.target, entries[0]?.ip, entries[0]?.requestId], ['unknown', '192.0.2.1', 'r-0'])
})
