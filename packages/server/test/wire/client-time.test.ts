// The one way in which clients write times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseClientTime } from '../../src/wire/client-time.ts'

test('a client’s time is RFC 3339 with seconds and an offset', () => {
  for (const [text, expected] of [
    ['2026-11-21T14:30:00Z', '2026-11-21T14:30:00.000000Z'],
    ['2026-11-21t14:30:00z', '2026-11-21T14:30:00.000000Z'],
    ['2026-11-21T09:30:00.25-05:00', '2026-11-21T14:30:00.250000Z'],
    ['2026-11-21T14:30:00.123456789+00:00', '2026-11-21T14:30:00.123456Z'],
    ['2024-02-29T23:59:59+23:59', '2024-02-29T00:00:59.000000Z']
  ] as const)
    assert.equal(parseClientTime(text, 'start'), expected)
})

test('any other time is refused, and the error says what is expected', () => {
  for (const text of [
    ...['2026-11-21', '2026-11-21T14:30:00', '2026-11-21T14:30Z', '2026-11-21 14:30:00Z', '2026-11-21T14:30:00,5Z', '20261121T143000Z'],
    ...[
      '2026-11-21T14:30:00+02',
      '2026-11-21T14:30:00+0200',
      '2026-11-21T14:30:00 02:00',
      '2026-11-21T14:30:00+24:00',
      '2026-W47-6T14:30:00Z'
    ],
    ...['2026-02-30T00:00:00Z', '2026-11-21T24:00:00Z', '2026-11-21T14:60:00Z', '+002026-11-21T14:30:00Z', '2026-11-21T14:30:00Z[UTC]'],
    ...[
      '2026-11-21T14:30:00.1234567890Z',
      '2026-11-21T14:30:00.Z',
      ' 2026-11-21T14:30:00Z',
      '2026-11-21T14:30:00Z\n',
      'x'.repeat(1_000_000)
    ],
    ...['1795271400', 1_795_271_400, null, undefined, '', [], {}]
  ])
    assert.throws(
      () => parseClientTime(text, 'start'),
      /^Malformed: start must be an RFC 3339 date-time with seconds and an offset, such as/
    )
})
