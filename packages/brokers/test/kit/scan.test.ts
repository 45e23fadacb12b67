/** The fast walks give the answers of the slow ones. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonical, DIGITS_MAX, dividedBy, isDecimal, isZero, minus, parseDecimal, plus, times } from '@trunkline/core/domain/decimal'
import { parseNanos } from '@trunkline/core/domain/market/records'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import { isNanos, isNil, isPlainDecimal, isPlainText, wholeNumber } from '../../src/kit/scan.ts'
import { difference, middle, percentage } from '../../src/kit/small-sums.ts'

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('0', '1', '9', '.', '-', '+', 'e', ' ', '٣'), maxLength: 44 }),
  fc.stringMatching(/^-?(0|[1-9]\d{0,39})(\.\d{1,40})?$/),
  fc.constantFrom(
    '',
    '-',
    '.',
    '-.',
    '0',
    '-0',
    '-0.00',
    '00',
    '01',
    '1.',
    '.1',
    '1.2.3',
    `1${'0'.repeat(DIGITS_MAX)}`,
    `1${'0'.repeat(DIGITS_MAX - 1)}`
  )
)

test('a plain decimal is what the core takes for one', () => {
  fc.assert(
    fc.property(texts, text => assert.equal(isPlainDecimal(text), isDecimal(text), text)),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  for (const value of [1, null, undefined, {}, ['1'], true]) assert.equal(isPlainDecimal(value), false)
})

test('nanoseconds are what the core takes for them', () => {
  const taken = (text: unknown) => {
    try {
      parseNanos(text, 'at')
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(fc.oneof(texts, fc.stringMatching(/^\d{0,22}$/)), text => assert.equal(isNanos(text), taken(text), text)),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  for (const value of [1, null, undefined, {}]) assert.equal(isNanos(value), false)
})

test('a plain text stands in JSON as it is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), text => {
      if (isPlainText(text, 16)) assert.ok(JSON.stringify(text) === `"${text}"` && /^[ -~]{0,16}$/.test(text))
      else assert.ok(text.length > 16 || /[^ -~]|["\\]/.test(text), text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})

const numbers = fc
  .oneof(fc.stringMatching(/^-?(0|[1-9]\d{0,5})(\.\d{1,4})?$/), fc.stringMatching(/^-?(0|[1-9]\d{0,11})(\.\d{1,9})?$/))
  .filter(isDecimal)

test('sums of small and of long numbers are those of the core', () => {
  const [two, hundred] = [parseDecimal('2', 'two'), parseDecimal('100', 'hundred')]
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      assert.equal(canonical(middle(a, b)), dividedBy(plus(a, b), two, 20))
      assert.equal(difference(a, b), minus(a, b))
      assert.equal(percentage(a, b), isZero(b) ? null : dividedBy(times(a, hundred), b, 4))
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})

test('nothing is what the core takes for it', () => {
  fc.assert(
    fc.property(texts, text => {
      if (isDecimal(text)) assert.equal(isNil(text), isZero(text), text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  for (const zero of ['0', '0.0', '0.000']) assert.equal(isNil(parseDecimal(zero, 'zero')), true)
})

test('a whole number is what the language takes for it', () => {
  const digits = fc.stringMatching(/^-?[0-9]{0,18}$/)
  fc.assert(
    fc.property(fc.oneof(digits, texts), text => {
      assert.equal(wholeNumber(text), /^-?\d{1,16}$/.test(text) ? Number(text) : null, text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})
