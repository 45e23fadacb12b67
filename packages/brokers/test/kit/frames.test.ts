// Frames of all kinds, and signs of life that are none.
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
  await reader.heard(1)
  await until(() => pings > 50, 'it was pinged for many heartbeats')
  assert.deepEqual(reader.words(), ['live'])
  venue.last.pause()
  await until(() => reader.causes().includes('silence'), 'a venue that answers no ping is lost')
})

test('a venue that never answers the hello is live from the opening on', async () => {
  await using venue = await Venue.start()
  venue.greeting = ''
  await using reader = follow(
    protocol(venue, {
      opened: line => {
        line.say('and more')
        line.tell({ type: 'live', heartbeatMs: 10_000 })
      }
    })
  )
  await reader.heard(1)
  assert.deepEqual(reader.words(), ['live'])
  await until(() => venue.heard.length === 2, 'it was greeted')
  assert.deepEqual(venue.heard, ['hello', 'and more'])
})

test('bytes go both ways, to whoever reads them; to others they are an error', async () => {
  await using venue = await Venue.start()
  const heard: string[] = []
  venue.server.on('connection', socket => socket.on('message', (data, isBinary) => heard.push(`${isBinary} ${data.toString()}`)))
  const hello = [Uint8Array.of(104, 105)]
  await using reader = follow(
    protocol(venue, {
      hello,
      hearBytes: frame => (frame.length === 0 ? [] : [{ type: 'event', event: `bytes ${[...frame].join(' ')}` }])
    })
  )
  await reader.heard(1)
  venue.last.send(Buffer.of(1, 2, 255))
  venue.last.send('text')
  await reader.heard(3)
  assert.deepEqual(reader.words(), ['live', 'bytes 1 2 255', 'text'])
  assert.deepEqual(heard, ['true hi'])

  await using texts = follow(protocol(venue, { textIsBinary: true }))
  await texts.heard(1)
  venue.last.send(Buffer.from('grüße'))
  venue.last.send(Buffer.of(0xff))
  await texts.heard(3)
  assert.deepEqual(texts.words().slice(0, 3), ['live', 'grüße', 'gap'])

  await using deaf = follow(protocol(venue))
  await deaf.heard(1)
  venue.last.send(Buffer.from('text'))
  await deaf.heard(2)
  assert.deepEqual(deaf.causes(), ['malformed'])
})
