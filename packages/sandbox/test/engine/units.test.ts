import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PriceQueue } from '../../src/engine/queue.ts'
import { ceilToCents, divideHalfUp, formatMoney, formatScaled, readScaled, roundToCents, toMoney } from '../../src/engine/units.ts'

const CENT = 10n ** 16n
const scaled = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })

test('what is written is read back', () => {
  fc.assert(fc.property(scaled, value => assert.equal(readScaled(formatScaled(value)), value)))
})

test('money keeps at least two decimal places and loses none', () => {
  assert.equal(formatMoney(0n), '0.00')
  assert.equal(formatMoney(-CENT * 5n), '-0.05')
  assert.equal(formatMoney(1n), '0.000000000000000001')
  assert.equal(formatMoney(toMoney(1_500_000_000n)), '1.50')
  assert.equal(formatScaled(1_500_000_000n), '1.5')
})

test('cents are rounded half up, or away from zero if negative', () => {
  assert.equal(roundToCents(CENT / 2n), CENT)
  assert.equal(roundToCents(CENT / 2n - 1n), 0n)
  assert.equal(roundToCents(-CENT / 2n), -CENT)
  assert.equal(ceilToCents(1n), CENT)
  assert.equal(ceilToCents(CENT), CENT)
  assert.equal(divideHalfUp(5n, 2n), 3n)
})

for (const text of ['', ' 1', '+1', '1.', '.5', '01', '1e3', '1,5', '0x1', 'NaN', '1.0000000001', '10000000000', 7, null, undefined]) {
  test(`not a number: ${JSON.stringify(text) ?? 'undefined'}`, () => assert.equal(readScaled(text), undefined))
}

test('the queue serves by price, then by arrival, whatever is added and removed', () => {
  const step = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.bigInt({ min: 1n, max: 6n }))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), fc.boolean(), (steps, highest) => {
      const queue = new PriceQueue<number>(highest ? 'highest' : 'lowest')
      const places: { price: bigint; at: number; place: ReturnType<typeof queue.add> }[] = []
      for (const [at, [what, price]] of steps.entries()) {
        if (what > 0 || places.length === 0) places.push({ price, at, place: queue.add(price, at) })
        else {
          const [gone] = places.splice(Number(price) % places.length, 1)
          if (gone !== undefined) queue.remove(gone.place)
        }
        const expected = places.toSorted((a, b) => (a.price === b.price ? a.at - b.at : highest === a.price > b.price ? -1 : 1))
        assert.deepEqual(
          queue.items(),
          expected.map(entry => entry.at)
        )
        assert.equal(queue.size, places.length)
      }
    })
  )
})
