// One user's flood, seen through the whole service: a store that answers one user only when it is let.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserKey } from '@trunkline/core/domain/ids'
import { parseUserId } from '@trunkline/core/domain/ids'
import { until } from '@trunkline/testkit/until'
import { withMethods } from '@trunkline/testkit/with-methods'
import { DEFAULT_LIMITS } from '../../src/http/index.ts'
import { openScene } from '../portal/support.ts'

const { working, waiting } = DEFAULT_LIMITS.underWay.user
const SURPLUS = 44

test('while one user’s requests hang in the store, its surplus is refused and another user is served at once [S43]', async () => {
  const stuck = new Set<UserKey>()
  const gate = Promise.withResolvers<void>()
  let inside = 0
  const env = { TRUNKLINE_RATE_LIMIT_USER: '100000', TRUNKLINE_RATE_LIMIT_PLATFORM: '100000' }
  await using scene = await openScene(
    {
      store: store =>
        withMethods(store, {
          connections: withMethods(store.connections, {
            async listByUser(userKey, status) {
              if (stuck.has(userKey)) {
                inside += 1
                await gate.promise
              }
              return store.connections.listByUser(userKey, status)
            }
          })
        })
    },
    env
  )
  for (const userId of ['flood', 'calm']) await scene.link(userId)
  const platform = await scene.store.platforms.findByClientId(scene.demo.client_id)
  assert.ok(platform !== null)
  const flood = await scene.store.users.find(platform.platform.platformId, parseUserId('flood'))
  assert.ok(flood !== null)
  stuck.add(flood.user.userKey)

  const statuses: number[] = []
  const ask = async (userId: string) => {
    const answer = await fetch(`${scene.url}/connections`, { headers: scene.as(userId) })
    await answer.body?.cancel()
    if (userId === 'flood') statuses.push(answer.status)
    if (answer.status === 429) assert.equal(answer.headers.get('retry-after'), '1')
    return answer.status
  }
  const requested = Array.from({ length: working + waiting + SURPLUS }, () => ask('flood'))
  await until(() => statuses.length >= SURPLUS, 'the surplus is refused')
  assert.deepEqual(new Set(statuses), new Set([429]))
  assert.equal(inside, working, 'no more than these reach the store')
  assert.equal(await ask('calm'), 200)
  gate.resolve()
  await Promise.all(requested)
  // On a slow machine some of those who wait have waited too long by now.
  assert.ok(statuses.filter(status => status === 200).length >= working)
})
