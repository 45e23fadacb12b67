// Nodes as members of a cluster, on a real PostgreSQL: who owns what, and when.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ALL_PARTITIONS, type Partition } from '@trunkline/core/domain/partition'
import { division } from '../../../src/cluster/members/rendezvous.ts'
import { Scene, SceneDatabase, type SceneNode, userOf } from './scene.ts'

const database = await SceneDatabase.open()
after(() => database[Symbol.asyncDispose]())

test('one node owns all partitions; a second one gets its share at once, and no other partition moves', async () => {
  await using scene = await Scene.open(database)
  const a = await scene.join('a')
  await scene.clock.advance(20)
  assert.equal(a.owned.length, 256)
  const b = await scene.join('b')
  await scene.clock.advance(100)
  const shares = division([a.nodeId, b.nodeId])
  assert.deepEqual(
    (await scene.partitions()).map(({ owner }) => owner),
    [...shares.values()]
  )
  assert.equal(a.owned.length + b.owned.length, 256)
  assert.ok((await scene.partitions()).every(({ fence, owner }) => fence === (owner === a.nodeId ? 1 : 2)))
  await scene.check()
})

test('the partitions of a killed node are taken over when its lease has ended, and not before', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  const share = b.owned.length
  b.kill()
  // The lease of a dead node ends by the database's clock.
  const [row] = await scene.query<{ ms: number }>(
    `select extract(epoch from lease_ends_at - clock_timestamp())::float8 * 1000 as ms from members where node_id = $1`,
    [b.nodeId]
  )
  const leftMs = row?.ms ?? 0
  assert.ok(leftMs > 2_000 && leftMs <= 3_000)
  await scene.clock.advance(leftMs - 1)
  assert.equal((await scene.shares()).b, share)
  await scene.clock.advance(20)
  assert.deepEqual(await scene.shares(), { a: 256, b: 0 })
  assert.equal(a.owned.length, 256)
})

test('a node that was paused past its lease owns nothing when it wakes, cannot renew, and ends', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  b.pause()
  await scene.clock.advance(60_000)
  assert.deepEqual(await scene.shares(), { a: 256, b: 0 })
  b.resume()
  assert.equal(b.owned.length, 0, 'before it has done anything')
  await scene.clock.advance(10)
  assert.match(b.lost ?? '', /could not be renewed in time/)
  assert.deepEqual(await scene.shares(), { a: 256, b: 0 })
  assert.equal(a.owned.length, 256)
})

test('the database refuses to renew a lease that has ended, and to let its node claim', async () => {
  await using scene = await Scene.open(database)
  const nodeId = '0192f0c1-7a3e-7b52-9c1d-00000000aaaa'
  await scene.query(`select join_members($1, 'http://x', 'x', interval '3 seconds')`, [nodeId])
  const renewed = () => scene.query(`select renew_lease($1, interval '3 seconds') as is`, [nodeId])
  const claimed = () =>
    scene.query<{ count: number }>(`select claim_partitions($1, array[7], array[]::uuid[], array[]::bigint[]) as count`, [nodeId])
  await scene.clock.advance(2_999)
  assert.deepEqual(await renewed(), [{ is: true }])
  assert.deepEqual(await claimed(), [{ count: 1 }])
  await scene.clock.advance(3_000)
  assert.deepEqual(await renewed(), [{ is: false }])
  assert.deepEqual(await scene.query(`select claim_partitions($1, array[8], array[]::uuid[], array[]::bigint[]) as count`, [nodeId]), [
    { count: 0 }
  ])
})

