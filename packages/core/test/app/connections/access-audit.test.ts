// Refused accesses are audited, and an attacker cannot fill the audit log with them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AccessAudit, type RefusedAccess } from '@trunkline/core/app/access-audit'
import type { AuditEntry } from '@trunkline/core/ports/store'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'

const WRONG: RefusedAccess = {
  action: 'access.failed',
  actor: 'anonymous',
  target: 'rest',
  reason: 'credentials_invalid',
  ip: '192.0.2.7',
  group: '192.0.2.7',
  requestId: 'r-1'
}

function setup(append: (entry: AuditEntry) => Promise<void> = async () => undefined) {
  const entries: AuditEntry[] = []
  const warnings: string[] = []
  const clock = new VirtualClock()
  const log = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} }
  const audit = {
    async append(entry: AuditEntry) {
      await append(entry)
      entries.push(entry)
    }
  }
  const written = () => entries.map(({ actor, ip, detail }) => [actor, ip, detail.times])
  return { audit: new AccessAudit({ store: { audit }, clock, log }), clock, entries, warnings, written }
}

test('the first refusal of a kind is written at once, and the others of that minute as one entry with their number [S1, S54]', async () => {
  const { audit, clock, entries, written } = setup()
  for (let at = 0; at < 500; at++) audit.note({ ...WRONG, requestId: `r-${at}` })
  audit.note({ ...WRONG, ip: '192.0.2.8', group: '192.0.2.8' })
  audit.note({ ...WRONG, action: 'access.denied', actor: 'user:ada', reason: 'order_not_found' })
  await clock.settled()
  const first = [
    ['anonymous', '192.0.2.7', 1],
    ['anonymous', '192.0.2.8', 1],
    ['user:ada', '192.0.2.7', 1]
  ]
  assert.deepEqual(written(), first)
  const { action, target, result, requestId, detail } = entries[0] ?? assert.fail()
  assert.deepEqual([action, target, result, requestId, detail.reason], ['access.failed', 'rest', 'refused', 'r-0', 'credentials_invalid'])
  await clock.advance(60_000)
  assert.deepEqual(written(), [...first, ['anonymous', '192.0.2.7', 499]])
  audit.note(WRONG)
  await clock.settled()
  assert.deepEqual(written().at(-1), ['anonymous', '192.0.2.7', 1], 'a new minute')
})

test('a flood from many addresses makes a bounded number of entries a minute, and every refusal is counted', async () => {
  const { audit, clock, entries } = setup()
  for (let at = 0; at < 10_000; at++) audit.note({ ...WRONG, group: `2001:db8:0:${at}` })
  await clock.advance(60_000)
  assert.equal(entries.length, 65)
  assert.equal(
    entries.reduce((sum, { detail }) => sum + Number(detail.times), 0),
    10_000
  )
})

test('refusals that were only counted are written at the end, and a store that fails affects nothing else', async () => {
  let fails = false
  const { audit, warnings, written } = setup(async () => {
    if (fails) throw new Error('no')
  })
  for (let at = 0; at < 3; at++) audit.note(WRONG)
  await audit.stop()
  assert.deepEqual(written(), [
    ['anonymous', '192.0.2.7', 1],
    ['anonymous', '192.0.2.7', 2]
  ])
  fails = true
  audit.note(WRONG)
  await audit.stop()
  assert.equal(warnings.length, 1)
})
