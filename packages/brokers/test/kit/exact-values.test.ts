import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import fc from 'fast-check'
import { exact, nanosOf, utcMsOf } from '../../src/kit/exact-values.ts'

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
  assert.equal(utcMsOf('2026-11-03T15:51:00Z', 't'), Date.UTC(2026, 10, 3, 15, 51))
  for (const value of ['2026-11-03T15:51:44-05:00', '2026-13-03T15:51:44Z', '1969-01-01T00:00:00Z', '', null, 5])
    assert.throws(() => nanosOf(value, 't'), Malformed)
})
