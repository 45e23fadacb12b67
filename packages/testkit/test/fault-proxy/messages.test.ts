// What the proxy does to the messages of a stream: it knows them whole, and loses, doubles and delays events and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Chance } from '../../src/crash/chance.ts'
import { CutBetween, Disorder, type Frame, FrameReader, type Tampered } from '../../src/fault-proxy/index.ts'
import { until } from '../../src/until.ts'
import { openStage } from './stage.ts'

const UPGRADE = 'GET /stream HTTP/1.1\r\nUpgrade: websocket\r\n\r\n'
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\n\r\n'

/** As a server sends it. */
function framed(text: string): Buffer {
  const payload = Buffer.from(text)
  if (payload.length < 126) return Buffer.concat([Buffer.from([0x81, payload.length]), payload])
  const head = payload.length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10)
  head[0] = 0x81
  head[1] = head.length === 4 ? 126 : 127
  if (head.length === 4) head.writeUInt16BE(payload.length, 2)
  else head.writeBigUInt64BE(BigInt(payload.length), 2)
  return Buffer.concat([head, payload])
}

function event(ev: string, seq: number): Frame {
  const text = JSON.stringify({ ev, seq })
  return { bytes: framed(text), text }
}

function tally(): Tampered {
  return { dropped: 0, duplicated: 0, reordered: 0, cut: 0 }
}

test('frames are found whatever chunks they come in', () => {
  const texts = fc.array(fc.string({ maxLength: 300, size: 'max' }), { maxLength: 8 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 400 }), (response, size) => {
      const bytes = Buffer.concat(response.map(framed))
      const reader = new FrameReader()
      const found: Frame[] = []
      for (let at = 0; at < bytes.length; at += size) found.push(...reader.push(bytes.subarray(at, at + size)))
      assert.deepEqual(
        found.map(({ text }) => text),
        response
      )
      assert.ok(Buffer.concat(found.map(frame => frame.bytes)).equals(bytes))
    })
  )
  const long = 'x'.repeat(70_000)
  assert.deepEqual(
    new FrameReader().push(framed(long)).map(({ text }) => text),
    [long]
  )
})

test('disorder accounts for every event and lets everything else pass', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 300 }), (seed, count) => {
      const done = tally()
      const disorder = new Disorder({
        drop: 0.1,
        duplicate: 0.1,
        delay: 0.2,
        window: 4,
        fraction: new Chance(seed).fraction,
        tally: done
      })
      const out: Frame[] = []
      for (let seq = 1; seq <= count; seq += 1) {
        const { frames, cut } = disorder.take(event('order', seq))
        assert.equal(cut, false)
        out.push(...frames)
        const heartbeat = event('heartbeat', seq)
        assert.deepEqual(disorder.take(heartbeat), { frames: [heartbeat], cut: false })
      }
      out.push(...disorder.rest())
      assert.equal(out.length, count - done.dropped + done.duplicated)
      assert.equal(new Set(out.map(({ text }) => text)).size, count - done.dropped)
    })
  )
})

test('disorder really drops, doubles and reorders', () => {
  const done = tally()
  const disorder = new Disorder({ drop: 0.1, duplicate: 0.1, delay: 0.2, window: 3, fraction: new Chance(1).fraction, tally: done })
  const order: number[] = []
  for (let seq = 1; seq <= 200; seq += 1)
    order.push(...disorder.take(event('balance', seq)).frames.map(({ text }) => JSON.parse(text ?? '').seq))
  assert.ok(done.dropped > 5 && done.duplicated > 5 && done.reordered > 10, JSON.stringify(done))
  assert.notDeepEqual(
    order,
    order.toSorted((a, b) => a - b)
  )
})

test('a cut falls between two kinds of events, when it is due', () => {
  const done = tally()
  let isDue = false
  const between = new CutBetween('fill', 'order', done, () => isDue)
  const cuts = (...frames: readonly Frame[]) => frames.map(frame => between.take(frame).cut)
  assert.deepEqual(cuts(event('fill', 1), event('order', 2)), [false, false])
  isDue = true
  assert.deepEqual(
    cuts(event('order', 3), event('balance', 4), event('order', 5), event('fill', 6), event('fill', 7)),
    Array(5).fill(false)
  )
  assert.deepEqual(cuts(event('heartbeat', 7), event('order', 8)), [false, true])
  assert.equal(done.cut, 1)
})

test('a stream is known by its upgrade; tampering begins and ends while it runs, and what it held back comes out', async () => {
  await using stage = await openStage()
  const { client, server } = await stage.pair()
  client.socket.write(UPGRADE)
  await until(() => server.received.length === UPGRADE.length, 'the request has come')
  assert.deepEqual([stage.proxy.open('stream'), stage.proxy.open('request')], [1, 0])
  const [first, second, third] = [event('order', 1), event('order', 2), event('heartbeat', 2)]
  server.socket.write(Buffer.concat([Buffer.from(SWITCHED), first.bytes]))
  await until(() => client.received.length === SWITCHED.length + first.bytes.length, 'the first event has come')

  const keepAll = () => new Disorder({ drop: 0, duplicate: 0, delay: 1, window: 9, fraction: () => 0.5, tally: tally() })
  stage.proxy.tamper(keepAll)
  server.socket.write(Buffer.concat([second.bytes, third.bytes.subarray(0, 3)]))
  server.socket.write(third.bytes.subarray(3))
  const withThird = SWITCHED.length + first.bytes.length + third.bytes.length
  await until(() => client.received.length === withThird, 'only the heartbeat has come')
  stage.proxy.clear()
  const expected = Buffer.concat([Buffer.from(SWITCHED), first.bytes, third.bytes, second.bytes])
  await until(() => client.received.equals(expected), 'the held-back event has come')
})

test('a stream that is cut between two messages ends there', async () => {
  await using stage = await openStage()
  const { client, server } = await stage.pair()
  stage.proxy.tamper(() => new CutBetween('fill', 'order', tally(), () => true))
  client.socket.write(UPGRADE)
  await until(() => server.received.length === UPGRADE.length, 'the request has come')
  const fill = event('fill', 1)
  server.socket.write(Buffer.concat([Buffer.from(SWITCHED), fill.bytes, event('order', 2).bytes]))
  await until(() => client.socket.closed && server.socket.closed, 'both ends are gone')
  assert.ok(
    Buffer.concat([Buffer.from(SWITCHED), fill.bytes])
      .subarray(0, client.received.length)
      .equals(client.received)
  )
  assert.notEqual(client.error, null)
})
