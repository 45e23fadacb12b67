import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { meantSymbols, shownSymbol, underlyingOf } from '../../../src/dialects/tradestation/symbols.ts'

const PAIRS: readonly (readonly [brokerage: string, theirs: string])[] = [
  ['SPY', 'SPY'],
  ['BRK.B', 'BRK.B'],
  ['SPY261218C00660000', 'SPY 261218C660'],
  ['SPY261218P00012500', 'SPY 261218P12.5'],
  ['F261218P00000125', 'F 261218P0.125'],
  ['ESZ26', 'ESZ26'],
  ['6EH27', 'ECH27'],
  ['NKDU26', 'NKU26'],
  ['BTC/USD', 'BTCUSD']
]

test('symbols are mapped both ways', () => {
  for (const [brokerage, theirs] of PAIRS) {
    assert.equal(shownSymbol(brokerage), theirs)
    assert.ok(meantSymbols(theirs).includes(brokerage), `${theirs} means ${meantSymbols(theirs).join(', ')}`)
  }
  assert.deepEqual(meantSymbols('$SPXW.X 261218C6000'), [])
  assert.deepEqual([underlyingOf('$SPX.X'), underlyingOf('SPY')], ['SPX', 'SPY'])
})

test('every option symbol is mapped both ways', () => {
  const option = fc.tuple(
    fc.stringMatching(/^[A-Z]{1,6}$/),
    fc.date({ min: new Date('2020-01-01'), max: new Date('2069-12-31'), noInvalidDate: true }),
    fc.constantFrom('C', 'P'),
    fc.integer({ min: 1, max: 99_999_999 })
  )
  fc.assert(
    fc.property(option, ([root, date, right, strike]) => {
      const symbol = `${root}${date.toISOString().slice(2, 10).replaceAll('-', '')}${right}${String(strike).padStart(8, '0')}`
      assert.deepEqual(meantSymbols(shownSymbol(symbol)), [symbol])
    })
  )
})

test('no text makes the symbol parser throw', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      for (const symbol of meantSymbols(text)) assert.equal(symbol.includes(' '), false)
      shownSymbol(text)
      underlyingOf(text)
    })
  )
})
