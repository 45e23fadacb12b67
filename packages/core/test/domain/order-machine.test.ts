import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, type Decimal, isPositive, parseDecimal, plus, sum, ZERO } from '@trunkline/core/domain/decimal'
import { FILLS_MAX } from '@trunkline/core/domain/executions'
import { type Fill, isOpen, type Order } from '@trunkline/core/domain/order'
import { apply, filledQuantity, type OrderEvent, TRANSITIONS } from '@trunkline/core/domain/order-machine'
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

/** An execution id always means the same execution: its quantity depends on it. */
const fillEvent: fc.Arbitrary<OrderEvent> = fill.map(({ fillId }) => ({ type: 'fills', fills: [fillOf(fillId)] }))
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

test('the time of the last change never decreases, whatever times the broker states; executions keep theirs', () => {
  const at = fc.integer({ min: 0, max: 59 }).map(second => parseTimestamp(`2026-11-20T15:00:${String(second).padStart(2, '0')}Z`, 'at'))
  const timed = fc.tuple(fc.oneof(status, releasing, fillEvent, total), at).map(([event, time]): OrderEvent => {
    if (event.type === 'fills') return { ...event, fills: event.fills.map(each => ({ ...each, at: time })) }
    return event.type === 'status' || event.type === 'filled_total' ? { ...event, at: time } : event
  })
  fc.assert(
    fc.property(fc.array(timed, { maxLength: 40 }), events => {
      const states = play(anOrder(), events)
      for (const [index, { lastModifiedTime }] of states.entries())
        assert.ok(lastModifiedTime >= (states[index - 1]?.lastModifiedTime ?? lastModifiedTime))
    }),
    { numRuns: 500 }
  )
  const cancelling = apply(anOrder(), {
    type: 'status',
    to: 'pending_cancel',
    at: parseTimestamp('2026-11-20T15:00:50.032888Z', 'at')
  }).order
  const early = { ...fillOf('f1'), at: parseTimestamp('2026-11-20T15:00:50Z', 'at') }
  const { fills, lastModifiedTime } = apply(cancelling, { type: 'fills', fills: [early] }).order
  assert.deepEqual([fills[0]?.at, lastModifiedTime], ['2026-11-20T15:00:50.000000Z', '2026-11-20T15:00:50.032888Z'])
})

test('no history leaves a final status, or makes a transition that is not allowed', () => {
  fc.assert(
    fc.property(history, events => {
      const states = play(anOrder(), events)
      for (const [index, state] of states.entries()) {
        const before = states[index - 1]
        if (before === undefined || before.status === state.status) continue
        assert.ok(!FINAL.includes(before.status), `${before.status} is final and became ${state.status}`)
        assert.ok(TRANSITIONS[before.status].includes(state.status), `${before.status} → ${state.status}`)
      }
    }),
    { numRuns: 2_000 }
  )
})

