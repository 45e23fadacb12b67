import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeId } from '@trunkline/core/domain/ids'
import type { Owner } from '@trunkline/core/ports/ownership'
import { userKey } from '@trunkline/testkit/bus-contract/index'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { DirectMessages } from '../../src/cluster/direct-messages.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const ownerAt = (name: string): Owner => ({ kind: 'other', node: { nodeId: name as NodeId, url: `http://${name}` } })

function stage(first: Owner) {
  const clock = new VirtualClock()
  const present = { owner: first, others: ['one', 'two'], dead: new Set<string>(), refused: '' }
  const taken: string[] = []
  const warned: string[] = []
  const messages = new DirectMessages({
    ownership: { ownerOf: () => present.owner, changed: ms => clock.sleep(ms) },
    others: () => present.others.map(nodeId => ({ nodeId: nodeId as NodeId, url: '' })),
    clock,
    log: { ...quiet, warn: (message: string) => void warned.push(message) },
    send: async ({ nodeId }, message) => {
      await clock.sleep(1)
      if (present.dead.has(nodeId)) throw new Error('the node does not answer')
      if (JSON.stringify(message) === present.refused) return 'refused'
      taken.push(`${nodeId} ${JSON.stringify(message)}`)
      return 'taken'
    }
  })
  return { clock, present, taken, warned, messages }
}

test('the owner is sent what happened to a user, in order, until it has taken it or another node is the owner', async () => {
  const { clock, present, taken, messages } = stage(ownerAt('one'))
  present.dead.add('one')
  for (const number of [1, 2, 3]) messages.toOwner(userKey(1), { number })
  await clock.advance(2_000)
  assert.deepEqual(taken, [])
  present.owner = { kind: 'none' }
  await clock.advance(2_000)
  present.owner = ownerAt('two')
  await clock.advance(2_000)
  assert.deepEqual(taken, ['two {"number":1}', 'two {"number":2}', 'two {"number":3}'])
  await messages.stop()
})

test('a message that a node of another version refuses is given up at once, and the next ones follow', async () => {
  const { clock, present, taken, messages } = stage(ownerAt('one'))
  present.refused = '{"number":1}'
  for (const number of [1, 2]) messages.toOwner(userKey(1), { number })
  await clock.advance(10)
  assert.deepEqual(taken, ['one {"number":2}'])
  await messages.stop()
})

test('a node sends itself nothing, and gives up after half a minute', async () => {
  const { clock, present, taken, messages } = stage({ kind: 'this' })
  messages.toOwner(userKey(1), {})
  present.owner = ownerAt('one')
  present.dead.add('one')
  messages.toOwner(userKey(1), { number: 1 })
  await clock.advance(31_000)
  present.dead.clear()
  await clock.advance(10_000)
  assert.deepEqual(taken, [])
  messages.toOwner(userKey(1), { number: 2 })
  await clock.advance(10)
  assert.deepEqual(taken, ['one {"number":2}'])
  await messages.stop()
})

test('every other node is sent what concerns a platform, and one that dies meanwhile is not waited for', async () => {
  const { clock, present, taken, messages } = stage({ kind: 'this' })
  present.dead.add('one')
  messages.toAll({ number: 1 })
  await clock.advance(1_000)
  assert.deepEqual(taken, ['two {"number":1}'])
  present.dead.clear()
  await clock.advance(1_000)
  assert.deepEqual(taken, ['two {"number":1}', 'one {"number":1}'])
  present.dead.add('one')
  messages.toAll({ number: 2 })
  await clock.advance(1_000)
  present.others = ['two']
  await clock.advance(1_000)
  await messages.stop()
  assert.deepEqual(taken.slice(2), ['two {"number":2}'])
})

test('messages that wait behind others are given up half a minute after they came', async () => {
  const { clock, present, taken, warned, messages } = stage(ownerAt('one'))
  present.dead.add('one')
  for (const number of [1, 2, 3]) messages.toOwner(userKey(1), { number })
  await clock.advance(29_000)
  messages.toOwner(userKey(1), { number: 4 })
  await clock.advance(2_000)
  assert.equal(warned.length, 3)
  present.dead.clear()
  await clock.advance(1_000)
  assert.deepEqual(taken, ['one {"number":4}'])
  await messages.stop()
})

test('beyond a bound messages are left to the bus, and the log says so once', async () => {
  const { clock, present, taken, warned, messages } = stage(ownerAt('one'))
  present.dead.add('one')
  for (let number = 0; number < 10_002; number += 1) messages.toOwner(userKey(number), { number })
  assert.deepEqual([warned.length, warned[0]?.startsWith('too many messages wait')], [1, true])
  present.dead.clear()
  await clock.advance(1_000)
  assert.equal(taken.length, 10_000)
  await messages.stop()
})
