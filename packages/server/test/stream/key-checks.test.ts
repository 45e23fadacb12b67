import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { KeyChecks } from '../../src/stream/account/key-checks.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

test('the keys of sessions are compared with the stored ones within two seconds, each looked up once, and not while the store is away', async () => {
  const clock = new VirtualClock()
  const looked: string[] = []
  const store = { isAway: false }
  const lookup = {
    platform: async (clientId: string) => {
      if (store.isAway) throw new Error('the store is away')
      looked.push(clientId)
      return null
    }
  }
  const compared: string[] = []
  const session = (name: string, clientId: string | null) => ({ credentials: { clientId, compare: () => void compared.push(name) } })
  const sessions = [session('one', 'pk_1'), session('two', 'pk_2'), session('three', 'pk_1'), session('unauthenticated', null)]
  const checks = new KeyChecks({ lookup, clock, log: quiet }, () => sessions)
  await clock.advance(2_000)
  assert.deepEqual(looked, ['pk_1', 'pk_2'])
  assert.deepEqual(compared, ['one', 'three', 'two'])
  store.isAway = true
  await clock.advance(10_000)
  assert.equal(compared.length, 3)
  store.isAway = false
  await clock.advance(2_000)
  assert.ok(compared.length >= 6)
  await checks.stop()
})
