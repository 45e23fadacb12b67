import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, type Decimal, dividedBy, isDecimal, isZero, minus, parseDecimal, plus, sum, times } from '@trunkline/core/domain/decimal'
import { SHORT_MAX } from '@trunkline/core/domain/fast/units'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'

const numbers = fc
  .oneof(fc.stringMatching(/^-?(0|[1-9]\d{0,5})(\.\d{1,4})?$/), fc.stringMatching(/^-?(0|[1-9]\d{0,13})(\.\d{1,9})?$/))
  .filter(isDecimal)

test('the arithmetic of short numbers equals that of long ones', () => {
  // With so many zeros a number is too long for the fast path, and means the same.
  const long = (text: Decimal) => parseDecimal(`${text}${text.includes('.') ? '' : '.'}${'0'.repeat(SHORT_MAX)}`, 'a long number')
  fc.assert(
    fc.property(numbers, numbers, fc.integer({ min: 0, max: 12 }), (a, b, places) => {
      assert.equal(plus(a, b), plus(long(a), b))
      assert.equal(minus(a, b), minus(a, long(b)))
      assert.equal(times(a, b), times(long(a), b))
      assert.equal(compare(a, b), compare(long(a), b))
      assert.equal(compare(a, long(a)), 0)
      assert.equal(sum([a, b, a]), sum([long(a), b, a]))
      if (isZero(b)) assert.throws(() => dividedBy(a, b, places))
      else assert.equal(dividedBy(a, b, places), dividedBy(long(a), b, places))
    }),
    { numRuns: ofSearch(20_000, 2_000) }
  )
})
