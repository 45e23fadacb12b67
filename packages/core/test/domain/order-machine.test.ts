import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, type Decimal, isPositive, parseDecimal, plus, sum, ZERO } from '@trunkline/core/domain/decimal'
import { type Fill, isOpen, type Order } from '@trunkline/core/domain/order'
import { ARROWS, apply, filledQuantity, type OrderEvent } from '@trunkline/core/domain/order-machine'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { ORDER_STATUSES, type OrderStatus } from '@trunkline/core/domain/vocabulary'
import fc from 'fast-check'
import { anOrder } from './an-order.ts'

const AT = parseTimestamp('2026-11-20T15:00:00Z', 'at')
const FINAL: readonly OrderStatus[] = ['filled', 'cancelled', 'rejected', 'expired', 'replaced']

const status: fc.Arbitrary<OrderEvent> = fc.record({
  type: fc.constant('status' as const),
  to: fc.constantFrom(...ORDER_STATUSES),
  at: fc.constant(AT)
})
const releasing: fc.Arbitrary<OrderEvent> = fc.record({
  type: fc.constant('status' as const),
  to: fc.constantFrom<OrderStatus>('working', 'partially_filled'),
  at: fc.constant(AT),
  releases: fc.constant(true as const)
})
const fill = fc.record({ fillId: fc.integer({ min: 1, max: 12 }).map(n => `f${n}`), units: fc.integer({ min: 1, max: 60 }) })

/** One execution id always means one execution: its quantity follows from it. */
const fillEvent: fc.Arbitrary<OrderEvent> = fill.map(({ fillId }) => ({ type: 'fill', fill: fillOf(fillId) }))
const total: fc.Arbitrary<OrderEvent> = fc.integer({ min: 1, max: 120 }).map(quantity => ({
  type: 'filled_total',
  quantity: parseDecimal(String(quantity), 'q'),
  averagePrice: parseDecimal('10', 'p'),
  at: AT
}))
const history = fc.array(fc.oneof(status, releasing, fillEvent, fillEvent), { maxLength: 40 })

function fillOf(fillId: string): Fill {
  const units = (Number(fillId.slice(1)) * 7) % 23
  return { fillId, at: AT, quantity: parseDecimal(`${units + 1}.5`, 'q'), price: parseDecimal('10.25', 'p'), execDest: null }
}

function play(order: Order, events: readonly OrderEvent[]): readonly Order[] {
  const states: Order[] = [order]
  for (const event of events) states.push(apply(states.at(-1) ?? order, event).order)
  return states
}

test('no history leaves a final status, or moves along anything but the arrows', () => {
  fc.assert(
    fc.property(history, events => {
      const states = play(anOrder(), events)
      for (const [index, state] of states.entries()) {
        const before = states[index - 1]
        if (before === undefined || before.status === state.status) continue
        assert.ok(!FINAL.includes(before.status), `${before.status} is final and became ${state.status}`)
        assert.ok(ARROWS[before.status].includes(state.status), `${before.status} → ${state.status}`)
      }
    }),
    { numRuns: 2_000 }
  )
})

test('every execution counts once, in any order, with any duplicates, in any state', () => {
  fc.assert(
    fc.property(history, fc.array(fc.nat(), { maxLength: 40 }), (events, swaps) => {
      const told = events.flatMap(event => (event.type === 'fill' ? [event.fill] : []))
      const once = new Map(told.map(known => [known.fillId, known]))
      const expected = sum([...once.values()].map(known => known.quantity))
      for (const order of [events, shuffled(events, swaps), [...events, ...shuffled(events, swaps)]]) {
        const last = play(anOrder(), order).at(-1) ?? anOrder()
        assert.equal(compare(filledQuantity(last), expected), 0)
        assert.equal(new Set(last.fills.map(({ fillId }) => fillId)).size, once.size)
      }
    }),
    { numRuns: 2_000 }
  )
})

