import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nanosOfMs } from '@trunkline/core/domain/market/records'
import fc from 'fast-check'
import { LimitOrderBook } from '../../src/kit/order-book.ts'

const AT = nanosOfMs(1)
type Levels = readonly { readonly p: string; readonly s: string }[]

test('prices that are one binary number are two levels, in their order', () => {
  const orderBook = new LimitOrderBook()
  const [low, high] = ['0.10000000000000000001', '0.10000000000000000002']
  const levels = [high, low].map(p => ({ p, s: '1' }))
  const prices = (side: readonly { readonly price: string }[] | undefined) => side?.map(({ price }) => price)
  const whole = orderBook.after({ isWhole: true, bids: levels, asks: levels }, AT)
  assert.deepEqual(
    [prices(whole?.bids), prices(whole?.asks)],
    [
      [high, low],
      [low, high]
    ]
  )
  const less = orderBook.after({ isWhole: false, bids: [{ p: `${low}0`, s: '0' }], asks: null }, AT)
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
        const shown = orderBook.after({ isWhole: message.r, bids: message.b, asks: message.a }, AT)
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
