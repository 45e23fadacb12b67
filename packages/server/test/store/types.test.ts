// Column values: instants, days and texts cross the database unchanged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import { BEFORE_ALL_TIME, readTimestamp, searchable, storable, TYPES } from '../../src/store/types.ts'

test('an instant as PostgreSQL writes it becomes the domain’s, whatever zeros it left out', () => {
  const cases = [
    ['2026-11-21 14:30:00+00', '2026-11-21T14:30:00.000000Z'],
    ['2026-11-21 14:30:00.1+00', '2026-11-21T14:30:00.100000Z'],
    ['2026-11-21 14:30:00.000001+00', '2026-11-21T14:30:00.000001Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000000Z']
  ] as const
  for (const [written, read] of cases) assert.equal(readTimestamp(written), read)
  assert.equal(readTimestamp('-infinity'), BEFORE_ALL_TIME)
})

test('an instant of another zone or style is refused, not misread', () => {
  for (const text of ['2026-11-21 14:30:00+01', '2026-11-21 14:30:00-05:30', 'Sat 21 Nov 14:30:00 2026 UTC', 'infinity', ''])
    assert.throws(() => readTimestamp(text), /UTC with ISO dates/)
})

test('an integer beyond what is exact is refused', () => {
  const parse = TYPES.getTypeParser(20, 'text')
  assert.equal(parse('9007199254740991'), Number.MAX_SAFE_INTEGER)
  assert.throws(() => parse('9007199254740992'), RangeError)
})

test('what is storable stays itself unless it cannot be stored', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const stored = storable(text)
      assert.ok(stored.isWellFormed() && !stored.includes('\0'))
      if (text.isWellFormed() && !text.includes('\0')) assert.equal(stored, text)
      assert.equal(storable(stored), stored)
    })
  )
  assert.equal(storable('a\0b\ud800'), 'a\u2400b\ufffd')
})

test('an instant before the first year is searched for as before all time', () => {
  assert.equal(searchable(parseTimestamp('0000-06-01T00:00:00Z', 'time')), BEFORE_ALL_TIME)
  const at = parseTimestamp('0001-01-01T00:00:00Z', 'time')
  assert.equal(searchable(at), at)
})