test('an order whose quantity is done is filled, wherever the last execution met it alive', () => {
  fc.assert(
    fc.property(history, events => {
      const states = play(anOrder(), events)
      for (const state of states) {
        const done = state.quantity !== null && compare(filledQuantity(state), state.quantity) >= 0
        if (done) assert.ok(!isOpen(state.status), `${state.status} with ${filledQuantity(state)} of ${state.quantity}`)
      }
    })
  )
})

test('totals never count twice what executions tell, whichever comes first', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fillEvent, total), { maxLength: 25 }), events => {
      let highest: Decimal = ZERO
      const real = new Map<string, Decimal>()
      let order = anOrder({ quantity: parseDecimal('100000', 'q') })
      for (const event of events) {
        order = apply(order, event).order
        if (event.type === 'fill') real.set(event.fill.fillId, event.fill.quantity)
        if (event.type === 'filled_total' && compare(event.quantity, highest) > 0) highest = event.quantity
      }
      const executed = sum(real.values())
      const filled = filledQuantity(order)
      assert.ok(compare(filled, executed) >= 0, 'no execution is lost')
      assert.ok(compare(filled, highest) >= 0, 'no total is lost')
      assert.ok(compare(filled, plus(executed, highest)) <= 0)
      for (const inferred of order.fills.filter(known => known.inferred)) assert.ok(isPositive(inferred.quantity))
    }),
    { numRuns: 2_000 }
  )
})

test('pictures of the total at any time, and executions late, repeated and in any order: never more than happened, and in the end exactly that', () => {
  const happened = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(happened, fc.array(fc.nat(15), { maxLength: 30 }), (ids, told) => {
      const executions = ids.map(id => fillOf(`f${id}`))
      const all = sum(executions.map(({ quantity }) => quantity))
      const picture = (count: number): OrderEvent => ({
        type: 'filled_total',
        quantity: sum(executions.slice(0, count).map(({ quantity }) => quantity)),
        averagePrice: parseDecimal('10.25', 'p'),
        at: AT
      })
      const execution = (index: number): OrderEvent[] => executions.slice(index, index + 1).map(known => ({ type: 'fill', fill: known }))
      const events = told.flatMap(n => (n % 2 === 0 ? [picture(n / 2)] : execution((n - 1) / 2)))
      let order = anOrder({ quantity: parseDecimal('1000', 'q') })
      for (const event of [...events, ...executions.keys().flatMap(execution)]) {
        const before = filledQuantity(order)
        order = apply(order, event).order
        assert.ok(compare(filledQuantity(order), before) >= 0, 'what was told as filled stays so')
        assert.ok(compare(filledQuantity(order), all) <= 0, `${filledQuantity(order)} of ${all}`)
      }
      assert.equal(compare(filledQuantity(order), all), 0)
      assert.deepEqual(order.fills.map(({ fillId }) => fillId).toSorted(), executions.map(({ fillId }) => fillId).toSorted())
    }),
    { numRuns: 3_000 }
  )
})

test('executions that say what is filled with them, and pictures of the total, in any order: nothing told vanishes, and in the end all is counted once', () => {
  const happened = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(happened, fc.array(fc.nat(15), { maxLength: 30 }), fc.boolean(), (ids, told, isPictured) => {
      const executions = ids.map(id => fillOf(`f${id}`))
      const upTo = (count: number) => ({
        quantity: sum(executions.slice(0, count).map(({ quantity }) => quantity)),
        averagePrice: parseDecimal('10.25', 'p')
      })
      const picture = (count: number): OrderEvent => ({ type: 'filled_total', ...upTo(count), at: AT })
      const execution = (index: number): OrderEvent[] =>
        executions.slice(index, index + 1).map(known => ({ type: 'execution', fill: known, total: upTo(index + 1) }))
      const events = told.flatMap(n => (n % 2 === 0 ? [picture(n / 2)] : execution((n - 1) / 2)))
      const last = isPictured ? [picture(executions.length)] : executions.keys().flatMap(execution)
      let order = anOrder({ quantity: parseDecimal('1000', 'q') })
      for (const event of [...events, ...last]) {
        const before = order.fills
        order = apply(order, event).order
        assert.deepEqual(order.fills.slice(0, before.length), before, 'what was told stays as it was told')
        assert.ok(compare(filledQuantity(order), upTo(executions.length).quantity) <= 0)
        for (const { price } of order.fills) assert.equal(compare(price, parseDecimal('10.25', 'p')), 0)
      }
      assert.equal(compare(filledQuantity(order), upTo(executions.length).quantity), 0)
      assert.equal(new Set(order.fills.map(({ fillId }) => fillId)).size, order.fills.length)
    }),
    { numRuns: 3_000 }
  )
})

