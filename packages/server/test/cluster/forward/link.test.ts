// A link between two nodes: messages arrive whole, and anything else ends it.
import assert from 'node:assert/strict'
import { Duplex, duplexPair } from 'node:stream'
import { describe, test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import { until } from '@trunkline/testkit/until'
import { FRAME, Link } from '../../../src/cluster/forward/link.ts'
import { decodeAnswer, decodeRequest, encodeAnswer, encodeRequest } from '../../../src/cluster/forward/passed-codec.ts'
import { linkKeys, Opener, RECORD_BYTES_MAX, Sealer } from '../../../src/cluster/forward/sealed-records.ts'

const KEYS = linkKeys(Buffer.alloc(32, 7), 'opening', 'chance')
const opened = (bytes: Buffer) => new Opener(KEYS.toOwner).open(bytes).map(String)

describe('sealed records', () => {
  const sealed = (): readonly Buffer[] => {
    const sealer = new Sealer(KEYS.toOwner)
    return ['one', 'two', ''].map(text => sealer.seal(Buffer.from(text)))
  }

  /** With another length, a record only has no end yet. */
  const readable = (bytes: Buffer): readonly string[] => {
    try {
      return opened(bytes)
    } catch {
      return []
    }
  }

  test('arrive in whatever pieces', () => {
    const all = Buffer.concat(sealed())
    assert.deepEqual(opened(all), ['one', 'two', ''])
    const opener = new Opener(KEYS.toOwner)
    const contents = [...all].flatMap(byte => opener.open(Buffer.from([byte])).map(String))
    assert.deepEqual(contents, ['one', 'two', ''])
  })

  test('are refused when they are altered, repeated, reordered, left out, or of another connection or direction', () => {
    const [one, two] = sealed()
    assert.ok(one !== undefined && two !== undefined)
    for (let at = 0; at < one.length; at += 1) {
      const altered: Buffer = Buffer.from(one)
      altered.writeUInt8(altered.readUInt8(at) ^ 1, at)
      assert.deepEqual(readable(Buffer.concat([altered, two, two])), [], `byte ${at}`)
    }
    for (const wrong of [[one, one], [two, one], [two]]) assert.throws(() => opened(Buffer.concat(wrong)))
    for (const keys of [linkKeys(Buffer.alloc(32, 8), 'opening', 'chance'), linkKeys(Buffer.alloc(32, 7), 'opening', 'other')]) {
      assert.throws(() => new Opener(keys.toOwner).open(one))
    }
    assert.throws(() => new Opener(KEYS.fromOwner).open(one))
    assert.throws(() => new Sealer(KEYS.toOwner).seal(Buffer.alloc(RECORD_BYTES_MAX + 1)), RangeError)
  })
})

/** Two ends of a connection that takes little at a time. */
function pair(handlers: { readonly frame: (id: number, kind: number, bytes: Buffer) => void }) {
  const ends: Duplex[] = [0, 1].map(
    index =>
      new Duplex({
        highWaterMark: 1_000,
        read() {},
        write(chunk, _encoding, done) {
          ends[1 - index]?.push(chunk)
          setImmediate(done)
        }
      })
  )
  const [here, there] = ends
  assert.ok(here !== undefined && there !== undefined)
  let closed = 0
  const closing = {
    closed: () => {
      closed += 1
    }
  }
  const sender = new Link(here, { send: KEYS.toOwner, receive: KEYS.fromOwner }, { frame: () => undefined, ...closing })
  const receiver = new Link(there, { send: KEYS.fromOwner, receive: KEYS.toOwner }, { ...handlers, ...closing })
  for (const link of [sender, receiver]) link.begin(Buffer.alloc(0))
  return { here, there, sender, receiver, closed: () => closed }
}

describe('a link', () => {
  test('carries messages of all sizes side by side, and short ones do not wait for long ones', async () => {
    const chance = new SeededChance(11)
    const pieces = new Map<number, Buffer[]>()
    const complete: number[] = []
    const { sender, closed } = pair({
      frame: (id, kind, bytes) => {
        pieces.set(id, [...(pieces.get(id) ?? []), Buffer.from(bytes)])
        if (kind === FRAME.last) complete.push(id)
      }
    })
    const messages = new Map([[1, Buffer.alloc(3_000_000, 1)]])
    for (let id = 2; id <= 60; id += 1) messages.set(id, Buffer.alloc(chance.whole(1, 2_000), id))
    for (const [id, bytes] of messages) sender.send(id, bytes)
    await until(() => complete.length === messages.size, 'all arrived')
    assert.equal(complete.at(-1), 1)
    for (const [id, bytes] of messages) assert.ok(Buffer.concat(pieces.get(id) ?? []).equals(bytes), `${id}`)
    assert.equal(closed(), 0)
  })

  test('knows what was not sent, and takes it back', async () => {
    const came: number[] = []
    const { sender } = pair({ frame: id => void came.push(id) })
    for (const id of [1, 2, 3]) sender.send(id, Buffer.from('text'))
    assert.deepEqual([sender.takeBack(2), sender.takeBack(9), sender.isIncomplete(1)], [true, false, true])
    await until(() => came.length === 2, 'the others arrived')
    assert.deepEqual([came, sender.takeBack(1)], [[1, 3], false])
  })

  test('takes back a message of which only some was sent, so that the other end never takes the rest for another one', async () => {
    const came: [id: number, kind: number][] = []
    const { sender, closed } = pair({
      frame: (id, kind) => {
        if (came.push([id, kind]) === 1) assert.equal(sender.takeBack(1), true)
      }
    })
    sender.send(1, Buffer.alloc(300_000, 1))
    sender.send(2, Buffer.from('text'))
    const hasCome = (id: number, kind: number) => came.some(one => one[0] === id && one[1] === kind)
    await until(() => hasCome(2, FRAME.last) && hasCome(1, FRAME.cancel), 'the next message and the end of this one arrived')
    const kinds = came.flatMap(([id, kind]) => (id === 1 ? [kind] : []))
    assert.deepEqual([kinds.at(-1), kinds.includes(FRAME.last), closed()], [FRAME.cancel, false, 0])
  })

  test('ends with the other end, with bytes that are not of it, and with a handler that refuses a frame', async () => {
    const refusing = pair({
      frame: () => {
        throw new Error('refused')
      }
    })
    refusing.sender.send(1, Buffer.from('text'))
    await until(() => refusing.receiver.isClosed, 'it was closed')
    const disturbed = pair({ frame: () => undefined })
    disturbed.there.push(Buffer.alloc(40, 1))
    await until(() => disturbed.receiver.isClosed, 'it was closed')
    const left = pair({ frame: () => undefined })
    left.there.push(null)
    await until(() => left.receiver.isClosed, 'it was closed')
    left.receiver.send(1, Buffer.from('too late'))
    left.receiver.destroy()
    assert.equal(left.closed(), 1)
    const [here, there] = duplexPair()
    const empty = new Link(here, { send: KEYS.fromOwner, receive: KEYS.toOwner }, { frame: () => undefined, closed: () => undefined })
    empty.begin(Buffer.alloc(0))
    there.write(new Sealer(KEYS.toOwner).seal(Buffer.from([0, 0, 0, 1, FRAME.piece, 0, 0, 0, 0])))
    await until(() => empty.isClosed, 'a piece without bytes closed it')
  })
})

test('requests and answers are the same after they were bytes; what is neither is refused', () => {
  const request = {
    ...{ method: 'POST', url: '/orders?a=1:2', address: '2001:db8::1', body: Buffer.from('{"ü":1}') },
    ...{
      platformAllowance: { limit: 100, remaining: 99, resetSeconds: 1 },
      headers: { host: 'h:80', 'user-id': 'zo\u00eb', 'x-empty': '' }
    }
  }
  assert.deepEqual(decodeRequest(encodeRequest(request)), request)
  const bytes = encodeAnswer(201, { 'Content-Type': 'application/json', 'content-length': 2, 'set-cookie': ['a', 'b'] }, [
    Buffer.from('{}')
  ])
  const headers = { 'content-type': 'application/json', 'content-length': '2', 'set-cookie': ['a', 'b'] }
  assert.deepEqual(decodeAnswer(bytes), { status: 201, headers, body: Buffer.from('{}') })
  assert.throws(() => encodeAnswer(200, { 'x-note': 'a\nset-cookie:b' }, []))
  for (const wrong of [Buffer.alloc(0), Buffer.alloc(4), Buffer.from([0, 0, 0, 9, 65])]) {
    assert.throws(() => decodeRequest(wrong))
    assert.throws(() => decodeAnswer(wrong))
  }
})
