import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { SocketSession } from '../../src/kit/socket.ts'
import { StreamFault } from '../../src/kit/stream-fault.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryLog } from '../support/log.ts'
import { follow, kindOf, protocol, rate, Venue } from './venue.ts'

test('live, then events, until given up', async () => {
  await using venue = await Venue.start()
  const reader = follow(protocol(venue))
  await reader.receives(1)
  venue.last.send('a')
  venue.last.send('gap')
  venue.last.send('b')
  await reader.receives(5)
  assert.deepEqual(reader.history(), ['live', 'a', 'gap', 'live', 'b'])
  assert.deepEqual(venue.received, ['hello'])
  await reader[Symbol.asyncDispose]()
  await reader.running
  await until(() => venue.server.clients.size === 0, 'the socket is gone')
})

test('a lost socket is a gap at once, and live again after', async () => {
  await using venue = await Venue.start()
  await using reader = follow(protocol(venue))
  await reader.receives(1)
  for (const [lose, cause] of [
    [() => venue.last.terminate(), 'lost'],
    [() => venue.last.close(1001), 'lost'],
    [() => venue.last.send('nonsense'), 'malformed'],
    [() => venue.last.send('x'.repeat(2_000)), 'malformed']
  ] as const) {
    const before = reader.received.length
    lose()
    await reader.receives(before + 2)
    assert.deepEqual(reader.history().slice(before), ['gap', 'live'])
    assert.equal(reader.causes().at(-1), cause)
  }
})

test('silence of two heartbeats is a gap; a frame of any kind is not silence', async () => {
  await using venue = await Venue.start()
  venue.greeting = 'live 1000'
  await using reader = follow(protocol(venue), { handshakeMs: 60_000 })
  await reader.receives(1)
  const from = performance.now()
  const beating = setInterval(() => venue.last.send('beat'), 30)
  await reader.receives(10)
  clearInterval(beating)
  assert.ok(!reader.history().includes('gap'))
  await until(() => reader.history().includes('gap'), 'a gap is reported')
  assert.ok(performance.now() - from >= 2_000)
  const gap = reader.received.find(item => typeof item === 'object' && item.type === 'gap')
  assert.match(typeof gap === 'object' && gap.type === 'gap' ? gap.reason : '', /nothing received/)
  assert.deepEqual(reader.causes(), ['silence'])
})

test('an outage whose cause changes is reported again, and only then', async () => {
  await using venue = await Venue.start()
  let attempts = 0
  const of = protocol(venue)
  const begin = async (signal: AbortSignal) => {
    attempts += 1
    if (attempts === 1) return await of.begin(signal)
    if (attempts <= 4) throw new BrokerFault('unreachable', 'down')
    if (attempts <= 7) throw new StreamFault('token', 'no token can be had')
    if (attempts <= 9) throw new BrokerFault('rate_limited', 'later')
    return await of.begin(signal)
  }
  await using reader = follow({ begin })
  await reader.receives(1)
  venue.last.terminate()
  await until(() => reader.history().filter(kind => kind === 'live').length === 2, 'live again')
  assert.deepEqual(reader.causes(), ['lost', 'token', 'refused'])
})

test('a venue that answers the upgrade with an error has refused it', async () => {
  const server = createServer((_request, response) => response.end('no'))
  server.on('upgrade', (_request, socket) =>
    socket.on('error', () => undefined).end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n')
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  await using venue = await Venue.start()
  const of = protocol(venue)
  const begin = async (signal: AbortSignal) => ({ ...(await of.begin(signal)), url: `ws://127.0.0.1:${address.port}` })
  await using reader = follow({ begin })
  await reader.receives(1)
  assert.deepEqual(reader.causes(), ['refused'])
  await reader[Symbol.asyncDispose]()
  server.close()
})

test('a venue that never becomes live is closed and tried again, and the outage is reported once', async () => {
  await using venue = await Venue.start()
  venue.greeting = ''
  await using reader = follow(protocol(venue), { handshakeMs: 50 })
  await until(() => venue.sockets.length >= 3, 'it is tried again')
  assert.deepEqual(reader.causes(), ['silence'])
  venue.greeting = 'live 1000'
  await reader.receives(2)
  assert.deepEqual(reader.history(), ['gap', 'live'])
})

test('flapping is met with growing pauses, a stable connection resets them', async () => {
  await using venue = await Venue.start()
  const pauses: number[] = []
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => {
      pauses.push(ms)
      return systemClock.sleep(Math.min(ms, 5), signal)
    }
  }
  await using reader = follow(protocol(venue), { clock, backoff: { firstMs: 100_000, longestMs: 400_000 }, handshakeMs: 30_000 })
  for (let index = 0; index < 5; index += 1) {
    await reader.receives(1 + 2 * index)
    venue.last.terminate()
  }
  await reader.receives(11)
  assert.deepEqual(
    pauses.filter(ms => ms >= 50_000),
    [50_000, 100_000, 200_000, 200_000, 200_000]
  )
})