test('every execution counts once, in any order, with any duplicates, in any state', () => {
  fc.assert(
    fc.property(history, fc.array(fc.nat(), { maxLength: 40 }), (events, swaps) => {
      const reported = events.flatMap(event => (event.type === 'fills' ? event.fills : []))
      const once = new Map(reported.map(known => [known.fillId, known]))
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

test('an order whose whole quantity is executed is filled, if the last execution reached it while it was live', () => {
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

test('totals never count twice what executions report, whichever comes first', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fillEvent, total), { maxLength: 25 }), events => {
      let highest: Decimal = ZERO
      const real = new Map<string, Decimal>()
      let order = anOrder({ quantity: parseDecimal('100000', 'q') })
      for (const event of events) {
        order = apply(order, event).order
        if (event.type === 'fills') for (const { fillId, quantity } of event.fills) real.set(fillId, quantity)
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

test('snapshots of the total at any time, and late, repeated and reordered executions: never more than happened, and in the end exactly that', () => {
  const happened = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(happened, fc.array(fc.nat(15), { maxLength: 30 }), (ids, reported) => {
      const executions = ids.map(id => fillOf(`f${id}`))
      const all = sum(executions.map(({ quantity }) => quantity))
      const totalOf = (count: number): OrderEvent => ({
        type: 'filled_total',
        quantity: sum(executions.slice(0, count).map(({ quantity }) => quantity)),
        averagePrice: parseDecimal('10.25', 'p'),
        at: AT
      })
      const execution = (index: number): OrderEvent[] =>
        executions.slice(index, index + 1).map(known => ({ type: 'fills', fills: [known] }))
      const events = reported.flatMap(n => (n % 2 === 0 ? [totalOf(n / 2)] : execution((n - 1) / 2)))
      let order = anOrder({ quantity: parseDecimal('1000', 'q') })
      for (const event of [...events, ...executions.keys().flatMap(execution)]) {
        const before = filledQuantity(order)
        order = apply(order, event).order
        assert.ok(compare(filledQuantity(order), before) >= 0, 'what was reported as filled stays so')
        assert.ok(compare(filledQuantity(order), all) <= 0, `${filledQuantity(order)} of ${all}`)
      }
      assert.equal(compare(filledQuantity(order), all), 0)
      assert.deepEqual(order.fills.map(({ fillId }) => fillId).toSorted(), executions.map(({ fillId }) => fillId).toSorted())
    }),
    { numRuns: 3_000 }
  )
})

test('executions with totals that include them, and snapshots of the total, in any order: nothing reported vanishes, and in the end all counts once', () => {
  const happened = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(happened, fc.array(fc.nat(15), { maxLength: 30 }), fc.boolean(), (ids, reported, endsWithTotal) => {
      const executions = ids.map(id => fillOf(`f${id}`))
      const upTo = (count: number) => ({
        quantity: sum(executions.slice(0, count).map(({ quantity }) => quantity)),
        averagePrice: parseDecimal('10.25', 'p')
      })
      const totalOf = (count: number): OrderEvent => ({ type: 'filled_total', ...upTo(count), at: AT })
      const execution = (index: number): OrderEvent[] =>
        executions.slice(index, index + 1).map(known => ({ type: 'execution', fill: known, total: upTo(index + 1) }))
      const events = reported.flatMap(n => (n % 2 === 0 ? [totalOf(n / 2)] : execution((n - 1) / 2)))
      const last = endsWithTotal ? [totalOf(executions.length)] : executions.keys().flatMap(execution)
      let order = anOrder({ quantity: parseDecimal('1000', 'q') })
      for (const event of [...events, ...last]) {
        const before = order.fills
        order = apply(order, event).order
        assert.deepEqual(order.fills.slice(0, before.length), before, 'what was reported stays as it was reported')
        assert.ok(compare(filledQuantity(order), upTo(executions.length).quantity) <= 0)
        for (const { price } of order.fills) assert.equal(compare(price, parseDecimal('10.25', 'p')), 0)
      }
      assert.equal(compare(filledQuantity(order), upTo(executions.length).quantity), 0)
      assert.equal(new Set(order.fills.map(({ fillId }) => fillId)).size, order.fills.length)
    }),
    { numRuns: 3_000 }
  )
})

test('an inferred fill is replaced by the executions that it was inferred from', () => {
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
  const first = apply(all, { type: 'fills', fills: [{ ...fillOf('f1'), quantity: parseDecimal('4', 'q') }] }).order
  assert.equal(filledQuantity(first), '9.5')
  const second = apply(first, { type: 'fills', fills: [{ ...fillOf('f2'), quantity: parseDecimal('5.5', 'q') }] }).order
  assert.deepEqual(
    second.fills.map(({ fillId, inferred }) => [fillId, inferred]),
    [
      ['f1', undefined],
      ['f2', undefined]
    ]
  )
})

test('a live snapshot from before a cancel does not undo it; the broker’s refusal does', () => {
  const pendingRequest = { kind: 'cancel', requestedAt: AT, sentAt: AT, successorId: null, takenAt: null } as const
  const order = anOrder({ status: 'pending_cancel', pendingRequest })
  assert.equal(apply(order, { type: 'status', to: 'working', at: AT }).ignored, 'older_snapshot')
  assert.equal(apply(order, { type: 'status', to: 'working', at: AT, releases: true }).order.status, 'working')
})

test('a cancel requested elsewhere ends as the broker reports it', () => {
  assert.equal(apply(anOrder({ status: 'pending_cancel' }), { type: 'status', to: 'working', at: AT }).order.status, 'working')
})

test('a fill after the end counts, and raises an alarm', () => {
  const cancelled = apply(anOrder({ status: 'cancelled' }), { type: 'fills', fills: [fillOf('f1')] })
  assert.deepEqual([cancelled.alarm, cancelled.order.status, cancelled.order.fills.length], ['late_fill', 'cancelled', 1])
  const over = apply(anOrder({ quantity: parseDecimal('1', 'q') }), { type: 'fills', fills: [fillOf('f1')] })
  assert.deepEqual([over.alarm, over.order.status], ['overfill', 'filled'])
})

test('a cancel request that was not sent stays after the acknowledgement; a sent one ends with it', () => {
  const request = { kind: 'cancel', requestedAt: AT, sentAt: null, successorId: null, takenAt: null } as const
  const waiting = apply(anOrder({ status: 'pending', pendingRequest: request }), { type: 'status', to: 'working', at: AT }).order
  assert.deepEqual(waiting.pendingRequest, request)
  assert.equal(apply(waiting, { type: 'status', to: 'filled', at: AT }).order.pendingRequest, null)
  const sent = anOrder({ status: 'pending_cancel', pendingRequest: { ...request, sentAt: AT } })
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

/** Executions that count how often they are read. */
function watchedFills(count: number) {
  let looks = 0
  const fills = Array.from({ length: count }, (_, n): Fill => {
    const fill = { at: AT, quantity: parseDecimal('0.01', 'q'), price: parseDecimal('10', 'p'), execDest: null }
    return {
      ...fill,
      get fillId() {
        looks += 1
        return `f${n}`
      }
    }
  })
  return { fills, looks: () => looks }
}

test('an answer with many executions is processed once, not once for each of them [S77]', () => {
  const { fills, looks } = watchedFills(1_000)
  const reported = apply(anOrder(), { type: 'fills', fills })
  assert.deepEqual([reported.order.fills.length, filledQuantity(reported.order), reported.order.status], [1_000, '10', 'partially_filled'])
  assert.equal(apply(reported.order, { type: 'fills', fills }).ignored, 'duplicate_fill')
  const [before, after] = [looks(), apply(reported.order, { type: 'fills', fills: [...fills, fillOf('f1000001')] }).order]
  assert.equal(after.fills.length, 1_001)
  assert.ok(looks() < 10_000, `${looks()} looks at 1000 executions, ${looks() - before} of them for one more`)
  const leg = { symbol: 'A', side: 'BUY', ratio: parseDecimal('1', 'r'), fills: [] } as const
  const ofLeg = watchedFills(1_000)
  assert.equal(apply(anOrder({ legs: [leg] }), { type: 'leg_fills', leg, fills: ofLeg.fills }).order.legs?.[0]?.fills.length, 1_000)
  assert.ok(ofLeg.looks() < 10_000, `${ofLeg.looks()} looks at 1000 executions of a leg`)
})

test('executions reported together have the same result as one by one', () => {
  fc.assert(
    fc.property(fc.array(fill, { maxLength: 12 }), fc.integer({ min: 0, max: 120 }), (reported, before) => {
      const order = apply(anOrder(), {
        type: 'filled_total',
        quantity: parseDecimal(`${before}`, 'q'),
        averagePrice: parseDecimal('10', 'p'),
        at: AT
      }).order
      const fills = reported.map(({ fillId }) => fillOf(fillId))
      const together = apply(order, { type: 'fills', fills }).order
      const single = play(
        order,
        fills.map(known => ({ type: 'fills', fills: [known] }))
      ).at(-1)
      assert.deepEqual(together, single)
      assert.equal(filledQuantity(together), sum(together.fills.map(({ quantity }) => quantity)))
    })
  )
})

test('beyond the bound of its executions an order stays unchanged, with an alarm [S77]', () => {
  const { fills } = watchedFills(FILLS_MAX + 1)
  const order = anOrder({ quantity: parseDecimal('1000', 'q') })
  const refused = apply(order, { type: 'fills', fills })
  assert.deepEqual([refused.order, refused.alarm, refused.ignored], [order, 'too_many_fills', 'too_many_fills'])
  const full = apply(order, { type: 'fills', fills: fills.slice(0, FILLS_MAX) }).order
  assert.equal(full.fills.length, FILLS_MAX)
  const beyond = apply(full, { type: 'fills', fills: [fillOf('f1000001')] })
  assert.deepEqual([beyond.order === full, beyond.alarm], [true, 'too_many_fills'])
  const leg = { symbol: 'A', side: 'BUY', ratio: parseDecimal('1', 'r'), fills: [] } as const
  assert.equal(apply(anOrder({ legs: [leg] }), { type: 'leg_fills', leg, fills }).alarm, 'too_many_fills')
})

test('an execution with a quantity of zero or less, or a price below zero, is not an execution', () => {
  const wrong = (quantity: string, price: string): Fill => ({
    ...fillOf('f1'),
    quantity: parseDecimal(quantity, 'q'),
    price: parseDecimal(price, 'p')
  })
  const order = anOrder()
  for (const fill of [wrong('-5', '10'), wrong('0', '10'), wrong('0.00', '10'), wrong('5', '-0.01')]) {
    const total = { quantity: parseDecimal('20', 'q'), averagePrice: fill.price }
    for (const event of [
      { type: 'fills', fills: [fillOf('f2'), fill] },
      { type: 'execution', fill, total }
    ] as const) {
      const step = apply(order, event)
      assert.deepEqual(
        [step.order === order, step.alarm, step.ignored],
        [true, 'impossible_fill', 'impossible_fill'],
        JSON.stringify(event)
      )
    }
  }
  const below = { type: 'filled_total', quantity: parseDecimal('5', 'q'), averagePrice: parseDecimal('-1', 'p'), at: AT } as const
  assert.equal(apply(order, below).alarm, 'impossible_fill')
  for (const instrument of ['FUT', 'MLEG_OPT'] as const) {
    const able = anOrder({ instrument })
    assert.equal(filledQuantity(apply(able, { type: 'fills', fills: [wrong('5', '-37.63')] }).order), '5')
    assert.equal(filledQuantity(apply(able, below).order), '5')
  }
})
