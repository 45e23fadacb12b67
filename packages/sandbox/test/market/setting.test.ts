import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMarketSetting } from '../../src/market/index.ts'

const NOTHING_SET = { dates: null, at: null, speed: null, symbols: null, resolution: null }

test('every part of the market setting is read', () => {
  assert.deepEqual(parseMarketSetting('synthetic'), { kind: 'synthetic' })
  assert.deepEqual(parseMarketSetting('replay:../data'), { kind: 'replay', folder: '../data', ...NOTHING_SET })
  assert.deepEqual(parseMarketSetting('replay:/a b?date=2013-10-07&speed=60&at=09:30&symbols=spy,BTC/USD&resolution=minute'), {
    kind: 'replay',
    folder: '/a b',
    dates: { first: '2013-10-07', last: '2013-10-07' },
    at: '09:30',
    speed: 60,
    symbols: ['SPY', 'BTC/USD'],
    resolution: 'minute'
  })
  assert.deepEqual(parseMarketSetting('replay:x?date=2014-06-06..2014-06-09&speed=max'), {
    kind: 'replay',
    folder: 'x',
    ...NOTHING_SET,
    dates: { first: '2014-06-06', last: '2014-06-09' },
    speed: 'max'
  })
})

test('invalid settings are refused, naming the part', () => {
  const table: ReadonlyArray<readonly [string, RegExp]> = [
    ['', /the market/],
    ['replay:', /the market/],
    ['real', /the market/],
    ['replay:x?date=yesterday', /date/],
    ['replay:x?date=2014-06-09..2014-06-06', /date/],
    ['replay:x?date=2014-06-06..2014-06-07..2014-06-08', /date/],
    ['replay:x?date=2014-02-30', /date/],
    ['replay:x?speed=-1', /speed/],
    ['replay:x?speed=fast', /speed/],
    ['replay:x?at=9', /start/],
    ['replay:x?resolution=weekly', /resolution/],
    ['replay:x?loop=1', /option/]
  ]
  for (const [text, complaint] of table) assert.throws(() => parseMarketSetting(text), { name: 'Malformed', message: complaint }, text)
})
