// Executions with ids of which some are lost, and a total whose average the broker has rounded or truncated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { absolute, compare, type Decimal, dividedBy, isPositive, lastPlace, minus, parseDecimal, times } from '../../src/domain/decimal.ts'
import type { Fill, Order } from '../../src/domain/order.ts'
import { apply, averageFillPrice, filledQuantity } from '../../src/domain/order-machine.ts'
import { restPrice } from '../../src/domain/rest-price.ts'
import { parseTimestamp } from '../../src/domain/timestamp.ts'
import { anOrder } from './an-order.ts'

const AT = parseTimestamp('2026-11-20T15:00:00Z', 'at')
const dec = (text: string) => parseDecimal(text, 'number')
const MARKET = { instrument: 'STK', side: 'BUY', limitPrice: null } as const

interface Execution {
  readonly quantity: number
  readonly cents: number
}

const cents = (count: number) => dec((count / 100).toFixed(2))
const fillsOf = (made: readonly Execution[]): readonly Fill[] =>
  made.map(({ quantity, cents: price }, index) => ({
    ...{ fillId: `f${index}`, at: AT, execDest: null },
    quantity: dec(String(quantity)),
    price: cents(price)
  }))

/** The total of a broker that rounds to this many places, or truncates after them. */
function totalOf(made: readonly Execution[], places: number, isCutOff: boolean) {
  const quantity = made.reduce((all, execution) => all + BigInt(execution.quantity), 0n)
  const value = made.reduce((all, execution) => all + BigInt(execution.quantity * execution.cents), 0n) * 10n ** BigInt(places)
  const average = isCutOff ? value / (quantity * 100n) : (2n * value + quantity * 100n) / (2n * quantity * 100n)
  const digits = average.toString().padStart(places + 1, '0')
  return { quantity: dec(String(quantity)), averagePrice: dec(`${digits.slice(0, -places)}.${digits.slice(-places)}`) }
}

/** Mostly shares for a few cents, and a few executions much larger than the others: then an average says little about a single one. */
const lots = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 10_000, max: 50_000 }))
const case_ = fc.record({
  made: fc.integer({ min: 3, max: 70 }).chain(middle =>
    fc.array(fc.record({ quantity: lots, cents: fc.integer({ min: Math.max(1, middle - 2), max: middle + 2 }) }), {
      minLength: 2,
      maxLength: 6
    })
  ),
  places: fc.constantFrom(2, 3, 4, 6, 8),
  isCutOff: fc.boolean(),
  isLost: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  side: fc.constantFrom('BUY', 'SELL', null)
})

/** The order with the executions that arrived, and then the total; its limit is the worst price of all. */
function reported({ made, places, isCutOff, isLost, side }: typeof case_ extends fc.Arbitrary<infer T> ? T : never) {
  const prices = made.map(execution => execution.cents)
  const limitPrice = side === null ? null : cents(side === 'BUY' ? Math.max(...prices) : Math.min(...prices))
  const fills = fillsOf(made)
  const known = fills.filter((_, index) => isLost[index] !== true)
  const total = totalOf(made, places, isCutOff)
  const start = anOrder({ quantity: dec('1000000'), limitPrice, side: side ?? 'BUY', type: side === null ? 'MKT' : 'LMT' })
  const arrived = known.length === 0 ? start : apply(start, { type: 'fills', fills: known }).order
  return { known, total, limitPrice, order: apply(arrived, { type: 'filled_total', ...total, at: AT }).order }
}

function assertCouldBe(order: Order, { averagePrice }: { readonly averagePrice: Decimal }, limitPrice: Decimal | null, places: number) {
  for (const { price } of order.fills.filter(fill => fill.inferred === true)) {
    assert.ok(isPositive(price), `no shares trade at ${price}`)
    const worse = order.side === 'BUY' ? 1 : -1
    assert.ok(limitPrice === null || compare(price, limitPrice) !== worse, `${order.side} at ${price}, the limit is ${limitPrice}`)
  }
  const average = averageFillPrice(order)
  assert.ok(
    average !== null && compare(absolute(minus(average, averagePrice)), lastPlace(places)) <= 0,
    `${average} is not ${averagePrice}`
  )
}

