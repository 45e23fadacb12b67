// The asking end of links: which one a request goes over, and when one is given up that carries nothing any more.
import assert from 'node:assert/strict'
import { type Duplex, duplexPair } from 'node:stream'
import { test } from 'node:test'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { FRAME, Link } from '../../../src/cluster/forward/link.ts'
import { LinkClient } from '../../../src/cluster/forward/link-client.ts'
import { acceptLink, LINK_PROTOCOLS, type OpenedLink } from '../../../src/cluster/forward/link-opening.ts'
import { NodeFault } from '../../../src/cluster/forward/node-client.ts'
import { nodeClientLimits } from '../../../src/cluster/forward/node-forwarder.ts'
import { encodeAnswer } from '../../../src/cluster/forward/passed-codec.ts'
import { linkKeys } from '../../../src/cluster/forward/sealed-records.ts'
import { SIGNATURE } from '../../../src/cluster/forward/signature.ts'

const KEY = Buffer.alloc(32, 7)
const LIMITS = nodeClientLimits(5_000, 64)
const never = new AbortController().signal

/** A node that is asked. Each link that is opened to it has a connection that can be cut without either end noticing. */
class Asked {
  readonly clock = new VirtualClock()
  readonly connections: Duplex[] = []
  readonly client = new LinkClient(() => this.#open(), LIMITS, this.clock)
  readonly settled: string[] = []
  /** Until when an opening takes. */
  opening: Promise<void> = Promise.resolve()

  async #open(): Promise<OpenedLink> {
    await this.opening
    const [socket, there] = duplexPair()
    const keys = linkKeys(KEY, 'opening', String(this.connections.push(there)))
    const answer = encodeAnswer(200, {}, [])
    const frame = (id: number, kind: number) => {
      if (kind === FRAME.last) link.send(id, answer)
    }
    const link = new Link(there, { send: keys.fromOwner, receive: keys.toOwner }, { frame, closed: () => undefined })
    link.begin(Buffer.alloc(0))
    return { socket, keys, early: Buffer.alloc(0) }
  }

  /** Nothing that is sent over it arrives from now on. */
  cut(index: number): void {
    this.connections[index]?.removeAllListeners('data')
  }

  ask(name: string): void {
    const shown = (fault: unknown) => (fault instanceof NodeFault ? fault.sent : String(fault))
    void this.client.send(Buffer.from('request'), never).then(
      ({ status }) => this.settled.push(`${name} ${status}`),
      fault => this.settled.push(`${name} ${shown(fault)}`)
    )
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) await this.clock.advance(500)
  }
}

test('a link that is cut without a sign is replaced within seconds, if the node answers over another one', async () => {
  const asked = new Asked()
  asked.ask('before')
  await asked.pass(500)
  asked.cut(0)
  asked.ask('cut')
  await asked.pass(LIMITS.doubtMs + 1_000)
  assert.equal(asked.connections.length, 2)
  asked.ask('after')
  await asked.pass(2_000)
  assert.deepEqual(asked.settled, ['before 200', 'after 200', 'cut maybe'])
  asked.client.cut()
})

test('a node that answers over no link keeps the one that it has, and later requests are not sent', async () => {
  const asked = new Asked()
  asked.ask('before')
  await asked.pass(500)
  asked.cut(0)
  const gate = Promise.withResolvers<void>()
  asked.opening = gate.promise
  asked.ask('cut')
  await asked.pass(LIMITS.doubtMs + 1_000)
  asked.ask('later')
  await asked.pass(LIMITS.connectMs + 500)
  assert.deepEqual(asked.settled, ['before 200', 'later nothing'])
  await asked.pass(LIMITS.deadMs)
  assert.deepEqual(asked.settled.slice(2), ['cut maybe'])
  gate.resolve()
  asked.client.cut()
})

test('a link that takes longer to open than a request waits is used by the next one', async () => {
  const asked = new Asked()
  const gate = Promise.withResolvers<void>()
  asked.opening = gate.promise
  asked.ask('first')
  await asked.pass(LIMITS.connectMs)
  assert.deepEqual(asked.settled, ['first nothing'])
  gate.resolve()
  await asked.pass(500)
  asked.ask('second')
  await asked.pass(500)
  assert.deepEqual([asked.settled, asked.connections.length], [['first nothing', 'second 200'], 1])
  asked.client.cut()
})

test('of the forms of links that a newer node offers, one is chosen that this version speaks; none is no link', () => {
  const opened = (upgrade: string) => {
    const [here, there] = duplexPair()
    const keys = acceptLink(here, { [SIGNATURE]: 'opening', upgrade }, KEY)
    return { keys, answer: String(there.read() ?? '') }
  }
  const [own = ''] = LINK_PROTOCOLS
  for (const offered of [own, `trunkline-requests-9, ${own}`, `${own},trunkline-requests-0`]) {
    const { keys, answer } = opened(offered)
    assert.notEqual(keys, null, offered)
    assert.match(answer, new RegExp(`^upgrade: ${own}\r$`, 'm'))
  }
  for (const offered of ['trunkline-requests-9', `${own}0`, '']) assert.deepEqual(opened(offered), { keys: null, answer: '' })
})
