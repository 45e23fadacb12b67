// A market data session stands on the key that its token was had with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { KnownToken } from '@trunkline/core/ports/store'
import { afterMicrotasks } from '@trunkline/testkit/after-microtasks'
import { Node } from './node.ts'

test('sessions end with the key their token was had with, and with its replaced secret', async () => {
  const node = new Node()
  const { client } = await node.authenticated()
  const change = async (more: Partial<KnownToken> | null) => {
    const token = node.tokens.get('token')
    assert.ok(token !== undefined)
    if (more === null) node.tokens.delete('token')
    else node.tokens.set('token', { ...token, ...more })
    node.bus.publish(Object({ type: 'platform_secret_changed', platformId: 'platform' }))
    await node.stage.clock.settled()
  }
  const inMs = (ms: number) => timestampOfMs(epochMs(node.stage.clock.now()) + ms)
  await change({ keyEndsAt: inMs(3_600_000) })
  await node.stage.clock.advance(3_600_000 - 1)
  assert.equal(client.closed, null)
  await node.stage.clock.advance(60_000)
  assert.deepEqual([client.closed, client.messages.at(-1)?.error_code], [4003, 'auth_error'])

  const late = node.open()
  late.use('token')
  await node.stage.clock.settled()
  assert.equal(late.client.messages.at(-1)?.error_code, 'auth_error')

  const again = await node.authenticated()
  await change(null)
  assert.deepEqual([again.client.closed, again.client.messages.at(-1)?.error_code], [4003, 'auth_error'])
})

test('a key or platform that is disabled in any moment while a token is used opens nothing', async () => {
  for (const keyId of ['key', null])
    for (let moment = 0; moment < 12; moment += 1) {
      const node = new Node()
      node.issue('token', 1)
      const { client, use } = node.open()
      node.looking = async () => {
        node.looking = async () => undefined
        afterMicrotasks(moment, () => {
          node.tokens.delete('token')
          node.bus.publish(Object({ type: 'platform_access_ended', platformId: 'platform', keyId }))
        })
      }
      use('token')
      await node.stage.clock.settled()
      assert.equal(client.messages.at(-1)?.error_code, 'auth_error', `${moment} microtasks after the look`)
    }
})
