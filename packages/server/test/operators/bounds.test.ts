// What requests of operators may take, and what is kept of them.
import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { operatorOfKey } from '@trunkline/core/app/operators/access'
import { parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import type { AuditEntry } from '@trunkline/core/ports/store'
import * as make from '@trunkline/testkit/store-contract/records'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { FailedAttempts } from '../../src/auth/failed-attempts.ts'
import { EventWaits, WAITS_MAX } from '../../src/operators/event-wait.ts'
import { Places } from '../../src/operators/places.ts'
import { ReadCounts } from '../../src/operators/read-counts.ts'

const USER = parseUuid<UserKey>('0190a0b0-c0d0-7000-8000-000000000001', 'user')
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

test('sixteen requests work at once, and one more is refused for a second', async () => {
  const places = new Places()
  const { promise, resolve } = Promise.withResolvers<void>()
  const working = Array.from({ length: 16 }, () => places.run(() => promise))
  await assert.rejects(() => places.run(async () => undefined), { code: 'rate_limited' })
  resolve()
  await Promise.all(working)
  await places.run(async () => undefined)
})

/** Waits for events of a user who has none, on a clock. */
function waits() {
  const clock = new VirtualClock()
  const user = make.user(make.platform())
  const eventWaits = new EventWaits({ store: { users: { findByKey: async () => user }, events: { last: async () => 0 } }, clock })
  let ended = 0
  const begin = async () => {
    await eventWaits.until(USER, 0, 25_000, new IncomingMessage(new Socket()))
    ended += 1
  }
  return { clock, eventWaits, begin, ended: () => ended }
}

test('so many wait at a node, and one more is answered at once', async () => {
  const { clock, begin, ended } = waits()
  const waiting = Array.from({ length: WAITS_MAX }, begin)
  await clock.advance(10)
  assert.equal(ended(), 0)
  await begin()
  assert.equal(ended(), 1)
  await clock.advance(25_000)
  await Promise.all(waiting)
})

test('waits end when the service stops, and none begins any more', async () => {
  const { clock, eventWaits, begin, ended } = waits()
  const waiting = [begin(), begin()]
  await clock.advance(10)
  eventWaits.stop()
  await Promise.all(waiting)
  await begin()
  assert.equal(ended(), 3)
})

test('reads are written once an hour, with the number of each operation by each operator', async () => {
  const clock = new VirtualClock()
  const entries: AuditEntry[] = []
  const counts = new ReadCounts({ audit: { append: async entry => void entries.push(entry) }, clock, log: SILENT })
  for (const operation of ['readOverview', 'readOverview', 'listAudit']) counts.count('ada@host', operation)
  counts.count('ben@host', 'listAudit')
  await clock.advance(3_600_000)
  assert.deepEqual(
    entries.map(({ action, detail }) => [action, detail]),
    [
      ['operator.read', { by: 'ada@host', readOverview: 2, listAudit: 1 }],
      ['operator.read', { by: 'ben@host', listAudit: 1 }]
    ]
  )
})

test('wrong keys of one address are looked up at most as often as it may fail', async () => {
  let looked = 0
  const attempts = new FailedAttempts({ perSecond: 0.2, burst: 20 }, () => 0)
  const operators = {
    async useKey() {
      looked += 1
      return null
    }
  }
  const deps = { attempts: { key: attempts, lookUps: new Places() }, operators, hasher: { hash: (secret: string) => secret } }
  const codes = new Set<string>()
  for (let attempt = 0; attempt < 100; attempt++)
    await operatorOfKey(deps, `ok_${attempt}`, { ip: '192.0.2.7', requestId: 'r' }).catch(error => codes.add(error.code))
  assert.deepEqual([looked <= 21, [...codes].sort()], [true, ['credentials_invalid', 'rate_limited']])
})
