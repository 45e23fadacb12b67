import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import { utcNanos, utcTime } from '../../src/kit/scan-time.ts'

/** What the thorough way makes of it; null when it refuses. */
function thoroughly(text: string): string | null {
  try {
    return parseTimestamp(text, 't')
  } catch {
    return null
  }
}

test('what is read quickly is what is read thoroughly', () => {
  const digits = fc.stringMatching(/^[0-9]{1,9}$/)
  fc.assert(
    fc.property(fc.integer({ min: -30_000_000_000_000, max: 200_000_000_000_000 }), fc.option(digits, { nil: '' }), (ms, fraction) => {
      const text = `${new Date(ms).toISOString().slice(0, -5)}${fraction === '' ? '' : `.${fraction}`}Z`
      assert.equal(utcTime(text), thoroughly(text))
    }),
    { numRuns: 2_000 }
  )
})

test('what does not exist is not read, nor is any other form', () => {
  const part = (max: number) => fc.integer({ min: 0, max }).map(value => String(value).padStart(2, '0'))
  const near = fc
    .tuple(fc.integer({ min: 1000, max: 9999 }), part(14), part(33), part(25), part(62), part(62), fc.stringMatching(/^(\.[0-9]{0,10})?$/))
    .map(([year, month, day, hour, minute, second, fraction]) => `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}Z`)
  const broken = fc.tuple(near, fc.nat({ max: 30 }), fc.constantFrom(...'0123456789-:.TZtz+ ,/', '')).map(([text, at, other]) => {
    return text.slice(0, at) + other + text.slice(at + 1)
  })
  fc.assert(
    fc.property(fc.oneof(near, broken), text => {
      const read = utcTime(text)
      if (read !== null) assert.equal(read, thoroughly(text), text)
    }),
    { numRuns: ofSearch(20_000, 3_000) }
  )
  for (const text of [
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T00:00:00.Z',
    ''
  ])
    assert.equal(utcTime(text), null, text)
  assert.equal(utcTime('2000-02-29T23:59:59.9Z'), '2000-02-29T23:59:59.900000Z')
  assert.equal(utcTime('2026-11-21T14:30:00.123456789Z'), '2026-11-21T14:30:00.123456Z')
})

test('nanoseconds are those of the calendar, whichever way they are counted', () => {
  fc.assert(
    fc.property(fc.integer({ min: -60_000_000_000, max: 200_000_000_000 }), fc.stringMatching(/^[0-9]{0,9}$/), (seconds, fraction) => {
      const text = `${new Date(seconds * 1_000).toISOString().slice(0, -5)}${fraction === '' ? '' : `.${fraction}`}Z`
      const expected =
        seconds < 0 || !/^\d{4}-/.test(text) ? null : String(BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0')))
      assert.equal(utcNanos(text), expected, text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  assert.equal(utcNanos('1970-01-01T00:00:00.000000001Z'), '1')
  for (const text of ['1969-12-31T23:59:59.9Z', '2026-02-30T00:00:00Z', '2026-11-21T14:30:00+00:00', 'x'])
    assert.equal(utcNanos(text), null)
})

test('a time of the minute that was read last is read no otherwise than any', () => {
  const piece = fc.constantFrom(...'0123456789.:-TZ ', '', '59', '60', '.5')
  fc.assert(
    fc.property(fc.constantFrom('2026-11-21T14:30:', '1970-01-01T00:00:'), fc.array(piece, { maxLength: 12 }), (minute, rest) => {
      assert.notEqual(utcNanos(`${minute}07.25Z`), null)
      for (const text of [`${minute}${rest.join('')}`, `${minute}${rest.join('')}Z`, `${minute}07${rest.join('')}Z`])
        assert.equal(utcNanos(text) === null, utcTime(text) === null, text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})
