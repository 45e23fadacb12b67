import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import fc from 'fast-check'
import { futureSymbol, lastTradeOf, monthsAt, parseFutureSymbol, settlementsWithin } from '../../src/market/futures/months.ts'
import { ROOTS } from '../../src/market/futures/roots.ts'
import { expirationsOn, isExpiration, lastTradeOf as optionEnd } from '../../src/market/options/expirations.ts'
import { optionSymbol, parseOptionSymbol, strikeText } from '../../src/market/options/occ.ts'

function newYork(text: string): number {
  return Temporal.ZonedDateTime.from(`${text}[America/New_York]`).epochMilliseconds * 1_000
}

test('option symbols are parsed and formatted', () => {
  assert.deepEqual(parseOptionSymbol('SPY261218C00660000'), {
    underlying: 'SPY',
    expiration: '2026-12-18',
    right: 'call',
    strike: 660_000
  })
  assert.equal(optionSymbol({ underlying: 'AAPL', expiration: '2027-01-15', right: 'put', strike: 242_500 }), 'AAPL270115P00242500')
  assert.deepEqual([660_000, 242_500, 125, 1_010].map(strikeText), ['660', '242.5', '0.125', '1.01'])
  for (const text of [
    '',
    'SPY',
    'SPY261218X00660000',
    'SPY261218C0066000',
    'spy261218C00660000',
    'SPY261318C00660000',
    'SPY270229C00660000',
    'SPY261218C00000000',
    'SPY   261218C00660000',
    'TOOLONGX261218C00660000'
  ])
    assert.equal(parseOptionSymbol(text), null, text)
  fc.assert(
    fc.property(
      fc.constantFrom('F', 'SPY', 'GOOGL'),
      fc.integer({ min: 0, max: 36_000 }),
      fc.constantFrom('call', 'put'),
      fc.integer({ min: 1, max: 99_999_999 }),
      (underlying, day, right, strike) => {
        const expiration = Temporal.PlainDate.from('2000-01-01').add({ days: day }).toString()
        const name = { underlying, expiration, right, strike } as const
        assert.deepEqual(parseOptionSymbol(optionSymbol(name)), name)
      }
    )
  )
})

test('options expire on Fridays, on the Thursday before a holiday, weekly, monthly and quarterly', () => {
  assert.deepEqual(expirationsOn('2026-11-21'), [
    '2026-11-27',
    '2026-12-04',
    '2026-12-11',
    '2026-12-18',
    '2026-12-24', // the Friday is Christmas
    '2026-12-31', // the Friday is New Year's day
    '2027-01-15',
    '2027-02-19',
    '2027-03-19',
    '2027-06-17', // the Friday is the holiday of Juneteenth
    '2027-09-17',
    '2027-12-17'
  ])
  assert.equal(expirationsOn('2026-11-27')[0], '2026-11-27')
  assert.equal(optionEnd('2026-11-27'), newYork('2026-11-27T13:00'))
  assert.equal(optionEnd('2026-12-18'), newYork('2026-12-18T16:00'))
  assert.equal(optionEnd('2026-12-25'), null)
  assert.deepEqual(['2026-12-24', '2026-12-25', '2026-12-17', '2026-12-18', '2026-12-19', '2025-04-17', '2025-04-18'].map(isExpiration), [
    true,
    false,
    false,
    true,
    false,
    true,
    false
  ])
})

test('an expiration stays listed until its day', () => {
  const calendar = usEquityCalendar()
  let before: readonly string[] = []
  for (let date = Temporal.PlainDate.from('2026-01-01'); date.year < 2029; date = date.add({ days: 1 })) {
    const today = date.toString()
    const listed = expirationsOn(today)
    assert.ok(listed.length >= 9 && listed.length <= 14, `${today}: ${listed.length}`)
    assert.deepEqual(listed, [...new Set(listed)].toSorted())
    for (const expiration of before)
      assert.ok(expiration < today || listed.includes(expiration), `${expiration} was listed before ${today}`)
    for (const expiration of listed) assert.ok(isExpiration(expiration) && calendar.isTradingDay(expiration), expiration)
    before = listed
  }
})

test('futures months end by the rule of their root', () => {
  // As the exchange published them: crude oil for January 2024, July 2025 and January 2027, gold for December 2025.
  for (const [rule, month, end] of [
    ['third-friday', '2026-12', '2026-12-18T09:30'],
    ['third-friday', '2027-06', '2027-06-17T09:30'],
    ['third-friday', '2013-12', '2013-12-20T09:30'],
    ['crude-oil', '2024-01', '2023-12-19T14:30'],
    ['crude-oil', '2025-07', '2025-06-20T14:30'],
    ['crude-oil', '2027-01', '2026-12-21T14:30'],
    ['gold', '2025-12', '2025-12-29T13:30'],
    ['gold', '2026-11', '2026-11-25T13:30']
  ] as const)
    assert.equal(lastTradeOf(rule, month), newYork(end), `${rule} ${month}`)
})

test('months are listed consecutively: when one ends, another is listed', () => {
  const at = newYork('2026-11-20T12:00')
  assert.deepEqual(monthsAt('ES', at), ['2026-12', '2027-03', '2027-06', '2027-09', '2027-12'])
  assert.deepEqual(monthsAt('ES', newYork('2026-12-18T09:29')), ['2026-12', '2027-03', '2027-06', '2027-09', '2027-12'])
  assert.deepEqual(monthsAt('ES', newYork('2026-12-18T09:30')), ['2027-03', '2027-06', '2027-09', '2027-12', '2028-03'])
  assert.equal(monthsAt('CL', at).length, 9)
  // December's crude oil ends this afternoon.
  assert.deepEqual([monthsAt('CL', at)[0], monthsAt('CL', newYork('2026-11-20T14:30'))[0]], ['2026-12', '2027-01'])
  assert.equal(monthsAt('GC', at)[0], '2026-11')
  assert.deepEqual(
    [parseFutureSymbol('ESZ26'), parseFutureSymbol('GCF27')],
    [
      { root: 'ES', month: '2026-12' },
      { root: 'GC', month: '2027-01' }
    ]
  )
  for (const text of ['', 'ES', 'ESA26', 'ESZ6', 'ESZ2026', 'ES/Z26', 'esz26']) assert.equal(parseFutureSymbol(text), null, text)
  for (const root of ROOTS)
    for (const month of monthsAt(root, at)) assert.deepEqual(parseFutureSymbol(futureSymbol({ root, month })), { root, month })
})

test('settlements are the closes of business days', () => {
  // From Wednesday noon over Thanksgiving and the early Friday to the Monday after.
  assert.deepEqual(settlementsWithin(newYork('2026-11-25T12:00'), newYork('2026-11-30T16:00')), [
    newYork('2026-11-25T16:00'),
    newYork('2026-11-27T13:00'),
    newYork('2026-11-30T16:00')
  ])
  assert.deepEqual(settlementsWithin(newYork('2026-11-25T16:00'), newYork('2026-11-27T12:59')), [])
})