test('whichever executions are lost, an inferred price is positive, within the limit, and agrees with the average', () => {
  fc.assert(
    fc.property(case_, input => {
      const { order, known, total, limitPrice } = reported(input)
      assert.equal(filledQuantity(order), total.quantity)
      assert.deepEqual(order.fills.slice(0, known.length), known, 'what was executed stays as it was')
      assertCouldBe(order, total, limitPrice, input.places)
    }),
    { numRuns: 5_000 }
  )
})

test('totals that contradict each other prove no price: all inferred fills become one at the last average', () => {
  for (const [instrument, price] of [
    ['STK', '9.00000000'],
    ['FUT', '9.00000000']
  ] as const) {
    let order = anOrder({ quantity: dec('1000'), instrument })
    for (const [quantity, averagePrice] of [
      ['999', '10.00000000'],
      ['1000', price]
    ] as const)
      order = apply(order, { type: 'filled_total', quantity: dec(quantity), averagePrice: dec(averagePrice), at: AT }).order
    assert.deepEqual(
      order.fills.map(fill => [fill.quantity, fill.price]),
      [['1000', price]]
    )
  }
})

test('a derived price beyond the limit is rejected; an average beyond it shows that the limit was different', () => {
  const order = anOrder({ quantity: dec('100'), type: 'LMT', side: 'BUY', limitPrice: dec('10.00') })
  const after = (second: string) => {
    let next = order
    for (const [quantity, averagePrice] of [
      ['3', '9.50000000'],
      ['6', second]
    ] as const)
      next = apply(next, { type: 'filled_total', quantity: dec(quantity), averagePrice: dec(averagePrice), at: AT }).order
    return next.fills.map(fill => [fill.quantity, Number(fill.price)])
  }
  assert.deepEqual(after('9.60000000'), [
    ['3', 9.5],
    ['3', 9.7]
  ])
  assert.deepEqual(after('10.00000000'), [['6', 10]])
  assert.deepEqual(after('10.50000000'), [
    ['3', 9.5],
    ['3', 11.5]
  ])
})

test('a rounding remainder is not a price: the derived price has as few places as the stated average allows', () => {
  const part = [{ quantity: dec('3'), price: dec('10.00') }]
  const rest = (quantity: string, average: string) =>
    restPrice(part, { quantity: dec(quantity), averagePrice: dec(average) }, minus(dec(quantity), dec('3')), MARKET)
  assert.equal(compare(rest('7', '10.57'), dec('11')), 0)
  assert.equal(compare(rest('9', '10.33333333'), dec('10.5')), 0)
  assert.equal(compare(rest('5', '10.00'), dec('10')), 0)
  assert.equal(restPrice([], { quantity: dec('3'), averagePrice: dec('10.125') }, dec('3'), MARKET), '10.125')
  // No shorter price gives the average.
  assert.equal(rest('6', '10.123456789'), dividedBy(minus(times(dec('10.123456789'), dec('6')), dec('30')), dec('3'), 9))
})

test('an ambiguous price falls back to the average, and so does an impossible one', () => {
  const at = (known: readonly [string, string], quantity: string, average: string, terms: Parameters<typeof restPrice>[3] = MARKET) =>
    restPrice(
      [{ quantity: dec(known[0]), price: dec(known[1]) }],
      { quantity: dec(quantity), averagePrice: dec(average) },
      minus(dec(quantity), dec(known[0])),
      terms
    )
  assert.equal(at(['40000', '0.45'], '40003', '0.4500'), '0.4500')
  assert.equal(at(['999', '10.00'], '1000', '9.99'), '9.99')
  assert.equal(at(['9999', '1.5'], '10000', '1.4'), '1.4')
  assert.equal(at(['999', '10.00'], '1000', '9.98'), '9.98')
  assert.equal(at(['999', '10.00'], '1000', '9.98', { ...MARKET, instrument: 'FUT' }), '-10')
  // It could be anything between zero and the known price, and the average is not the middle of that.
  assert.ok(isPositive(at(['100', '150.00'], '101', '148.5')))
})