test('what is released is owned by another well within half a second, also when the work for it does not end', async () => {
  for (const [releaseMs, limitMs] of [
    [50, 60],
    [60_000, 410]
  ] as const) {
    await using scene = await Scene.open(database, { releaseMs: () => releaseMs })
    const a = await scene.join('a')
    await scene.clock.advance(20)
    const b = scene.add('b')
    const share = () => [...division([a.nodeId, b.nodeId]).values()].filter(id => id === b.nodeId).length
    /** For how long each partition has been without an owner. */
    const waitingMs = new Map<Partition, number>()
    let [longestMs, most] = [0, 0]
    for (let ms = 0; ms < 4_000 && b.owned.length < share(); ms += 1) {
      await scene.clock.advance(1)
      const owned = new Set([...a.owned, ...b.owned])
      for (const partition of ALL_PARTITIONS) waitingMs.set(partition, owned.has(partition) ? 0 : (waitingMs.get(partition) ?? 0) + 1)
      longestMs = Math.max(longestMs, ...waitingMs.values())
      most = Math.max(most, 256 - owned.size)
    }
    assert.equal(b.owned.length, share())
    assert.ok(longestMs <= limitMs, `${longestMs} ms`)
    assert.ok(most <= 32, `${most} partitions at once`)
    await scene.check()
  }
})

test('a node that is drained gives everything away, and may then leave; the others have its partitions', async () => {
  await using scene = await Scene.open(database, { releaseMs: () => 20 })
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  let isDrained = false
  void b.member.drain().then(() => {
    isDrained = true
  })
  await scene.clock.until(() => isDrained, 'it is drained', 2_000)
  assert.deepEqual(await scene.shares(), { a: 256, b: 0 })
  await scene.clock.advance(3_000)
  assert.deepEqual(await scene.shares(), { a: 256, b: 0 }, 'it takes none any more')
  await b.member.stop()
  assert.equal(b.lost, null)
  assert.deepEqual(a.member.members.length, 2)
  await scene.clock.advance(10)
  assert.deepEqual(
    a.member.members.map(({ name }) => name),
    ['a']
  )
  // The last one has nobody to give to.
  let isEmpty = false
  void a.member.drain().then(() => {
    isEmpty = true
  })
  await scene.clock.until(() => isEmpty, 'the last one is drained', 5_000)
  assert.deepEqual(await scene.shares(), { a: 0, b: 0 })
})

test('a node that is stopped without being drained leaves its partitions free at once', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  await b.member.stop()
  await scene.clock.advance(5)
  assert.equal(a.owned.length, 256)
  assert.equal(b.lost, null)
})

test('a node cut from the database reports the loss before its lease ends there', async () => {
  await using scene = await Scene.open(database)
  const [, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_234)
  b.isCut = true
  const [row] = await scene.query<{ ms: number }>(
    `select extract(epoch from lease_ends_at - clock_timestamp())::float8 * 1000 as ms from members where node_id = $1`,
    [b.nodeId]
  )
  const endsAtMs = scene.clock.monotonicMs() + (row?.ms ?? 0)
  await scene.clock.advance(4_000)
  assert.ok(b.lostAtMs !== null && b.lostAtMs <= endsAtMs - 300, `${b.lostAtMs} and ${endsAtMs}`)
  assert.equal(b.owned.length, 0)
})

test('a database that does not answer for a second and a half, or restarts within two, costs no lease', async () => {
  await using scene = await Scene.open(database)
  const nodes = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  const before = await scene.partitions()
  const away = async (change: (node: SceneNode, isAway: boolean) => void, ms: number) => {
    for (const node of nodes) change(node, true)
    await scene.clock.advance(ms)
    for (const node of nodes) change(node, false)
    await scene.clock.advance(3_000)
    for (const { lost } of nodes) assert.equal(lost, null)
    assert.deepEqual(await scene.partitions(), before)
  }
  await away((node, isAway) => Object.assign(node, { isCut: isAway }), 1_500)
  // Whenever it goes between two renewals.
  for (let phase = 0; phase < 6; phase += 1) {
    await scene.clock.advance(90)
    await away((node, isAway) => Object.assign(node, { isRefused: isAway }), 2_000)
  }
})

test('announcements may all be lost: nodes look twice a second', async () => {
  await using scene = await Scene.open(database)
  const a = await scene.join('a')
  await scene.clock.advance(1_000)
  a.isAnnouncedTo = false
  const b = scene.add('b')
  b.isAnnouncedTo = false
  await scene.clock.until(() => b.owned.length > 32, 'some are handed over', 2_000)
  await scene.clock.until(
    () => b.owned.length === [...division([a.nodeId, b.nodeId]).values()].filter(id => id === b.nodeId).length,
    'all are',
    10_000
  )
  // A wake-up from elsewhere has the same effect as an announcement.
  void b.member.drain()
  await scene.clock.advance(1)
  assert.ok(a.owned.length < 200)
  a.member.suspect(b.nodeId)
  await scene.clock.advance(600)
})

