import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { FILLS_MAX } from '@trunkline/core/domain/executions'
import type { Fill, Leg, Order } from '@trunkline/core/domain/order'
import { apply, filledQuantity, type OrderEvent } from '@trunkline/core/domain/order-machine'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import { anOrder } from './an-order.ts'

const AT = parseTimestamp('2026-11-20T15:00:00Z', 'at')
const LATER = parseTimestamp('2026-11-20T15:00:01Z', 'at')

function leg(symbol: string, side: Leg['side']): Leg {
  return { symbol, side, ratio: parseDecimal('1', 'ratio'), fills: [] }
}

const CALL = leg('SPY261218C00660000', 'BUY_TO_OPEN')
const OTHER = leg('SPY261218C00670000', 'SELL_TO_OPEN')

function spread(changes: Partial<Order> = {}): Order {
  return anOrder({ symbol: null, instrument: 'MLEG_OPT', quantity: parseDecimal('2', 'quantity'), legs: [CALL, OTHER], ...changes })
}

function fill(fillId: string, at = AT): Fill {
  return { fillId, at, quantity: parseDecimal('2', 'quantity'), price: parseDecimal('4.10', 'price'), execDest: null }
}

function legFill(of: Leg, fillId: string, at = AT): OrderEvent {
  return { type: 'leg_fills', leg: of, fills: [fill(fillId, at)] }
}

function ids({ legs }: Order): readonly (readonly string[])[] {
  return (legs ?? []).map(({ fills }) => fills.map(({ fillId }) => fillId))
}

test('a leg’s execution belongs to its leg, and changes neither the filled quantity nor the status', () => {
  const { order, changed, ignored, alarm } = apply(spread(), legFill(OTHER, 'f-2', LATER))
  assert.deepEqual(ids(order), [[], ['f-2']])
  assert.deepEqual([changed, ignored, alarm], [true, null, null])
  assert.deepEqual([order.status, order.fills, filledQuantity(order)], ['working', [], '0'])
  assert.deepEqual([order.lastExecTime, order.lastModifiedTime], [LATER, LATER])
})

test('a leg’s execution counts once, in any order and with any status of the order', () => {
  const events = [legFill(CALL, 'f-1', LATER), legFill(OTHER, 'f-2'), legFill(CALL, 'f-3'), legFill(OTHER, 'f-1')]
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 3 }), { maxLength: 20 }),
      fc.constantFrom('working', 'filled', 'cancelled', 'pending'),
      (reported, status) => {
        let order = spread({ status })
        for (const index of reported) order = apply(order, events[index] ?? legFill(CALL, 'f-1')).order
        const distinct = new Set(reported)
        assert.deepEqual(
          ids(order).map(each => [...each].sort()),
          [
            [...(distinct.has(0) ? ['f-1'] : []), ...(distinct.has(2) ? ['f-3'] : [])],
            [...(distinct.has(3) ? ['f-1'] : []), ...(distinct.has(1) ? ['f-2'] : [])]
          ]
        )
        assert.equal(order.status, status)
        if (distinct.has(0)) assert.equal(order.lastExecTime, LATER)
      }
    )
  )
})

test('an execution of a leg that the order does not have is recorded and not applied', () => {
  for (const foreign of [leg('QQQ261218C00660000', 'BUY_TO_OPEN'), { ...CALL, side: 'SELL_TO_CLOSE' as const }]) {
    const before = spread()
    const { order, changed, ignored } = apply(before, legFill(foreign, 'f-1'))
    assert.equal(order, before)
    assert.deepEqual([changed, ignored], [false, 'unknown_leg'])
  }
  assert.equal(apply(anOrder(), legFill(CALL, 'f-1')).ignored, 'unknown_leg')
})

test('a leg keeps as many executions as an order; one more is refused with an alarm', () => {
  const many = Array.from({ length: FILLS_MAX }, (_, n) => fill(`f-${n}`))
  const full = spread({ legs: [CALL, { ...OTHER, fills: many }] })
  const { order, changed, alarm, ignored } = apply(full, legFill(OTHER, 'one-more', LATER))
  assert.deepEqual([order, changed, alarm, ignored], [full, false, 'too_many_fills', 'too_many_fills'])
  assert.equal(apply(full, legFill(CALL, 'elsewhere', LATER)).changed, true)
})
