// Frames of all kinds, and messages that do not count as a heartbeat.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { follow, protocol, Venue } from './venue.ts'

test('a venue that is silent while nothing happens is pinged, and its pongs are not silence; without them there is', async () => {
  await using venue = await Venue.start()
  venue.greeting = 'live 200'
  let pings = 0
  venue.server.on('connection', socket => socket.on('ping', () => (pings += 1)))
  await using reader = follow(protocol(venue, { pingMs: 20 }), { handshakeMs: 60_000 })
  await reader.receives(1)
  await until(() => pings > 50, 'it was pinged for many heartbeats')
  assert.deepEqual(reader.history(), ['live'])
  venue.last.pause()
  await until(() => reader.causes().includes('silence'), 'a venue that answers no ping is lost')
})

test('a venue that never answers the hello is live from the opening on', async () => {
  await using venue = await Venue.start()
  venue.greeting = ''
  await using reader = follow(
    protocol(venue, {
      opened: connection => {
        connection.send('and more')
        connection.emit({ type: 'live', heartbeatMs: 10_000 })
      }
    })
  )
  await reader.receives(1)
  assert.deepEqual(reader.history(), ['live'])
  await until(() => venue.received.length === 2, 'it was greeted')
  assert.deepEqual(venue.received, ['hello', 'and more'])
})

test('bytes go both ways for protocols that read them; for others they are an error', async () => {
  await using venue = await Venue.start()
  // No silence, however long a busy machine takes.
  venue.greeting = 'live 60000'
  const patient = { handshakeMs: 60_000 }
  const received: string[] = []
  venue.server.on('connection', socket => socket.on('message', (data, isBinary) => received.push(`${isBinary} ${data.toString()}`)))
  const hello = [Uint8Array.of(104, 105)]
  await using reader = follow(
    protocol(venue, {
      hello,
      onBinaryFrame: frame => (frame.length === 0 ? [] : [{ type: 'event', event: `bytes ${[...frame].join(' ')}` }])
    }),
    patient
  )
  await reader.receives(1)
  venue.last.send(Buffer.of(1, 2, 255))
  venue.last.send('text')
  await reader.receives(3)
  assert.deepEqual(reader.history(), ['live', 'bytes 1 2 255', 'text'])
  // The venue greets before it has read anything.
  await until(() => received.length > 0, 'the venue has the hello')
  assert.deepEqual(received, ['true hi'])

  // It connects again after its gap, and must not be the venue's last one then.
  {
    await using texts = follow(protocol(venue, { textIsBinary: true }), patient)
    await texts.receives(1)
    venue.last.send(Buffer.from('grüße'))
    venue.last.send(Buffer.of(0xff))
    await texts.receives(3)
    assert.deepEqual(texts.history().slice(0, 3), ['live', 'grüße', 'gap'])
  }

  await using deaf = follow(protocol(venue), patient)
  await deaf.receives(1)
  venue.last.send(Buffer.from('text'))
  await deaf.receives(2)
  assert.deepEqual(deaf.causes(), ['malformed'])
})
