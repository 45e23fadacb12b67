import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@msgpack/msgpack'
import { compare } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseNanos } from '@trunkline/core/domain/market/records'
import fc from 'fast-check'
import { JSON_CODEC, MESSAGE_PACK_CODEC } from '../../../src/alpaca/market/codec.ts'
import { effectOf } from '../../../src/alpaca/market/conditions.ts'
import { LimitOrderBook } from '../../../src/alpaca/market/order-book.ts'
import { exact, msOf, nanosOf } from '../../../src/alpaca/market/values.ts'

test('numbers as they were written, small ones without their exponent', () => {
  assert.deepEqual(
    ['1.50', '100', 0.1, 1.5e-7, '1.5e-7', '1E+3', '2e2', '1.25e1', '-3e-2', 12n, '-0', '0'].map(value => exact(value, 'p')),
    ['1.50', '100', '0.1', '0.00000015', '0.00000015', '1000', '200', '12.5', '-0.03', '12', '0', '0']
  )
  for (const value of [
    '',
    'x',
    '1e',
    'e5',
    '1e999',
    '0x10',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    {},
    [],
    true,
    '01',
    '1.'
  ])
    assert.throws(() => exact(value, 'p'), Malformed)
})

test('every finite number is the decimal that its shortest text means', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-12, max: 1e15, noNaN: true }), number => {
      const text = exact(number, 'p')
      assert.equal(Number(text), number)
      assert.equal(compare(text, exact(JSON.stringify(number), 'p')), 0)
    })
  )
})

test('times to the nanosecond', () => {
  assert.equal(nanosOf('2026-11-03T15:51:44.208000001Z', 't'), '1793721104208000001')
  assert.equal(nanosOf('2026-11-03T15:51:44Z', 't'), '1793721104000000000')
  assert.equal(nanosOf('2026-11-03T15:51:44.5Z', 't'), '1793721104500000000')
  assert.equal(msOf('2026-11-03T15:51:00Z', 't'), Date.UTC(2026, 10, 3, 15, 51))
  for (const value of ['2026-11-03T15:51:44-05:00', '2026-13-03T15:51:44Z', '1969-01-01T00:00:00Z', '', null, 5])
    assert.throws(() => nanosOf(value, 't'), Malformed)
})

test('what a trade moves follows from its conditions', () => {
  const effects = [
    effectOf(['@'], 'C'),
    effectOf(['@', 'I'], 'C'),
    effectOf(['@', 'F', 'T'], 'C'),
    effectOf(['M'], 'A'),
    effectOf([' ', 'I', 'Q'], 'C'),
    effectOf(['B'], 'A'),
    effectOf(['B'], 'C'),
    effectOf(null, 'C'),
    effectOf([5], 'C')
  ]
  assert.deepEqual(effects, ['all', 'volume', 'all', 'none', 'none', 'volume', 'all', 'all', 'all'])
})

test('MessagePack: times keep their nanoseconds, and bytes that are none are malformed', () => {
  const seconds = 1_793_721_104
  const time = new Uint8Array(10)
  const view = new DataView(time.buffer)
  view.setUint8(0, 0xd7)
  view.setInt8(1, -1)
  view.setUint32(2, (208_000_001 << 2) >>> 0)
  view.setUint32(6, seconds)
  const frame = Uint8Array.from([0x91, 0x82, ...encode('T'), ...encode('t'), ...encode('t'), ...time])
  assert.deepEqual(MESSAGE_PACK_CODEC.decode(frame), [{ T: 't', t: `${seconds}208000001` }])
  assert.deepEqual(MESSAGE_PACK_CODEC.decode(encode([{ p: 0.1, i: 2n ** 60n }], { useBigInt64: true })), [{ p: 0.1, i: 2n ** 60n }])
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      try {
        MESSAGE_PACK_CODEC.decode(bytes)
      } catch (error) {
        assert.ok(error instanceof Malformed, String(error))
      }
    })
  )
  assert.throws(() => MESSAGE_PACK_CODEC.decode('[]'), Malformed)
  assert.throws(() => JSON_CODEC.decode(Uint8Array.of(1)), Malformed)
  assert.throws(() => JSON_CODEC.decode('{}'), Malformed)
  assert.deepEqual(JSON_CODEC.decode('[{"i":7435034902354320001,"p":66052.250}]'), [{ i: '7435034902354320001', p: '66052.250' }])
})

const AT = parseNanos('1', 'at')
type Levels = readonly { readonly p: string; readonly s: string }[]

test('prices that are one binary number are two levels, in their order', () => {
  const orderBook = new LimitOrderBook()
  const [low, high] = ['0.10000000000000000001', '0.10000000000000000002']
  const levels = [high, low].map(p => ({ p, s: '1' }))
  const prices = (side: readonly { readonly price: string }[] | undefined) => side?.map(({ price }) => price)
  const whole = orderBook.after({ r: true, b: levels, a: levels }, AT)
  assert.deepEqual(
    [prices(whole?.bids), prices(whole?.asks)],
    [
      [high, low],
      [low, high]
    ]
  )
  const less = orderBook.after({ b: [{ p: `${low}0`, s: '0' }] }, AT)
  assert.deepEqual([prices(less?.bids), prices(less?.asks)], [[high], [low, high]])
})

test('an order book is its full state and the changes since', () => {
  const level = fc.record({ p: fc.integer({ min: 1, max: 30 }).map(String), s: fc.integer({ min: 0, max: 5 }).map(String) })
  const levels: fc.Arbitrary<Levels> = fc.array(level, { maxLength: 8 })
  const messages = fc.array(fc.record({ b: levels, a: levels, r: fc.boolean() }), { maxLength: 12 })
  fc.assert(
    fc.property(messages, all => {
      const orderBook = new LimitOrderBook()
      const sides = { b: new Map<string, string>(), a: new Map<string, string>() }
      let isWhole = false
      for (const message of all) {
        if (message.r) {
          isWhole = true
          sides.b.clear()
          sides.a.clear()
        }
        for (const side of ['b', 'a'] as const)
          for (const { p, s } of message[side]) {
            if (s === '0') sides[side].delete(p)
            else sides[side].set(p, s)
          }
        const shown = orderBook.after(message, AT)
        if (!isWhole) {
          assert.equal(shown, null)
          sides.b.clear()
          sides.a.clear()
          continue
        }
        const best = (side: Map<string, string>, sign: number) => [...side].sort(([a], [b]) => sign * (Number(a) - Number(b))).slice(0, 10)
        assert.deepEqual(
          shown?.bids.map(({ price, size }) => [price, size]),
          best(sides.b, -1)
        )
        assert.deepEqual(
          shown?.asks.map(({ price, size }) => [price, size]),
          best(sides.a, 1)
        )
      }
    })
  )
})
