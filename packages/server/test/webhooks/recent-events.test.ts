import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { RecentEvents } from '../../src/webhooks/recent-events.ts'
import { WebhookWorld } from './webhook-world.ts'

/** Events of one user from 1 on. */
async function events(count: number): Promise<{ readonly userKey: UserKey; readonly all: readonly LoggedEvent[] }> {
  const world = new WebhookWorld()
  const userKey = world.addUser()
  for (let at = 0; at < count; at++) world.commit(userKey)
  return { userKey, all: await world.store.events.read(userKey, 0, count) }
}

const seqs = (found: readonly LoggedEvent[] | null) => found?.map(({ seq }) => seq) ?? null

test('what follows is at hand, if nothing is missing before it', async () => {
  const { userKey, all } = await events(9)
  const recent = new RecentEvents()
  recent.add(userKey, all.slice(1, 4))
  assert.deepEqual(seqs(recent.after(userKey, 1, 100)), [2, 3, 4])
  assert.deepEqual(seqs(recent.after(userKey, 2, 1)), [3])
  assert.equal(recent.after(userKey, 0, 100), null)
  assert.equal(recent.after(userKey, 4, 100), null)
  recent.add(userKey, all.slice(2, 5))
  assert.deepEqual(seqs(recent.after(userKey, 1, 100)), [2, 3, 4, 5])
  recent.add(userKey, all.slice(6))
  assert.equal(recent.after(userKey, 4, 100), null)
  assert.deepEqual(seqs(recent.after(userKey, 6, 100)), [7, 8, 9])
})

test('it is forgotten after two generations without more, and of a user the newest 100 are kept', async () => {
  const { userKey, all } = await events(250)
  const recent = new RecentEvents()
  recent.add(userKey, all.slice(0, 3))
  recent.age()
  recent.add(userKey, all.slice(3, 4))
  recent.age()
  assert.deepEqual(seqs(recent.after(userKey, 0, 100)), [1, 2, 3, 4])
  recent.age()
  assert.equal(recent.after(userKey, 0, 100), null)
  recent.add(userKey, all)
  assert.equal(recent.after(userKey, 149, 100), null)
  assert.equal(recent.after(userKey, 150, 200)?.length, 100)
})

test('what is held is bounded, and the newest is kept', async () => {
  const { all } = await events(1)
  const [event] = all
  assert.ok(event)
  const recent = new RecentEvents()
  const world = new WebhookWorld()
  const users = Array.from({ length: 10_000 }, () => world.addUser())
  for (const userKey of users) recent.add(userKey, [event])
  const held = users.filter(userKey => recent.after(userKey, 0, 1) !== null)
  assert.ok(held.length >= 2_000 && held.length <= 4_000, `${held.length} are held`)
  assert.equal(held.at(-1), users.at(-1))
})
