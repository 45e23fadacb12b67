// The bus contract: numbered cases that run against each bus, spaced so that others can be inserted.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { UserKey } from '@trunkline/core/domain/ids'
import { BUS_MESSAGE_TYPES, type BusMessage } from '@trunkline/core/ports/bus'
import type { BusHarness, BusNode } from './harness.ts'
import { eventOf, MESSAGES, userId, userKey } from './messages.ts'

export { type BusHarness, type BusNode, listening } from './harness.ts'
export { eventOf, MESSAGES, userId, userKey } from './messages.ts'

/** @param open opens the nodes of one installation, connected */
export function busContract(name: string, open: () => Promise<BusHarness>): void {
  suite(`bus contract on ${name}`, () => {
    const busCase = (id: string, title: string, run: (harness: BusHarness) => Promise<void>) =>
      test(`${id}: ${title}`, async () => {
        await using harness = await open()
        await run(harness)
      })

    busCase('B10', 'every node gets every message once, and unchanged but for the health of a connection', async ({ nodes, settled }) => {
      for (const message of MESSAGES) nodes[0].bus.publish(message)
      assert.deepEqual(nodes[0].received, MESSAGES, 'the publisher’s own listeners are called at once')
      await settled()
      for (const { received } of nodes.slice(1)) assert.deepEqual(received, MESSAGES.map(asElsewhere))
      const sent = new Set(MESSAGES.map(({ type }) => type))
      const others = new Set(['events', 'update_frames', 'bus_resumed', 'partitions_followed', 'connection_health_elsewhere'])
      assert.deepEqual(
        BUS_MESSAGE_TYPES.filter(type => !others.has(type) && !sent.has(type)),
        [],
        'a kind without an example'
      )
    })

    busCase('B20', 'messages of one publisher arrive in the order published, updates among them', async ({ nodes, settled }) => {
      const [{ bus }] = nodes
      for (const node of nodes) node.bus.follow(userKey(1))
      await settled()
      for (let seq = 1; seq <= 500; seq += 1) {
        bus.publish({ type: 'events', userKey: userKey(1), events: [eventOf(userKey(1), seq)] })
        if (seq % 7 === 0) bus.publish({ type: 'user_secret_changed', userKey: userKey(seq) })
        if (seq % 100 === 0) await settled()
      }
      await settled()
      const expected = outlineOf(nodes[0].received)
      assert.equal(expected.length, 571)
      for (const { received } of nodes) assert.deepEqual(outlineOf(received), expected)
    })

    busCase('B30', 'a listener that throws costs the others nothing', async ({ nodes, settled }) => {
      for (const { bus } of nodes)
        bus.subscribe(() => {
          throw new Error('a fault of a listener')
        })
      for (const node of nodes) node.bus.follow(userKey(1))
      await settled()
      const last = nodes.map(({ bus }) => messagesOf(bus))
      nodes[0].bus.publish({ type: 'user_removed', userKey: userKey(1) })
      nodes[0].bus.publish({ type: 'events', userKey: userKey(1), events: [eventOf(userKey(1), 1)] })
      nodes[0].bus.publish({ type: 'user_removed', userKey: userKey(2) })
      await settled()
      for (const messages of last) assert.equal(messages.length, 3)
    })

    busCase('B40', 'a listener gets the types it wants, until it unsubscribes', async ({ nodes, settled }) => {
      const wanted = nodes.map(({ bus }) => messagesOf(bus, ['user_removed', 'user_disabled']))
      const over: BusMessage[] = []
      for (const { bus } of nodes) bus.subscribe(message => void over.push(message))()
      for (const message of MESSAGES) nodes[0].bus.publish(message)
      await settled()
      for (const messages of wanted)
        assert.deepEqual(
          messages.map(({ type }) => type),
          ['user_removed', 'user_disabled']
        )
      assert.deepEqual(over, [])
    })

    busCase(
      'B50',
      'events reach the publisher’s node as they are, and the nodes that follow the user as finished frames',
      async harness => {
        const { nodes, settled } = harness
        const [publisher, ...others] = nodes
        const [first] = others
        first?.bus.follow(userKey(1))
        await settled()
        const key = userKey(1)
        // The first may come without a frame: what it takes to make one is only being looked up.
        const before = eventOf(key, 1)
        publisher.bus.publish({ type: 'events', userKey: key, events: [before] })
        await settled()
        const events = [2, 3, 4].map(seq => eventOf(key, seq, 'ünïcode'))
        publisher.bus.publish({ type: 'events', userKey: key, events })
        publisher.bus.publish({ type: 'events', userKey: userKey(2), events: [eventOf(userKey(2), 1)] })
        await settled()
        assert.deepEqual(publisher.received[1], { type: 'events', userKey: key, events })
        assert.equal(publisher.received.length, 3)
        if (first === undefined) return
        const frames = events.map(event => ({ seq: event.seq, topic: event.topic, frame: Buffer.from(harness.encode(event, userId(key))) }))
        assert.deepEqual(updatesOf(first, key).slice(1), frames)
        for (const { received } of others)
          assert.deepEqual(
            received.filter(({ type }) => type !== 'update_frames'),
            []
          )
        assert.deepEqual(updatesOf(first, userKey(2)), [])
        for (const { received } of others.slice(1)) assert.deepEqual(received, [], 'a node that does not follow the user')
      }
    )

    busCase('B60', 'a user is followed until every follower is gone', async ({ nodes, settled }) => {
      const [publisher, other] = nodes
      const publish = async (seq: number) => {
        await settled()
        publisher.bus.publish({ type: 'events', userKey: userKey(1), events: [eventOf(userKey(1), seq)] })
        await settled()
      }
      // The third has the last byte of the first, and so its partition.
      const [one, same] = [other?.bus.follow(userKey(1)), other?.bus.follow(userKey(0x101))]
      await publish(1)
      one?.[Symbol.dispose]()
      one?.[Symbol.dispose]()
      await publish(2)
      same?.[Symbol.dispose]()
      await publish(3)
      other?.bus.follow(userKey(1))
      await publish(4)
      if (other !== undefined)
        assert.deepEqual(
          updatesOf(other, userKey(1)).map(({ seq }) => seq),
          [1, 2, 4]
        )
    })
  })
}

function messagesOf(bus: BusNode['bus'], types?: readonly BusMessage['type'][]): readonly BusMessage[] {
  const messages: BusMessage[] = []
  bus.subscribe(message => {
    if (message.type !== 'bus_resumed' && message.type !== 'partitions_followed') messages.push(message)
  }, types)
  return messages
}

/** Messages in short: what is equal on every node, in which form ever the events came. */
function outlineOf(messages: readonly BusMessage[]): readonly string[] {
  return messages.flatMap(message => {
    if (message.type === 'events') return message.events.map(({ seq }) => `${message.userKey} ${seq}`)
    if (message.type === 'update_frames') return message.updates.map(({ seq }) => `${message.userKey} ${seq}`)
    return [JSON.stringify(message)]
  })
}

/** A message as nodes other than its publisher's get it. */
function asElsewhere(message: BusMessage): BusMessage {
  return message.type === 'connection_health' ? { type: 'connection_health_elsewhere', userKey: message.userKey } : message
}

function updatesOf({ received }: BusNode, key: UserKey) {
  return received.flatMap(message => (message.type === 'update_frames' && message.userKey === key ? message.updates : []))
}
