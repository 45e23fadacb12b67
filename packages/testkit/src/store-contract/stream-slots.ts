// Slots of stream sessions: never more than allowed over all nodes, and freed if they are not renewed.
import assert from 'node:assert/strict'
import type { KeyId, PlatformId } from '@trunkline/core/domain/ids'
import type { Store } from '@trunkline/core/ports/store'
import { assertRows, type DefineCase } from './harness.ts'
import * as make from './records.ts'

const LONG_MS = 3_600_000

export function streamSlotCases(contractCase: DefineCase): void {
  contractCase('S10', 'of fifty sessions that want one of ten slots at once over two nodes, ten get one', async ({ store, beside }) => {
    const [platformId, other] = [await platformIn(store), await platformIn(store)]
    const slots = Array.from({ length: 50 }, (_, index) => slot(platformId, index % 2 === 0 ? 'one' : 'two'))
    const taken = await Promise.all(slots.map((wanted, index) => (index % 2 === 0 ? store : beside).streamSlots.take(wanted, 10, LONG_MS)))
    assert.equal(taken.filter(Boolean).length, 10)
    assert.equal(await beside.streamSlots.take(slot(platformId), 10, LONG_MS), false)
    assert.equal(await store.streamSlots.take(slot(other), 1, LONG_MS), true, 'another platform has its own slots')

    const held = slots[taken.indexOf(true)]
    assert.ok(held !== undefined)
    await beside.streamSlots.release(held.sessionId)
    await beside.streamSlots.release(held.sessionId)
    assert.equal(await store.streamSlots.take(slot(platformId), 10, LONG_MS), true)
    assert.equal(await store.streamSlots.take(slot(platformId), 10, LONG_MS), false)
  })

  contractCase('S20', 'a session has one slot, however often it asks; a platform that never was has none', async ({ store }) => {
    const platformId = await platformIn(store)
    const own = slot(platformId)
    for (let times = 0; times < 3; times += 1) assert.equal(await store.streamSlots.take(own, 2, LONG_MS), true)
    assert.equal(await store.streamSlots.take(slot(platformId), 2, LONG_MS), true)
    assert.equal(await store.streamSlots.take(slot(platformId), 2, LONG_MS), false)
    assert.equal(await store.streamSlots.take(own, 2, LONG_MS), true)
    assert.equal(await store.streamSlots.take(slot(make.uuid()), 2, LONG_MS), false)
  })

  contractCase(
    'S25',
    'each key of a platform has its own slots; a key of another platform, or one that never was, has none',
    async ({ store }) => {
      const [platform, other] = [make.platform(), make.platform()]
      for (const each of [platform, other]) await store.platforms.create(each, make.hash(), make.audit())
      const key = make.key(platform)
      await store.platformKeys.create(key, make.hash(), make.audit())
      const take = (keyId?: KeyId, { platformId } = platform) => store.streamSlots.take(slot(platformId, 'n', keyId), 2, LONG_MS)
      assert.deepEqual([await take(), await take(), await take()], [true, true, false])
      assert.deepEqual([await take(key.keyId), await take(key.keyId), await take(key.keyId)], [true, true, false])
      assert.deepEqual([await take(make.uuid()), await take(key.keyId, other)], [false, false])
    }
  )

  contractCase(
    'S35',
    'slots that expired long ago are swept away by a node that renews its own, and those of others that are good stay',
    async ({ store, beside }) => {
      const [gone, late, good] = [
        slot(await platformIn(store), 'n35-gone'),
        slot(await platformIn(store), 'n35-late'),
        slot(await platformIn(store), 'n35-good')
      ]
      await store.streamSlots.take(good, 10, LONG_MS)
      await store.streamSlots.take(late, 10, 0)
      await store.streamSlots.take(gone, 10, -LONG_MS)
      await beside.streamSlots.renew('n35-other', LONG_MS)
      assert.deepEqual(await store.streamSlots.renew('n35-gone', LONG_MS), [])
      assert.deepEqual(await store.streamSlots.renew('n35-good', LONG_MS), [good.sessionId])
    }
  )

  contractCase('S30', 'a slot that expired is free, and its row goes with the next that is taken', async harness => {
    const { store } = harness
    const platformId = await platformIn(store)
    const [late, next] = [slot(platformId, 'n30'), slot(platformId, 'n30')]
    assert.equal(await store.streamSlots.take(late, 1, 0), true)
    assert.equal(await store.streamSlots.take(next, 1, LONG_MS), true)
    assert.deepEqual(await store.streamSlots.renew('n30', LONG_MS), [next.sessionId])
    await assertRows(harness, 'select session_id from stream_slots where platform_id = $1', [platformId], [{ session_id: next.sessionId }])
  })

  contractCase('S40', "renewing keeps the node's own slots, also expired ones that were not taken", async ({ store, beside }) => {
    const [platformId, other] = [await platformIn(store), await platformIn(store)]
    const mine = [slot(platformId, 'n40'), slot(other, 'n40')]
    for (const wanted of mine) assert.equal(await store.streamSlots.take(wanted, 1, 0), true)
    const foreign = slot(platformId, 'n41')
    assert.equal(await beside.streamSlots.take(foreign, 1, 0), true, 'the first slot had expired')
    assert.deepEqual(await store.streamSlots.renew('n40', LONG_MS), [mine[1]?.sessionId])
    assert.deepEqual(await store.streamSlots.renew('nobody', LONG_MS), [])
    assert.equal(await beside.streamSlots.take(slot(other), 1, LONG_MS), false, 'a renewed slot is held')
    assert.deepEqual(await beside.streamSlots.renew('n41', LONG_MS), [foreign.sessionId])
    assert.equal(await store.streamSlots.take(slot(platformId), 1, LONG_MS), false)
  })

  contractCase.sql(
    'S45',
    'a slot that lasts longer than any lease was written before the clock was set back, and is free',
    async harness => {
      const { store } = harness
      const platformId = await platformIn(store)
      const gone = slot(platformId, 'n45')
      assert.equal(await store.streamSlots.take(gone, 1, LONG_MS), true)
      assert.equal(await store.streamSlots.take(slot(platformId), 1, LONG_MS), false)
      await harness.sql(`update stream_slots set expires_at = expires_at + interval '1 day' where session_id = $1`, [gone.sessionId])
      assert.equal(await store.streamSlots.take(slot(platformId), 1, LONG_MS), true)
    }
  )

  contractCase('S50', 'taking and renewing at the same time end, and never give more slots than there are', async ({ store, beside }) => {
    const platforms = await Promise.all(Array.from({ length: 4 }, () => platformIn(store)))
    const rounds = Array.from({ length: 40 }, async (_, round) => {
      const node = round % 2 === 0 ? store : beside
      if (round % 5 === 0) await node.streamSlots.renew(`n5${round % 2}`, LONG_MS)
      return await Promise.all(
        platforms.map(async platformId => {
          const wanted = slot(platformId, `n5${round % 2}`)
          const taken = await node.streamSlots.take(wanted, 3, round < 10 ? 0 : LONG_MS)
          return taken ? [wanted.sessionId] : []
        })
      )
    })
    await Promise.all(rounds)
    for (const platformId of platforms) {
      const fresh = await Promise.all(Array.from({ length: 5 }, () => store.streamSlots.take(slot(platformId), 3, LONG_MS)))
      assert.ok(fresh.filter(Boolean).length <= 3)
      assert.equal(await beside.streamSlots.take(slot(platformId), 3, LONG_MS), false)
    }
    const held = [...(await store.streamSlots.renew('n50', LONG_MS)), ...(await store.streamSlots.renew('n51', LONG_MS))]
    assert.equal(new Set(held).size, held.length)
    assert.ok(held.length <= 3 * platforms.length)
  })
}

function slot(platformId: PlatformId, nodeId = 'n', keyId?: KeyId) {
  return make.slot({ platformId }, nodeId, keyId)
}

async function platformIn(store: Store): Promise<PlatformId> {
  const platform = make.platform()
  await store.platforms.create(platform, make.hash(), make.audit())
  return platform.platformId
}