test('other nodes are owners while their leases last, and unknown afterwards', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  const [partition] = b.owned
  assert.ok(partition !== undefined)
  const owner = () => a.member.ownerOf(userOf(partition))
  assert.deepEqual(owner(), { kind: 'other', node: { nodeId: b.nodeId, url: 'http://b' } })
  let changes = 0
  void a.member.changed(60_000).then(() => {
    changes += 1
  })
  b.kill()
  a.isCut = true
  await scene.clock.advance(2_400)
  assert.equal(owner().kind, 'other')
  await scene.clock.advance(700)
  assert.deepEqual(owner(), { kind: 'none' })
  assert.equal(changes, 1, 'the own lease has ended too')
})

test('a clock of the database that is set back delays no takeover; one that is set forward ends all nodes, and no write of theirs passes', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  b.kill()
  scene.skewMs = -300_000
  await scene.clock.advance(4_200)
  assert.deepEqual(await scene.shares(), { a: 256, b: 0 })
  assert.equal(a.lost, null)
  const [partition] = a.owned
  assert.ok(partition !== undefined)
  const fence = a.member.fenceOf(userOf(partition))
  scene.skewMs = 300_000
  const c = await scene.join('c')
  await scene.clock.advance(1_000)
  assert.match(a.lost ?? '', /by the clock of the database/)
  assert.deepEqual(await scene.shares(), { a: 0, b: 0, c: 256 })
  assert.deepEqual(await scene.query('select holds_fence($1, $2) as is', [partition, fence]), [{ is: false }])
  assert.equal(c.owned.length, 256)
})

test('a node whose main thread is blocked keeps its lease for some seconds, and then lets it end', async () => {
  await using scene = await Scene.open(database)
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  const share = b.owned.length
  b.blockMain()
  await scene.clock.advance(9_000)
  assert.equal((await scene.shares()).b, share)
  await scene.clock.advance(5_000)
  assert.deepEqual(await scene.shares(), { a: 256, b: 0 })
  b.unblockMain()
  await scene.clock.advance(10)
  assert.match(b.lost ?? '', /could not be renewed in time/)
  assert.equal(a.lost, null)
})

test('rows of dead members are removed after ten minutes', async () => {
  await using scene = await Scene.open(database)
  const [, b] = [await scene.join('a'), await scene.join('b')]
  b.kill()
  const count = async () => (await scene.query('select from members')).length
  const age = (by: string) =>
    scene.query(`update members set lease_ends_at = lease_ends_at - $2::interval where node_id = $1`, [b.nodeId, by])
  await scene.clock.advance(10_000)
  await age('9 minutes 40 seconds')
  await scene.clock.advance(1_000)
  assert.equal(await count(), 2)
  await age('20 seconds')
  await scene.clock.advance(1_000)
  assert.equal(await count(), 1)
})

test('a partition that is being written to is claimed again until it is free, ten times a second and not more', async () => {
  await using scene = await Scene.open(database)
  await using writer = await database.client()
  const [a, b] = [await scene.join('a'), await scene.join('b')]
  await scene.clock.advance(1_000)
  const [partition] = b.owned
  assert.ok(partition !== undefined)
  await writer.query('begin')
  await writer.query('select holds_fence($1, $2)', [partition, b.member.fenceOf(userOf(partition))])
  b.kill()
  await scene.clock.advance(3_010)
  assert.equal(a.owned.length, 255)
  const before = a.claims
  await scene.clock.advance(1_000)
  assert.ok(a.claims - before >= 5 && a.claims - before <= 10, `${a.claims - before} claims in a second`)
  await writer.query('commit')
  await scene.clock.advance(110)
  assert.equal(a.owned.length, 256)
})
