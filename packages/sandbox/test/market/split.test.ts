import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { draw, keyOf } from '../../src/market/synthetic/chance.ts'
import { portions, prices, type Shape, split } from '../../src/market/synthetic/split.ts'

const shapes = fc
  .tuple(
    fc.array(fc.integer({ min: 1, max: 20_000_000 }), { minLength: 4, maxLength: 4 }),
    fc.integer({ min: 0, max: 900_000_000 }),
    fc.boolean()
  )
  .map(([values, volume, flat]): Shape => {
    const [low = 1, open = 1, close = 1, high = 1] = flat ? values.map(() => values[0] ?? 1) : values.toSorted((a, b) => a - b)
    return { open, high, low, close, volume }
  })

const draws = (key: number) => (index: number, what: number) => draw(key, index, what)

test('a bar split into parts is the sum of its parts', () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 5 }), fc.integer(), (shape, count, least, key) => {
      const whole = { ...shape, volume: shape.volume + count * least }
      const parts = split(whole, count, least, draws(key))
      assert.equal(parts.length, count)
      assert.equal(parts[0]?.open, whole.open)
      assert.equal(parts.at(-1)?.close, whole.close)
      assert.equal(Math.max(...parts.map(({ high }) => high)), whole.high)
      assert.equal(Math.min(...parts.map(({ low }) => low)), whole.low)
      assert.equal(
        parts.reduce((sum, { volume }) => sum + volume, 0),
        whole.volume
      )
      for (const [index, part] of parts.entries()) {
        assert.ok(part.volume >= least)
        assert.ok(part.low <= Math.min(part.open, part.close) && part.high >= Math.max(part.open, part.close))
        if (index > 0) assert.equal(part.open, parts[index - 1]?.close)
      }
    })
  )
})

test('the prices of a bar open, reach both extremes and close', () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 4, max: 1_200 }), fc.integer(), (whole, count, key) => {
      const { path, high, low } = prices(whole, count, draws(key))
      assert.equal(path.length, count)
      assert.equal(path[0], whole.open)
      assert.equal(path.at(-1), whole.close)
      assert.equal(path[high], whole.high)
      assert.equal(path[low], whole.low)
      assert.equal(Math.max(...path), whole.high)
      assert.equal(Math.min(...path), whole.low)
      assert.equal(new Set([0, high, low, count - 1]).size, 4)
    })
  )
})

test('portions are integers, none below the minimum, and add up', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 1e9 }),
      fc.integer(),
      (count, least, spare, key) => {
        const parts = portions(count * least + spare, count, least, draws(key))
        assert.ok(parts.every(part => Number.isInteger(part) && part >= least))
        assert.equal(
          parts.reduce((a, b) => a + b, 0),
          count * least + spare
        )
      }
    )
  )
})

test('a draw is a function of its coordinates, differs between neighbours, and is uniform', () => {
  const key = keyOf('1/AAPL')
  assert.equal(draw(key, 3, 4, 5), draw(keyOf('1/AAPL'), 3, 4, 5))
  assert.notEqual(keyOf('1/AAPL'), keyOf('2/AAPL'))
  const seen = new Set<number>()
  const buckets = Array.from({ length: 16 }, () => 0)
  for (let a = 0; a < 50; a++)
    for (let b = 0; b < 50; b++)
      for (let c = 0; c < 8; c++) {
        const value = draw(key, a, b, c)
        seen.add(value)
        buckets[value % 16] = (buckets[value % 16] ?? 0) + 1
      }
  assert.ok(seen.size > 19_980, `${seen.size} different of 20,000`)
  for (const count of buckets) assert.ok(count > 1_100 && count < 1_400, `${buckets}`)
})