test('many are opened at one rate, and come back at another', async () => {
  await using venue = await Venue.start()
  const connectLimiters = { first: rate(1_000), again: rate(20, 2) }
  await using readers = new AsyncDisposableStack()
  const all = Array.from({ length: 12 }, () => readers.use(follow(protocol(venue), { connectLimiters })))
  await until(() => all.every(reader => reader.history().includes('live')), 'all are live')
  const from = performance.now()
  for (const socket of venue.server.clients) socket.terminate()
  await until(() => all.every(reader => reader.history().filter(each => each === 'live').length === 2), 'all are live again')
  // Two at once, the other ten one every twentieth of a second.
  assert.ok(performance.now() - from >= 450, `after ${performance.now() - from} ms`)
  assert.equal(venue.sockets.length, 24)
})

test('more than the reader takes is given up for a gap, never silently', async () => {
  await using venue = await Venue.start()
  const gate = Promise.withResolvers<void>()
  const seen: string[] = []
  const stop = new AbortController()
  const of = protocol(venue)
  const reading = (async () => {
    const options = {
      clock: systemClock,
      fraction: () => 0.5,
      log: new MemoryLog(),
      connectLimiters: { first: rate(10), again: rate(10) },
      backoff: { firstMs: 5, longestMs: 20 },
      steadyMs: 1,
      handshakeMs: 60_000,
      eventsMax: 10,
      frameMax: 1_000
    }
    for await (const item of new SocketSession([of], options, { signal: stop.signal })) {
      seen.push(kindOf(item))
      await gate.promise
      if (seen.at(-1) === 'e24') stop.abort()
    }
  })()
  await until(() => seen.length === 1, 'live')
  for (let index = 0; index < 25; index += 1) venue.last.send(`e${index}`)
  venue.last.send('e24')
  await until(() => venue.last.bufferedAmount === 0, 'all was sent')
  const pong = once(venue.last, 'pong')
  venue.last.ping()
  await pong
  gate.resolve()
  await reading
  assert.deepEqual(seen.slice(0, 3), ['live', 'gap', 'live'])
  assert.equal(seen.at(-1), 'e24')
})

test('maintenance can send, publish and end the connection', async () => {
  await using venue = await Venue.start()
  let rounds = 0
  await using reader = follow(
    protocol(venue, {
      maintain: async connection => {
        rounds += 1
        connection.send(`round ${rounds}`)
        connection.emit({ type: 'event', event: `tended ${rounds}` })
        if (rounds === 2) throw new Error('tired')
        return 1
      }
    })
  )
  await reader.receives(6)
  assert.deepEqual(reader.history().slice(0, 6), ['live', 'tended 1', 'tended 2', 'gap', 'live', 'tended 3'])
  await until(() => venue.received.includes('round 3'), 'it sent')
})

test('a login that ended ends the stream, wherever it was noticed; any other fault does not', async () => {
  const gone = new BrokerFault('credentials_rejected', 'gone')
  await using venue = await Venue.start()
  const faults: (BrokerFault | null)[] = [new BrokerFault('unreachable', 'down'), gone]
  const beginning = follow({ begin: () => Promise.reject(faults.shift()) })
  await assert.rejects(beginning.running, gone)
  assert.equal(faults.length, 0)

  const closed = follow(
    protocol(venue, { closed: code => (code === 4003 ? { cause: 'token', recover: () => Promise.reject(gone) } : null) })
  )
  await closed.receives(1)
  venue.last.close(4003)
  await assert.rejects(closed.running, gone)
  assert.deepEqual(closed.history(), ['live', 'gap'])

  const over = follow(protocol(venue, { onFrame: () => [{ type: 'over', cause: 'refused', reason: 'gone', fault: gone }] }))
  await assert.rejects(over.running, gone)
})

test('one who stops reading closes the socket', async () => {
  await using venue = await Venue.start()
  const never = new AbortController().signal
  const options = {
    clock: systemClock,
    fraction: () => 0,
    log: new MemoryLog(),
    connectLimiters: { first: rate(10), again: rate(10) },
    backoff: { firstMs: 5, longestMs: 20 },
    steadyMs: 1,
    handshakeMs: 60_000,
    eventsMax: 10,
    frameMax: 1_000
  }
  let isEnded = false
  const ended = () => {
    isEnded = true
  }
  for await (const _ of new SocketSession([protocol(venue)], options, { signal: never, ended })) break
  assert.ok(isEnded)
  await until(() => venue.server.clients.size === 0, 'the socket is gone')
})
