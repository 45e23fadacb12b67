/** What a bus between nodes must survive: other clients, servers that end, freeze or lose everything, and messages that are too long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '@nats-io/transport-node'
import { partitionOf } from '@trunkline/core/domain/partition'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { eventOf, MESSAGES, userId, userKey } from '@trunkline/testkit/bus-contract/index'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { until } from '@trunkline/testkit/until'
import { Envelope } from '../../src/bus/envelope.ts'
import type { NatsBus } from '../../src/bus/nats-bus.ts'
import { keyOf, natsBus, QUICK, settled, startNode, threeNodes } from './stage.ts'

const removed = (number: number): BusMessage => ({ type: 'user_removed', userKey: userKey(number) })
const numbers = (messages: readonly BusMessage[]) =>
  messages.map(message => ('userKey' in message ? Number.parseInt(message.userKey.slice(-4), 16) : null))

function resumedBy(bus: NatsBus): () => number {
  const messages: BusMessage[] = []
  bus.subscribe(message => void messages.push(message), ['bus_resumed'])
  return () => messages.length
}

test('two installations on one server get none of each other’s messages', async () => {
  await using server = await NatsServer.start()
  await using one = await startNode(server)
  await using two = await startNode(server, { instance: 'two', key: keyOf('two') })
  await using other = await startNode(server, { instance: 'two', key: keyOf('two') })
  one.bus.follow(userKey(1))
  two.bus.follow(userKey(1))
  await settled([one, two, other])
  for (const { bus } of [one, other]) {
    bus.publish(removed(1))
    bus.publish({ type: 'events', userKey: userKey(1), events: [eventOf(userKey(1), 1)] })
  }
  await settled([one, two, other])
  assert.deepEqual(
    one.received.map(({ type }) => type),
    ['user_removed', 'events']
  )
  assert.deepEqual(
    two.received.map(({ type }) => type),
    ['user_removed', 'update_frames']
  )
})

test('what is not made by a node of the installation is dropped and counted', async () => {
  await using server = await NatsServer.start()
  await using node = await startNode(server)
  node.bus.follow(userKey(1))
  await settled([node])
  const outsider = await connect({ servers: `127.0.0.1:${server.port}` })
  const [messages, updates] = ['trunkline.one.messages', `trunkline.one.updates.${partitionOf(userKey(1))}`]
  const genuine = new Envelope(keyOf('one'), Buffer.alloc(8, 7))
  const forged = new Envelope(keyOf('two'), Buffer.alloc(8, 7))
  const body = Buffer.from(JSON.stringify({ ...removed(1), number: 1 }))
  const altered = Buffer.from(genuine.seal(messages, body))
  altered[altered.byteLength - 3] = 0x7a
  const bad: readonly (readonly [string, Uint8Array])[] = [
    [messages, new Uint8Array()],
    [messages, new Uint8Array(24)],
    [messages, body],
    [messages, forged.seal(messages, body)],
    [messages, genuine.seal(updates, body)],
    [messages, altered],
    ...['', '{', '[]', 'null', '{"type":"user_removed"}', '{"type":"events","userKey":"x","events":[]}', '"\ud800'].map(
      text => [messages, genuine.seal(messages, Buffer.from(text))] as const
    ),
    [messages, genuine.seal(messages, Buffer.from([0xff, 0xfe]))],
    [messages, genuine.seal(messages, Buffer.from(JSON.stringify({ type: 'user_removed', userKey: 'x' })))],
    [messages, genuine.seal(messages, Buffer.from(JSON.stringify({ type: 'bus_resumed' })))],
    [messages, genuine.seal(messages, Buffer.from(JSON.stringify({ type: 'toString' })))],
    [messages, genuine.seal(messages, Buffer.from(`${'['.repeat(5_000)}`))],
    [messages, genuine.seal(messages, Buffer.alloc(20_000, 0x20))],
    [updates, genuine.seal(updates, Buffer.alloc(26, 1))],
    [updates, genuine.seal(updates, Buffer.alloc(27, 0xff))]
  ]
  for (const [subject, data] of bad) outsider.publish(subject, data)
  outsider.publish(messages, genuine.seal(messages, body))
  await outsider.flush()
  await settled([node])
  assert.deepEqual(node.received, [removed(1)])
  assert.equal(node.bus.dropped('malformed'), bad.length)
  assert.equal(node.bus.dropped('unknown'), 0)
  await outsider.close()
})

test('recorded messages that are played back are dropped and counted, and so are those without a number', async () => {
  await using server = await NatsServer.start()
  await using one = await startNode(server)
  await using two = await startNode(server)
  const eavesdropper = await connect({ servers: `127.0.0.1:${server.port}` })
  const subject = 'trunkline.one.messages'
  const recorded: Uint8Array[] = []
  const recording = eavesdropper.subscribe(subject, { callback: (_, { data }) => void recorded.push(data.slice()) })
  await eavesdropper.flush()
  for (const number of [1, 2, 3]) one.bus.publish(removed(number))
  await settled([one, two])
  await eavesdropper.flush()
  recording.unsubscribe()
  assert.equal(recorded.length, 3)
  for (const data of [...recorded, ...recorded]) eavesdropper.publish(subject, data)
  const withoutNumber = JSON.stringify(removed(4))
  eavesdropper.publish(subject, new Envelope(keyOf('one'), Buffer.alloc(8, 7)).seal(subject, Buffer.from(withoutNumber)))
  await eavesdropper.flush()
  await settled([one, two])
  assert.deepEqual(numbers(two.received), [1, 2, 3])
  assert.equal(two.bus.dropped('repeated'), 7)

  // A node that starts meanwhile has not received them: each is taken once, and none after a later one.
  await using late = await startNode(server)
  for (const data of [...recorded, ...recorded]) eavesdropper.publish(subject, data)
  await eavesdropper.flush()
  // The publisher's next one has another way, and must not come before them.
  await settled([late])
  one.bus.publish(removed(5))
  await settled([one, late])
  for (const data of recorded) eavesdropper.publish(subject, data)
  await eavesdropper.flush()
  await settled([late])
  assert.deepEqual(numbers(late.received).sort(), [1, 2, 3, 5])
  await eavesdropper.close()
})

test('a newer node’s messages of an unknown kind are ignored, and so are unknown fields, on either way', async () => {
  await using server = await NatsServer.start()
  await using node = await startNode(server)
  await settled([node])
  const newer = await connect({ servers: `127.0.0.1:${server.port}` })
  const subject = 'trunkline.one.messages'
  const envelope = new Envelope(keyOf('one'), Buffer.alloc(8, 7))
  const sent = [
    { type: 'user_renamed', userKey: userKey(1), name: { of: ['any', 'form'] } },
    { ...removed(2), more: { of: [1] }, number: 1 },
    { ...removed(3), number: 2 }
  ]
  for (const message of sent) newer.publish(subject, envelope.seal(subject, Buffer.from(JSON.stringify(message))))
  await newer.flush()
  await settled([node])
  for (const message of sent) node.bus.receive(message)
  assert.deepEqual(numbers(node.received), [2, 3, 2, 3])
  assert.equal(node.bus.dropped('unknown'), 2)
  assert.equal(node.bus.dropped('malformed'), 0)
  await newer.close()
})

test('a server that is killed and comes back, without its memory, is connected to again, and nothing throws', async () => {
  await using server = await NatsServer.start()
  await using one = await startNode(server)
  await using two = await startNode(server)
  two.bus.follow(userKey(1))
  await settled([one, two])
  const [resumed, followed] = [resumedBy(two.bus), [] as BusMessage[]]
  two.bus.subscribe(message => void followed.push(message), ['partitions_followed'])
  for (let round = 1; round <= 3; round += 1) {
    await server.kill()
    await until(() => !one.bus.isConnected && !two.bus.isConnected, 'both noticed')
    one.bus.publish(removed(100 + round))
    one.bus.publish({ type: 'events', userKey: userKey(1), events: [eventOf(userKey(1), round)] })
    assert.equal(one.received.length, 4 * (round - 1) + 2, 'this node’s own listeners go on')
    await server.restart()
    await until(() => one.bus.isConnected && resumed() === round, 'both were connected')
    await settled([one, two])
    one.bus.publish(removed(round))
    one.bus.publish({ type: 'events', userKey: userKey(1), events: [eventOf(userKey(1), 10 * round)] })
    await settled([one, two])
  }
  assert.deepEqual(numbers(two.received), [1, 1, 2, 1, 3, 1])
  assert.equal(two.bus.reconnects, 3)
  assert.equal(one.bus.dropped('disconnected'), 6)
  assert.deepEqual(
    followed,
    Array.from({ length: 3 }, () => ({ type: 'partitions_followed', partitions: new Set([partitionOf(userKey(1))]) }))
  )
})

test('a frozen server delays nothing, takes a bounded amount of memory, and is left', async () => {
  await using server = await NatsServer.start()
  const limits = { ...QUICK, unconfirmedBytes: 200_000, confirmBytes: 50_000 }
  await using one = await startNode(server, { limits }, { encode: () => Buffer.alloc(10_000) })
  await using two = await startNode(server)
  const resumed = resumedBy(one.bus)
  server.pause()
  // More than every buffer of the system between the two holds.
  const long = eventOf(userKey(1), 1)
  one.bus.publish({ type: 'events', userKey: userKey(1), events: [long] })
  await until(() => {
    for (let count = 0; count < 100; count += 1) one.bus.publish({ type: 'events', userKey: userKey(1), events: [long] })
    return one.bus.dropped('full') > 100
  }, 'the bound was reached')
  await until(() => !one.bus.isConnected, 'the server was left')
  one.bus.publish(removed(1))
  assert.ok(one.bus.dropped('disconnected') > 0)
  server.resume()
  await until(() => resumed() > 0, 'it was connected again')
  await until(() => two.bus.isConnected, 'the other too')
  await settled([one, two])
  one.bus.publish(removed(2))
  await settled([one, two])
  assert.equal(numbers(two.received).at(-1), 2)
})

test('a node starts, works and stops without NATS, and connects once there is one', async () => {
  await using server = await NatsServer.start()
  await server.kill()
  await using bus = natsBus(server)
  const resumed = resumedBy(bus)
  bus.start()
  bus.publish(removed(1))
  bus.follow(userKey(1))
  assert.equal(bus.dropped('disconnected'), 1)
  await server.restart()
  await until(() => resumed() === 1, 'it was connected')
  await bus[Symbol.asyncDispose]()
  assert.equal(bus.isConnected, false)
  bus.publish(removed(1))
  await server.kill()
  await using alone = natsBus(server)
  alone.start()
})

test('an update that is too long, or whose user is not known yet, is sent as a number to read from the log', async () => {
  await using server = await NatsServer.start()
  const user = Promise.withResolvers<{ userId: ReturnType<typeof userId> }>()
  const bytesOf = ({ seq }: { readonly seq: number }) => Buffer.alloc(seq === 3 ? 300_000 : 10, seq)
  await using one = await startNode(server, {}, { findUser: () => user.promise, encode: bytesOf })
  await using two = await startNode(server)
  two.bus.follow(userKey(1))
  await settled([one, two])
  const publish = async (seq: number) => {
    one.bus.publish({ type: 'events', userKey: userKey(1), events: [eventOf(userKey(1), seq)] })
    await settled([one, two])
  }
  await publish(1)
  user.resolve({ userId: userId(userKey(1)) })
  await new Promise(setImmediate)
  await publish(2)
  await publish(3)
  const updates = two.received.flatMap(message => (message.type === 'update_frames' ? message.updates : []))
  assert.deepEqual(updates, [
    { seq: 1, topic: 'positions', frame: null },
    { seq: 2, topic: 'positions', frame: Buffer.alloc(10, 2) },
    { seq: 3, topic: 'positions', frame: null }
  ])
  one.bus.publish({ type: 'secret_issued', of: 'key', name: 'x'.repeat(20_000), secretHash: 'ab'.repeat(32) })
  assert.equal(one.bus.dropped('refused'), 1)
})

test('the updates of one turn of the event loop are one message for each partition', async () => {
  await using harness = await threeNodes()
  const { nodes, server } = harness
  nodes[1].bus.follow(userKey(1))
  await harness.settled()
  const observer = await connect({ servers: `127.0.0.1:${server.port}` })
  const subjects: string[] = []
  observer.subscribe('trunkline.>', { callback: (_, { subject }) => void subjects.push(subject) })
  await observer.flush()
  for (let seq = 1; seq <= 20; seq += 1)
    for (const key of [userKey(1), userKey(2), userKey(0x101)])
      nodes[0].bus.publish({ type: 'events', userKey: key, events: [eventOf(key, seq)] })
  await new Promise(setImmediate)
  await harness.settled()
  await observer.flush()
  assert.deepEqual(subjects, ['trunkline.one.updates.1', 'trunkline.one.updates.2'])
  await observer.close()
})

test('the server’s user, password and token are used, and never logged', async () => {
  const logged: string[] = []
  const note = (message: string, fields?: object) =>
    void logged.push(
      message,
      JSON.stringify(fields, (_, value) => (value instanceof Error ? `${value.stack} ${JSON.stringify(value)} ${value.cause}` : value))
    )
  const log = { debug: note, info: note, warn: note, error: note }
  for (const [args, good, bad] of [
    [['--user', 'node', '--pass', 'canary pass'], 'node:canary%20pass@', 'node:canary-wrong@'],
    [['--auth', 'canary-token'], 'canary-token@', 'canary-wrong@']
  ] as const) {
    await using server = await NatsServer.start(args)
    const at = (login: string) => ({ url: `nats://${login}127.0.0.1:${server.port}` })
    await using node = await startNode(at(good), {}, { log })
    assert.ok(node.bus.isConnected)
    const before = logged.length
    await using refused = natsBus(at(bad), {}, { log })
    refused.start()
    await until(() => logged.slice(before).some(text => text.includes('NATS cannot be reached')), 'the refusal was logged')
    assert.equal(refused.isConnected, false)
  }
  assert.doesNotMatch(logged.join('\n'), /canary/)
})

test('what nodes must not miss is sent to them in another way too, and only what this node published', async () => {
  await using server = await NatsServer.start()
  const sent: (readonly [string, object])[] = []
  const all: object[] = []
  await using one = await startNode(
    server,
    {},
    { direct: { toOwner: (key, message) => void sent.push([key, message]), toAll: message => void all.push(message) } }
  )
  await using two = await startNode(server)
  await settled([one, two])
  for (const message of MESSAGES) one.bus.publish(message)
  two.bus.publish(removed(2))
  await settled([one, two])
  const types = sent.map(([, message]) => Object(message).type)
  assert.deepEqual(types, [
    ...['user_removed', 'user_secret_changed', 'connection_changed', 'connection_renewed', 'connection_removed', 'user_disabled']
  ])
  assert.deepEqual(new Set(sent.map(([key]) => key)), new Set([userKey(1)]))
  assert.deepEqual(
    all,
    MESSAGES.filter(({ type }) => type.startsWith('platform_'))
  )
  two.bus.receive(JSON.parse(JSON.stringify(removed(3))))
  assert.deepEqual(two.received.at(-1), removed(3))
  for (const bad of [null, {}, { type: 'events' }, { type: 'user_removed' }, { type: 'Not a kind' }])
    assert.throws(() => two.bus.receive(bad), { name: 'Malformed' })
  assert.equal(one.received.length, MESSAGES.length + 1)
})
