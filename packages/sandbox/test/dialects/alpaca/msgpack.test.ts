import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BadPack, pack, unpack } from '../../../src/dialects/alpaca/msgpack.ts'

/** Packed as instants, and refused by the reader. */
const SPECIAL = /"t"|"__proto__"/

test('what is packed comes back', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map(value => JSON.parse(JSON.stringify(value)))
  fc.assert(
    fc.property(
      json.filter(value => !SPECIAL.test(JSON.stringify(value))),
      value => assert.deepEqual(unpack(pack(value)), value)
    )
  )
})

test('no input makes it fail with anything but its own error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      try {
        unpack(Buffer.from(bytes))
      } catch (error) {
        assert.ok(error instanceof BadPack, String(error))
      }
    }),
    { numRuns: 2_000 }
  )
})

test('instants are packed as instants, to the nanosecond', () => {
  assert.deepEqual([...pack({ t: '1970-01-01T00:00:01.000000002Z' })], [0x81, 0xa1, 0x74, 0xd7, 0xff, 0, 0, 0, 8, 0, 0, 0, 1])
  const instant = { t: '2026-11-03T15:10:19.061200001Z' }
  assert.deepEqual(unpack(pack(instant)), instant)
  assert.equal(pack({ t: 'no time' }).toString('latin1').slice(-7), 'no time')
})