test('an inferred fill is replaced by the executions it stood for', () => {
  const all = apply(anOrder(), {
    type: 'filled_total',
    quantity: parseDecimal('9.5', 'q'),
    averagePrice: parseDecimal('10', 'p'),
    at: AT
  }).order
  assert.deepEqual(
    all.fills.map(known => [known.quantity, known.inferred]),
    [['9.5', true]]
  )
  const first = apply(all, { type: 'fill', fill: { ...fillOf('f1'), quantity: parseDecimal('4', 'q') } }).order
  assert.equal(filledQuantity(first), '9.5')
  const second = apply(first, { type: 'fill', fill: { ...fillOf('f2'), quantity: parseDecimal('5.5', 'q') } }).order
  assert.deepEqual(
    second.fills.map(({ fillId, inferred }) => [fillId, inferred]),
    [
      ['f1', undefined],
      ['f2', undefined]
    ]
  )
})

test('a live picture from before a cancel does not undo it; the broker’s refusal does', () => {
  const pendingRequest = { kind: 'cancel', requestedAt: AT, sentAt: AT, successorId: null, takenAt: null } as const
  const order = anOrder({ status: 'pending_cancel', pendingRequest })
  assert.equal(apply(order, { type: 'status', to: 'working', at: AT }).ignored, 'older_picture')
  assert.equal(apply(order, { type: 'status', to: 'working', at: AT, releases: true }).order.status, 'working')
})

test('a cancel asked for elsewhere ends as the broker shows it', () => {
  assert.equal(apply(anOrder({ status: 'pending_cancel' }), { type: 'status', to: 'working', at: AT }).order.status, 'working')
})

test('a fill after the end is counted, and alarms', () => {
  const cancelled = apply(anOrder({ status: 'cancelled' }), { type: 'fill', fill: fillOf('f1') })
  assert.deepEqual([cancelled.alarm, cancelled.order.status, cancelled.order.fills.length], ['late_fill', 'cancelled', 1])
  const over = apply(anOrder({ quantity: parseDecimal('1', 'q') }), { type: 'fill', fill: fillOf('f1') })
  assert.deepEqual([over.alarm, over.order.status], ['overfill', 'filled'])
})

test('a cancel wish that was not sent waits through the acknowledgement; a sent one ends with it', () => {
  const wish = { kind: 'cancel', requestedAt: AT, sentAt: null, successorId: null, takenAt: null } as const
  const waiting = apply(anOrder({ status: 'pending', pendingRequest: wish }), { type: 'status', to: 'working', at: AT }).order
  assert.deepEqual(waiting.pendingRequest, wish)
  assert.equal(apply(waiting, { type: 'status', to: 'filled', at: AT }).order.pendingRequest, null)
  const sent = anOrder({ status: 'pending_cancel', pendingRequest: { ...wish, sentAt: AT } })
  assert.equal(apply(sent, { type: 'status', to: 'working', at: AT, releases: true }).order.pendingRequest, null)
})

function shuffled(events: readonly OrderEvent[], swaps: readonly number[]): readonly OrderEvent[] {
  const order = [...events]
  for (const [index, swap] of swaps.entries()) {
    const [a, b] = [index % Math.max(order.length, 1), swap % Math.max(order.length, 1)]
    const [first, second] = [order[a], order[b]]
    if (first === undefined || second === undefined) continue
    order[a] = second
    order[b] = first
  }
  return order
}
