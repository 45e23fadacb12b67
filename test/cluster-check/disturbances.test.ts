// Which disturbances come: every one of them, some of them for long, and never none because of a wrong name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chance } from '@trunkline/testkit/crash/chance'
import { DISTURBANCES, disturbancesOf, unknownOf } from './disturbances.ts'

/** After so long without a word from NATS a node gives its connection up. */
const STALLED_MS = 5_000
/** A user may be without an owner for so long; then it is a finding. */
const OWNERLESS_MS = 10_000
const LEASE_MS = 3_000

test('a name that no disturbance has is refused', () => {
  assert.deepEqual(unknownOf(['kill', 'NATS', 'typo', '']), ['typo', ''])
  assert.deepEqual(unknownOf([]), [])
})

test('every disturbance comes, and some last for longer than a lease, than a stalled NATS, and than a user may have no owner', () => {
  const chance = new Chance(7)
  const played = Array.from({ length: 600 }, () => disturbancesOf(chance, [])).flat()
  assert.deepEqual(new Set(played.map(({ kind }) => kind)), new Set(DISTURBANCES))
  const longest = (part: string) => Math.max(...played.filter(({ title }) => title.includes(part)).map(({ holdMs }) => holdMs))
  assert.ok(longest('NATS held for all nodes') > STALLED_MS)
  assert.ok(longest('link with nats held') > STALLED_MS)
  assert.ok(longest('link with database held') > OWNERLESS_MS)
  assert.ok(longest('paused') > OWNERLESS_MS)
})

test('of those that keep a node from its users it is known which node', () => {
  const chance = new Chance(8)
  for (const { title, node, holdMs } of Array.from({ length: 300 }, () => disturbancesOf(chance, [])).flat()) {
    const isStruck = /killed|link with database (?!slow)/.test(title) || (title.includes('paused') && holdMs > LEASE_MS)
    assert.equal(node, isStruck ? Number(/node (\d)/.exec(title)?.[1]) : null, title)
  }
})
