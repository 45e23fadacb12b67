import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalInterval, fits, parseInterval } from '../../../src/domain/market/interval.ts'

test('numbers and units, case-sensitive; hours are minutes', () => {
  assert.deepEqual(parseInterval('4h'), { unit: 'minute', count: 240 })
  assert.deepEqual(parseInterval('240m'), parseInterval('4h'))
  const table = {
    '1m': '1m',
    '1440m': '1440m',
    '24h': '1440m',
    '1d': '1d',
    '365d': '365d',
    '1w': '1w',
    '52w': '52w',
    '1M': '1M',
    '12M': '12M',
    '1y': '1y'
  }
  for (const [text, canonical] of Object.entries(table)) assert.equal(canonicalInterval(parseInterval(text)), canonical)
})

test('anything else is malformed', () => {
  const bad = [
    '',
    'm',
    '1',
    '0m',
    '-1m',
    '01m',
    '1.5h',
    '1441m',
    '25h',
    '366d',
    '53w',
    '13M',
    '2y',
    '1Y',
    '1D',
    '1H',
    '1s',
    ' 1m',
    '1m ',
    '1e2m',
    '٣m',
    '1mm',
    '99999999999999m',
    '1\u0000m',
    '+1m'
  ]
  for (const text of [...bad, 1, null, undefined, {}, ['1m']]) assert.throws(() => parseInterval(text), { name: 'Malformed' }, String(text))
})

test('which intervals can be aggregated from which', () => {
  const made = (base: string, interval: string, grid?: number): boolean => fits(parseInterval(base), parseInterval(interval), grid)
  for (const [base, interval] of [
    ['1m', '7m'],
    ['5m', '4h'],
    ['30m', '4h'],
    ['30m', '1d'],
    ['1d', '1w'],
    ['1d', '5M'],
    ['1w', '2w'],
    ['1M', '1y'],
    ['1M', '3M'],
    ['3d', '3d'],
    ['3M', '1y']
  ] as const)
    assert.equal(made(base, interval), true, `${interval} of ${base}`)
  for (const [base, interval] of [
    ['5m', '7m'],
    ['1h', '4h'],
    ['1h', '1d'],
    ['4h', '4h'],
    ['7m', '1d'],
    ['2d', '4d'],
    ['1w', '1M'],
    ['1d', '1h'],
    ['1y', '1M'],
    ['2M', '3M']
  ] as const)
    assert.equal(made(base, interval), false, `${interval} of ${base}`)
  assert.equal(made('4h', '1d', 1_440), true)
  assert.equal(made('1h', '4h', 60), true)
})
