// A node that joins others owns nothing while it is cold, and then gets its share in small groups.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NodeId } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS } from '@trunkline/core/domain/partition'
import * as make from '@trunkline/testkit/store-contract/records'
import type { MemberRow } from '../../../src/cluster/members/messages.ts'
import { NEWCOMER, planOf } from '../../../src/cluster/members/plan.ts'
import { division } from '../../../src/cluster/members/rendezvous.ts'
import { Unclaimed } from '../../../src/cluster/members/unclaimed.ts'
import { Scene, SceneDatabase } from './scene.ts'

const database = await SceneDatabase.open()
after(() => database[Symbol.asyncDispose]())

const SOON_MS = 1_000

test('a node that joins others owns nothing at first, then a few partitions at a time, and each moves once', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(10_000)
  const c = await scene.join('c')
  await scene.clock.advance(NEWCOMER.warmMs - SOON_MS)
  assert.equal(c.owned.length, 0)
  await scene.clock.advance(NEWCOMER.growMs + 2 * SOON_MS)
  const shares = division([a.nodeId, b.nodeId, c.nodeId])
  assert.deepEqual(
    (await scene.partitions()).map(({ owner }) => owner),
    ALL_PARTITIONS.map(partition => shares.get(partition))
  )
  const groups = Map.groupBy(c.gains, ({ atMs }) => atMs)
  assert.ok(Math.max(...[...groups.values()].map(group => group.length)) <= 32, 'not many at once')
  assert.ok(groups.size > 4, 'not all at once')
  assert.deepEqual([c.gains.length, c.releases.length], [c.owned.length, 0])
  await scene.check()
})

test('a node that has just joined takes everything at once when no other node can', async () => {
  await using scene = await Scene.open(database)
  const a = await scene.join('a')
  await scene.clock.advance(10_000)
  const b = await scene.join('b')
  await scene.clock.advance(100)
  assert.equal(b.owned.length, 0)
  let isDrained = false
  void a.member.drain().then(() => {
    isDrained = true
  })
  await scene.clock.until(() => isDrained && b.owned.length === 256, 'the other one has everything', 2_000)
  const c = await scene.join('c')
  await scene.clock.advance(SOON_MS / 10)
  b.kill()
  await scene.clock.until(() => c.owned.length === 256, 'the last one has everything', 4_000)
  await scene.check()
})

test('a node that is drained gives its partitions away in groups, with time between them for what their users wait for', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  const before = b.gains.length
  void a.member.drain()
  await scene.clock.until(() => b.owned.length === 256, 'the other one has everything', 2_000)
  const groups = [...Map.groupBy(b.gains.slice(before), ({ atMs }) => atMs)]
  for (const [index, [atMs, group]] of groups.entries()) {
    assert.ok(group.length <= 16)
    assert.ok(index === 0 || atMs - (groups[index - 1]?.[0] ?? 0) >= 90, `group ${index}`)
  }
})

test('a node that has just joined takes nothing of what another one gives away meanwhile', async () => {
  await using scene = await Scene.open(database, { latencyMs: () => 5 })
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(10_000)
  const c = await scene.join('c')
  let isDrained = false
  void b.member.drain().then(() => {
    isDrained = true
  })
  await scene.clock.until(() => isDrained && a.owned.length === 256, 'the old one has everything', NEWCOMER.warmMs)
  assert.deepEqual(c.gains, [])
})

test('what a node of an earlier version releases for a newcomer is claimed by it after a while, and not given back', () => {
  const [old, young] = [make.uuid<NodeId>(), make.uuid<NodeId>()]
  const member = (nodeId: NodeId, joinedMs: number): MemberRow => ({
    ...{ nodeId, joinedMs, url: 'http://n', name: 'n', renewals: 1, isDraining: false, leaseMs: 3_000 }
  })
  const members = [member(old, 60_000), member(young, 1)]
  const share = ALL_PARTITIONS.filter(partition => division([old, young]).get(partition) === young)
  const fences = ALL_PARTITIONS.map(() => 1)
  const seen = new Unclaimed()
  let nowMs = 0
  const planFor = (nodeId: NodeId, owner: NodeId | null) => {
    const owners = ALL_PARTITIONS.map(partition => (share.includes(partition) ? owner : old))
    return planOf({ view: { members, owners, fences }, nodeId, leaseMs: 3_000, silent: [], unclaimed: seen.observe({ owners }, nowMs) })
  }
  assert.deepEqual(planFor(young, old), { claim: [], give: [] })
  assert.deepEqual(planFor(old, old), { claim: [], give: [] })
  assert.deepEqual(planFor(young, null), { claim: [], give: [] })
  nowMs = 399
  assert.deepEqual(planFor(young, null), { claim: [], give: [] })
  nowMs = 400
  assert.deepEqual(planFor(young, null), { claim: share, give: [] })
  assert.deepEqual(planFor(young, young), { claim: [], give: [] })
})
