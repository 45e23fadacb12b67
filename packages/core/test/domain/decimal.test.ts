import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  canonical,
  compare,
  type Decimal,
  dividedBy,
  isDecimal,
  minus,
  negated,
  parseDecimal,
  plus,
  sum,
  times
} from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import fc from 'fast-check'

const PLACES = 9

/** An integer of billionths and its decimal text: bigint arithmetic is the oracle. */
const scaled = fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }).map(units => ({ units, text: textOf(units, PLACES) }))

function textOf(units: bigint, places: number): Decimal {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0')
  const whole = digits.slice(0, -places)
  const fraction = digits.slice(-places).replace(/0+$/, '')
  const text = fraction === '' ? whole : `${whole}.${fraction}`
  return parseDecimal(units < 0n ? `-${text}` : text, 'made')
}

test('sums, differences and products are exact', () => {
  fc.assert(
    fc.property(scaled, scaled, (a, b) => {
      assert.equal(plus(a.text, b.text), textOf(a.units + b.units, PLACES))
      assert.equal(minus(a.text, b.text), textOf(a.units - b.units, PLACES))
      assert.equal(times(a.text, b.text), textOf(a.units * b.units, 2 * PLACES))
    })
  )
})

test('0.1 and 0.2 make 0.3, however often they are added', () => {
  assert.equal(sum([parseDecimal('0.1', 'a'), parseDecimal('0.2', 'b')]), '0.3')
  assert.equal(sum(Array.from({ length: 1_000 }, () => parseDecimal('0.1', 'a'))), '100')
})

test('comparison orders values, not texts', () => {
  fc.assert(
    fc.property(scaled, scaled, (a, b) => {
      assert.equal(compare(a.text, b.text), a.units < b.units ? -1 : a.units > b.units ? 1 : 0)
    })
  )
  assert.equal(compare(parseDecimal('1.50', 'a'), parseDecimal('1.5', 'b')), 0)
})

test('a broker’s number keeps its notation', () => {
  for (const text of ['1.50', '0.000000001', '100', '-0.10', '99999999999999999999.000000000000000001'])
    assert.equal(parseDecimal(text, 'price'), text)
})

test('division rounds half to even at the requested places', () => {
  const cases = [
    ['1', '8', 2, '0.12'],
    ['3', '8', 2, '0.38'],
    ['-1', '8', 2, '-0.12'],
    ['2', '3', 6, '0.666667'],
    ['10', '5', 4, '2']
  ] as const
  for (const [a, b, places, expected] of cases) assert.equal(dividedBy(parseDecimal(a, 'a'), parseDecimal(b, 'b'), places), expected)
})

test('anything that is not a plain decimal is refused, by name', () => {
  const bad = [
    '',
    ' 1',
    '1 ',
    '+1',
    '1e3',
    '1E3',
    '.5',
    '5.',
    '00.1',
    '01',
    '-0',
    '-0.00',
    'NaN',
    'Infinity',
    '0x10',
    '1,000',
    '1_0',
    '１',
    '1\u0000',
    `1.${'0'.repeat(40)}`,
    1,
    null,
    undefined,
    {}
  ]
  for (const text of bad) {
    assert.equal(isDecimal(text), false, JSON.stringify(text))
    assert.throws(
      () => parseDecimal(text, 'order_qty'),
      (error: unknown) => error instanceof Malformed && error.message.startsWith('order_qty must be')
    )
  }
})

test('no result ever has an exponent, a bare minus or trailing zeros', () => {
  fc.assert(
    fc.property(scaled, scaled, (a, b) => {
      for (const result of [plus(a.text, b.text), times(a.text, b.text), negated(a.text), canonical(b.text)]) {
        assert.match(result, /^(?:0|-?(?:0\.\d*[1-9]|[1-9]\d*(?:\.\d*[1-9])?))$/)
      }
    })
  )
})
