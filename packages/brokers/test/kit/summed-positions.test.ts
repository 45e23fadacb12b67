import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonical, compare, dividedBy, parseDecimal, plus, times, ZERO } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { PositionReport } from '@trunkline/core/ports/broker'
import fc from 'fast-check'
import { summedPositions } from '../../src/kit/summed-positions.ts'

const decimal = (text: string) => parseDecimal(text, 'value')

function row(
  id: string | null,
  symbol: string,
  quantity: string,
  averagePrice: string | null,
  more: Partial<PositionReport> = {}
): PositionReport {
  return {
    ...{ brokerAccountId: 'A', instrument: 'STK', lastPrice: decimal('12'), realizedPl: null, dailyPl: null, totalPl: null },
    ...{ symbol, quantity: decimal(quantity), averagePrice: averagePrice === null ? null : decimal(averagePrice) },
    ...{ unrealizedPl: decimal('1.5'), brokerPositionId: id, ...more }
  }
}

test('rows of one symbol are added up exactly, others stay as they are and where they are', () => {
  const other = row('9', 'F', '-2', '7')
  const [first, second, ...more] = summedPositions([
    row('1', 'SPY', '0.1', '10'),
    other,
    row('2', 'SPY', '0.2', '13', { dailyPl: decimal('4') })
  ])
  assert.equal(more.length, 0)
  assert.deepEqual(first, row(null, 'SPY', '0.3', '12', { unrealizedPl: decimal('3') }))
  assert.equal(second, other)
})

test('an average that no decimal is, or that one row lacks, is not known; nor is a last price that differs', () => {
  const average = (...prices: readonly (string | null)[]) =>
    summedPositions(prices.map((price, index) => row(`${index}`, 'SPY', '1', price)))[0]?.averagePrice
  assert.equal(average('1', '2'), '1.5')
  assert.equal(average('1', '1', '2'), null)
  assert.equal(average('1', null), null)
  assert.equal(summedPositions([row('1', 'SPY', '1', '1'), row('2', 'SPY', '1', '1', { lastPrice: decimal('13') })])[0]?.lastPrice, null)
})

test('rows that may be one row twice, and rows that are long and short, are not added up', () => {
  for (const rows of [
    [row('1', 'SPY', '1', '1'), row('1', 'SPY', '1', '1')],
    [row(null, 'SPY', '1', '1'), row('1', 'SPY', '1', '1')],
    [row('1', 'SPY', '2', '1'), row('2', 'SPY', '-1', '1')]
  ])
    assert.throws(() => summedPositions(rows), Malformed)
  const elsewhere = [row('1', 'SPY', '1', '1'), row('1', 'SPY', '-1', '1', { brokerAccountId: 'B' })]
  assert.deepEqual(summedPositions(elsewhere), elsewhere)
})

test('whatever the lots, the whole has their quantity and, where it has a price, exactly their cost', () => {
  const lot = fc.record({ quantity: fc.integer({ min: 1, max: 10_000 }), cents: fc.integer({ min: 1, max: 100_000 }) })
  fc.assert(
    fc.property(fc.array(lot, { minLength: 2, maxLength: 6 }), lots => {
      const rows = lots.map(({ quantity, cents }, index) =>
        row(`${index}`, 'SPY', `${quantity}`, canonical(dividedBy(decimal(`${cents}`), decimal('100'), 2)))
      )
      const [found] = summedPositions(rows)
      assert.ok(found !== undefined)
      assert.equal(found.quantity, `${lots.reduce((sum, { quantity }) => sum + quantity, 0)}`)
      const cost = rows.reduce((sum, { quantity, averagePrice }) => plus(sum, times(quantity, averagePrice ?? ZERO)), ZERO)
      if (found.averagePrice !== null) assert.equal(compare(times(found.averagePrice, found.quantity), cost), 0)
    })
  )
})
