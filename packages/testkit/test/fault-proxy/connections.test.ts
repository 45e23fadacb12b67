// What the proxy does to bytes: the same ones come out, in order, as late, as slowly and in such pieces as configured; or none.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Chance } from '../../src/crash/chance.ts'
import { until } from '../../src/until.ts'
import { openStage } from './stage.ts'

const KIND = 'request'

for (const [name, conditions] of Object.entries({
  clear: {},
  'one byte at a time': { sliceBytes: 1 },
  'sliced, late and uneven': { sliceBytes: 700, latencyMs: 10, jitterMs: 10 },
  'narrow and late': { bytesPerSecond: 400_000, latencyMs: 5 }
})) {
  test(`bytes come through whole and in order, both ways: ${name}`, async () => {
    await using stage = await openStage(new Chance(7).fraction)
    const { client, server } = await stage.pair()
    stage.proxy.set(KIND, 'both', conditions)
    const request = randomBytes(40_000)
    const response = randomBytes(40_000)
    for (let at = 0; at < request.length; at += 4_000) {
      client.socket.write(request.subarray(at, at + 4_000))
      server.socket.write(response.subarray(at, at + 4_000))
    }
    await until(() => client.received.length >= response.length && server.received.length >= request.length, 'everything has come')
    assert.ok(client.received.equals(response))
    assert.ok(server.received.equals(request))
  })
}

test('what a client sends is shown although nothing passes, and the proxy knows its own ends of connections', async () => {
  await using stage = await openStage()
  const { client, server } = await stage.pair()
  assert.ok(stage.proxy.isPeer(server.socket.remotePort ?? 0))
  assert.ok(!stage.proxy.isPeer(client.socket.localPort ?? 0))
  const sent: Buffer[] = []
  stage.proxy.onSent = (_link, chunk) => void sent.push(chunk)
  stage.proxy.set(KIND, 'both', { held: true })
  client.socket.write('an order')
  await until(() => Buffer.concat(sent).toString() === 'an order', 'it is shown')
  assert.equal(server.received.length, 0)
})

test('slices arrive apart from each other', async () => {
  await using stage = await openStage()
  const { client, server } = await stage.pair()
  stage.proxy.set(KIND, 'toClient', { sliceBytes: 1 })
  server.socket.write('0123456789'.repeat(20))
  await until(() => client.received.length === 200, 'everything has come')
  assert.ok(client.chunks > 20, `${client.chunks} reads`)
})

test('latency delays each chunk by its bound, and bandwidth by its length', async () => {
  await using stage = await openStage(() => 0)
  const { client, server } = await stage.pair()
  stage.proxy.set(KIND, 'toClient', { latencyMs: 120, jitterMs: 20 })
  const late = performance.now()
  server.socket.write('late')
  await until(() => client.received.length === 4, 'it has come')
  assert.ok(performance.now() - late >= 99, 'no sooner than the latency less the jitter')

  stage.proxy.set(KIND, 'toClient', { bytesPerSecond: 10_000, sliceBytes: 500 })
  const slow = performance.now()
  server.socket.write(Buffer.alloc(2_000))
  await until(() => client.received.length === 2_004, 'all of it has come')
  assert.ok(performance.now() - slow >= 195, 'a byte takes its time')
})

test('a dead link stays open, passes on no end, and holds no more than its bound', async () => {
  await using stage = await openStage()
  const { client, server } = await stage.pair()
  stage.proxy.set(KIND, 'both', { held: true })
  const much = Buffer.alloc(1024 * 1024)
  for (let written = 0; written < 32; written += 1) server.socket.write(much)
  client.socket.write('are you there?')
  await until(() => server.socket.bytesWritten > much.length, 'the buffers fill')
  const isFull = () => {
    const before = server.socket.writableLength
    return new Promise<boolean>(resolve => setTimeout(() => resolve(server.socket.writableLength === before), 100))
  }
  await until(isFull, 'the sender is not read any more')
  assert.ok(server.socket.writableLength > 0, 'the sender has to keep the rest')
  server.socket.resetAndDestroy()
  await until(isFull, 'nothing moves')
  assert.deepEqual([client.received.length, server.received.length, client.socket.closed], [0, 0, false])

  stage.proxy.clear()
  await until(() => client.socket.closed, 'the client sees the end')
})

test('what a dead link held comes out once it recovers', async () => {
  await using stage = await openStage()
  const { client, server } = await stage.pair()
  stage.proxy.set(KIND, 'toServer', { held: true })
  client.socket.write('one ')
  client.socket.end('two')
  server.socket.write('meanwhile')
  await until(() => client.received.toString() === 'meanwhile', 'the other direction is open')
  assert.equal(server.received.length, 0)
  stage.proxy.clear()
  await until(() => server.received.toString() === 'one two', 'both have come')
  await until(() => server.socket.readableEnded, 'and the end')
})

test('a reset after some bytes lets exactly those through, and both parties see the link break', async () => {
  await using stage = await openStage()
  const { client, server } = await stage.pair()
  server.socket.write('before')
  await until(() => client.received.length === 6, 'the link is open')
  assert.equal(
    stage.proxy.resetAfter(KIND, 'toClient', () => 10),
    1
  )
  server.socket.write('0123456789abcdef')
  await until(() => client.socket.closed && server.socket.closed, 'both ends are gone')
  assert.ok('before0123456789'.startsWith(client.received.toString()), client.received.toString())
  assert.equal(client.error !== null && 'code' in client.error ? client.error.code : null, 'ECONNRESET')
  assert.notEqual(server.error, null)
})

test('while it refuses, no client gets through; afterwards all do', async () => {
  await using stage = await openStage()
  stage.proxy.refuse()
  const refused = await fetch(stage.proxy.url).catch(() => null)
  assert.equal(refused, null)
  assert.equal(stage.proxy.counts.refused, 1)
  stage.proxy.clear()
  const { client, server } = await stage.pair()
  client.socket.write('hello')
  await until(() => server.received.toString() === 'hello', 'it got through')
})

test('a request is cut at the configured share, and an answer after its bytes', async () => {
  await using stage = await openStage()
  const request = 'POST /orders HTTP/1.1\r\ncontent-length: 10\r\n\r\n0123456789'
  const cutOf = (share: number, answerBytes: number | null) => {
    const cut = Promise.withResolvers<void>()
    stage.proxy.arm({ request: 'POST /orders', share, answerBytes, whenCut: cut.resolve })
    return cut.promise
  }

  const half = cutOf(0.5, 0)
  const first = await stage.pair()
  first.client.socket.write('GET / HTTP/1.1\r\n\r\n')
  await until(() => first.server.received.length === 18, 'another request passes')
  first.client.socket.write(request)
  await half
  await until(() => first.server.received.length === 18 + Math.floor(request.length / 2), 'half of it has come')

  const answer = cutOf(1, 7)
  const second = await stage.pair()
  second.client.socket.write(request)
  await until(() => second.server.received.length === request.length, 'all of it has come')
  second.server.socket.write('HTTP/1.1 201 Created\r\n\r\n')
  await answer
  await until(() => second.client.received.toString() === 'HTTP/1.', 'seven bytes of the answer have come')
  assert.deepEqual([second.client.socket.closed, second.server.socket.closed], [false, false])
})
