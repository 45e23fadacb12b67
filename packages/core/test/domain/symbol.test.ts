import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { FUTURE_MONTHS, formatSymbol, parseSymbol, type SymbolParts } from '@trunkline/core/domain/symbol'
import { cpuTimeOf } from '@trunkline/testkit/cpu-time'
import fc from 'fast-check'

const upper = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'), minLength: min, maxLength: max })
const day = fc
  .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2099-12-31T00:00:00Z'), noInvalidDate: true })
  .map(date => date.toISOString().slice(0, 10))

const option: fc.Arbitrary<SymbolParts> = fc.record({
  instrument: fc.constant('OPT' as const),
  root: upper(1, 5),
  expiration: day,
  right: fc.constantFrom('C' as const, 'P' as const),
  strikeThousandths: fc.integer({ min: 0, max: 99_999_999 })
})
const future: fc.Arbitrary<SymbolParts> = fc.record({
  instrument: fc.constant('FUT' as const),
  root: upper(1, 3),
  month: fc.constantFrom(...FUTURE_MONTHS),
  year: fc.integer({ min: 0, max: 99 }).map(year => String(year).padStart(2, '0'))
})
const crypto: fc.Arbitrary<SymbolParts> = fc.record({ instrument: fc.constant('CRYPTO' as const), base: upper(2, 6), quote: upper(3, 4) })
const stock: fc.Arbitrary<SymbolParts> = fc.record({ instrument: fc.constant('STK' as const), ticker: upper(1, 5) })

test('a formatted symbol parses to the same parts, from its format alone', () => {
  fc.assert(fc.property(fc.oneof(option, future, crypto, stock), parts => assert.deepEqual(parseSymbol(formatSymbol(parts)), { ...parts })))
})

test('a padded option symbol is read, and written without padding', () => {
  fc.assert(
    fc.property(option, parts => {
      const text = formatSymbol(parts)
      const root = text.slice(0, -15)
      assert.deepEqual(parseSymbol(root.padEnd(6) + text.slice(-15)), { ...parts })
    })
  )
})

test('the instrument decides if the format is ambiguous', () => {
  assert.deepEqual(parseSymbol('ESZ26'), { instrument: 'FUT', root: 'ES', month: 'Z', year: '26' })
  assert.deepEqual(parseSymbol('ESZ26', 'STK'), { instrument: 'STK', ticker: 'ESZ26' })
  assert.deepEqual(parseSymbol('BRK.B'), { instrument: 'STK', ticker: 'BRK.B' })
})

test('text that is not a symbol is refused with an example of one', () => {
  const bad = [
    '',
    'aapl',
    ' AAPL',
    'AAPL ',
    'AAPL\n',
    '123',
    'BTC/',
    '/USD',
    'BTC/USD/EUR',
    'AAPL261301C00200000',
    'AAPL260230C00200000',
    'AAPL   261218C00200000',
    'ААPL',
    'A'.repeat(30),
    'AAPL;DROP'
  ]
  for (const text of bad)
    assert.throws(
      () => parseSymbol(text),
      (error: unknown) => error instanceof Malformed && error.message.includes('AAPL'),
      text
    )
  assert.throws(() => parseSymbol('AAPL', 'CRYPTO'), /BTC\/USD/)
  assert.throws(() => parseSymbol('AAPL', 'MLEG_OPT'), Malformed)
})

test('every text is refused quickly', () => {
  const taken = cpuTimeOf(() => {
    for (const unit of ['A', 'A/', 'A ', '0', 'A.'])
      try {
        parseSymbol(unit.repeat(32_768))
      } catch (error) {
        assert.ok(error instanceof Malformed && error.message.length < 400)
      }
  })
  assert.ok(taken < 1_000, `${taken} ms`)
})
