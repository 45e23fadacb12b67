import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { ofSearch } from '@trunkline/testkit/search'
import Big from 'big.js'
import fc from 'fast-check'
import * as parse from '../../src/kit/parse.ts'
import { plainNumber } from '../../src/kit/plain-number.ts'

/** Numbers as an untrusted sender may write them: many digits, exponents of both cases and signs, zeros wherever they may be. */
const digits = fc.stringMatching(/^[0-9]{1,30}$/)
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,25}$/)),
    fc.option(digits, { nil: null }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 40 })), { nil: null })
  )
  .map(([sign, whole, fraction, exponent]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`)

test('a plain number has the value of the written one', () => {
  fc.assert(
    fc.property(number, written => {
      const plain = plainNumber(written)
      const exact = new Big(written)
      if (plain === null) {
        assert.ok(exact.toFixed().replace(/[-.]/g, '').length > 38, written)
        return
      }
      assert.match(plain, /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/)
      assert.ok(new Big(plain).eq(exact), `${written} became ${plain}`)
      assert.equal(compare(plain, plain), 0)
    }),
    { numRuns: ofSearch(3_000, 1_000) }
  )
  const cases: readonly (readonly [string, string])[] = [
    ['1e-7', '0.0000001'],
    ['-2.50E+3', '-2500'],
    ['1.25e1', '12.5'],
    ['12.5e-3', '0.0125'],
    ['-0', '0'],
    ['-0.0', '0.0'],
    ['0e9', '0'],
    ['25310.500000000000000000000000000000000000000000', '25310.5'],
    ['1.50', '1.50']
  ]
  for (const [written, plain] of cases) assert.equal(parse.decimal({ p: written }, 'p'), plain)
  for (const p of ['1e40', '1e-40', '1e99999', '1e9999999999', '0x10', '1'.repeat(39), '1'.repeat(500), '1,5', 'Infinity'])
    assert.throws(() => parse.decimal({ p }, 'p'), Malformed, p)
})
