import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@msgpack/msgpack'
import { Malformed } from '@trunkline/core/domain/malformed'
import fc from 'fast-check'
import { jsonFrames, MESSAGE_PACK_FRAMES } from '../../src/kit/frame-codec.ts'

test('MessagePack: times keep their nanoseconds, and bytes that are none are malformed', () => {
  const seconds = 1_793_721_104
  const time = new Uint8Array(10)
  const view = new DataView(time.buffer)
  view.setUint8(0, 0xd7)
  view.setInt8(1, -1)
  view.setUint32(2, (208_000_001 << 2) >>> 0)
  view.setUint32(6, seconds)
  const frame = Uint8Array.from([0x91, 0x82, ...encode('T'), ...encode('t'), ...encode('t'), ...time])
  assert.deepEqual(MESSAGE_PACK_FRAMES.decode(frame), [{ T: 't', t: `${seconds}208000001` }])
  assert.deepEqual(MESSAGE_PACK_FRAMES.decode(encode([{ p: 0.1, i: 2n ** 60n }], { useBigInt64: true })), [{ p: 0.1, i: 2n ** 60n }])
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      try {
        MESSAGE_PACK_FRAMES.decode(bytes)
      } catch (error) {
        assert.ok(error instanceof Malformed, String(error))
      }
    })
  )
  assert.throws(() => MESSAGE_PACK_FRAMES.decode('[]'), Malformed)
})

test('JSON: numbers keep all their digits, and what is no list is malformed', () => {
  const frames = jsonFrames(['i', 'p'])
  assert.throws(() => frames.decode(Uint8Array.of(1)), Malformed)
  assert.throws(() => frames.decode('{}'), Malformed)
  assert.deepEqual(frames.decode('[{"i":7435034902354320001,"p":66052.250}]'), [{ i: '7435034902354320001', p: '66052.250' }])
})
