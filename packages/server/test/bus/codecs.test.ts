import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { partitionOf } from '@trunkline/core/domain/partition'
import { MESSAGES, userKey } from '@trunkline/testkit/bus-contract/index'
import { TEST_HASHER } from '@trunkline/testkit/test-hasher'
import * as fc from 'fast-check'
import { Envelope } from '../../src/bus/envelope.ts'
import { identityOf, openBus } from '../../src/bus/index.ts'
import { decodeMessage, encodeMessage, isForNodes } from '../../src/bus/message-codec.ts'
import { decodeUpdates, encodeUpdates, type UserUpdate } from '../../src/bus/update-codec.ts'

const partition = partitionOf(userKey(7))
const fields = {
  userKey: fc.integer({ min: 0, max: 0xff }).map(high => userKey(high * 0x100 + 7)),
  seq: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
  topic: fc.constantFrom<UserUpdate['topic'][]>('orders', 'positions', 'balances'),
  frame: fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 }).map(bytes => Buffer.from(bytes)))
}
const update: fc.Arbitrary<UserUpdate> = fc.record(fields, { noNullPrototype: true })

test('updates are read as they were written, in order, those of one user that follow each other together', () => {
  fc.assert(
    fc.property(fc.array(update, { maxLength: 20 }), updates => {
      const users = decodeUpdates(encodeUpdates(updates), partition)
      assert.deepEqual(
        users?.flatMap(({ userKey: key, updates: of }) => of.map(each => ({ userKey: key, ...each }))),
        updates
      )
      users?.slice(1).forEach(({ userKey: key }, index) => {
        assert.notEqual(key, users[index]?.userKey)
      })
    })
  )
})

test('bytes that are cut, altered or of another partition never throw, and yield no update of another partition', () => {
  fc.assert(
    fc.property(fc.array(update, { maxLength: 4 }), fc.nat(), fc.nat(255), (updates, at, value) => {
      const bytes = encodeUpdates(updates)
      if (bytes.byteLength > 0) bytes[at % bytes.byteLength] = value
      const cut = bytes.subarray(0, at % (bytes.byteLength + 1))
      for (const each of [bytes, cut])
        for (const user of decodeUpdates(each, partition) ?? []) assert.equal(partitionOf(user.userKey), partition)
    })
  )
  assert.equal(decodeUpdates(encodeUpdates([{ userKey: userKey(8), seq: 1, topic: 'orders', frame: null }]), partition), null)
})

test('messages are read as they were written; any other JSON is not a message', () => {
  for (const message of MESSAGES)
    assert.deepEqual(isForNodes(message) && decodeMessage(encodeMessage(message, 7) ?? Buffer.alloc(0)), { ...message, number: 7 })
  fc.assert(fc.property(fc.json(), text => assert.equal(decodeMessage(Buffer.from(text)), null)))
  fc.assert(fc.property(fc.uint8Array(), bytes => assert.equal(decodeMessage(bytes), null)))
})

test('an envelope is opened by nodes with its key, for its subject, unless it is their own', () => {
  const { key, instance } = identityOf(TEST_HASHER)
  assert.match(instance, /^[0-9a-f]{16}$/)
  const [one, two] = [new Envelope(key, Buffer.alloc(8, 1)), new Envelope(key, Buffer.alloc(8, 2))]
  const sealed = one.seal('a.b', Buffer.from('body'))
  assert.deepEqual(two.open('a.b', sealed), { kind: 'message', publisher: '01'.repeat(8), body: Buffer.from('body') })
  assert.deepEqual(one.open('a.b', sealed), { kind: 'own' })
  assert.deepEqual(two.open('a.c', sealed), { kind: 'foreign' })
  for (let at = 0; at < sealed.byteLength; at += 1) {
    const altered = Uint8Array.from(sealed)
    altered[at] = (sealed[at] ?? 0) ^ 1
    assert.equal(two.open('a.b', altered).kind, 'foreign', `byte ${at}`)
    assert.equal(two.open('a.b', sealed.subarray(0, at)).kind, 'foreign')
  }
})

test('a node without NATS has the bus of a single process, and loads no client', async () => {
  const unused = () => {
    throw new Error('there is no other node')
  }
  const deps = { clock: Object({}), ids: Object({}), log: Object({}), encode: unused, findUser: unused, hasher: TEST_HASHER, name: 'node' }
  const { bus, between } = await openBus({ natsUrl: null, natsCredentials: null, natsCa: null }, deps)
  assert.ok(bus instanceof LocalBus)
  assert.equal(between, null)
  assert.deepEqual(
    Object.keys(createRequire(import.meta.url).cache).filter(path => path.includes('@nats-io')),
    []
  )
})
