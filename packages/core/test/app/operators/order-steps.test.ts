// What operators are shown of an order: only what is stored, in its order, and null where nothing is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOfOrder, LOOKED_THROUGH_MAX } from '@trunkline/core/app/operators/order-events'
import { orderSteps, stepsOf } from '@trunkline/core/app/operators/order-steps'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type EventId, parseUuid } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { epochMs, parseTimestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { PlacedEntry } from '@trunkline/core/ports/operator-reads'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { anOrder } from '../../domain/an-order.ts'

const id = <Id extends string>(n: number) => parseUuid<never>(`00000000-0000-7000-9000-${String(n).padStart(12, '0')}`, 'id') as Id
const START = epochMs(parseTimestamp('2026-11-20T14:30:00Z', 'at'))
const time = (ms: number) => timestampOfMs(START + ms)

function event(seq: number, order: Order, ms: number): LoggedEvent {
  const { userKey, accountId } = order
  return { eventId: id<EventId>(seq), userKey, seq, accountId, at: time(ms), topic: 'orders', data: order }
}

function entry(action: string, ms: number): PlacedEntry {
  const who = { actor: 'user:u', ip: '192.0.2.1', requestId: 'r-1' }
  return { ...who, action, at: time(ms), target: 'o', result: 'ok', detail: { clOrdId: 'order-1' }, position: 7 }
}

/** A log that also says how many events were read. */
function logOf(all: readonly LoggedEvent[]) {
  let readEvents = 0
  return {
    span: async () => ({ oldest: all[0]?.seq ?? 1, last: all.at(-1)?.seq ?? 0 }),
    read: async (_user: unknown, after: number, limit: number) => {
      const found = all.filter(({ seq }) => seq > after).slice(0, limit)
      readEvents += found.length
      return found
    },
    count: () => readEvents
  }
}

test('steps stand in the order in which they happened, and the time of the first byte is not made up', () => {
  const order = anOrder({
    status: 'filled',
    revision: 3,
    entryTime: time(0),
    submission: { state: 'acknowledged', since: time(40), attempts: 1, method: 'reply' }
  })
  const events = [event(4, anOrder({ status: 'pending' }), 1), event(6, order, 90)]
  const steps = stepsOf(order, [entry('order.cancel', 50), entry('order.place', -1)], events, [])
  assert.deepEqual(
    steps.map(({ kind, at }) => [kind, at === null ? null : epochMs(at) - START]),
    [
      ['request', -1],
      ['recorded', 1],
      ['sent', null],
      ['answer', 40],
      ['request', 50],
      ['change', 90]
    ]
  )
  assert.equal(steps[2]?.evidence.known_at, time(40))
  assert.deepEqual([steps[0]?.evidence.chain_position, steps[0]?.evidence.detail_clOrdId], [7, 'order-1'])
})

test('an order of unknown outcome has an answer without a time; one placed elsewhere was neither requested nor sent here', () => {
  const unknown = anOrder({ brokerOrderId: null, submission: { state: 'unknown', since: time(9), attempts: 1, method: null } })
  const steps = stepsOf(unknown, [entry('order.cancel', 50)], [event(4, anOrder(), 0)], [])
  assert.deepEqual(
    steps.map(({ kind }) => kind),
    ['recorded', 'sent', 'answer', 'request']
  )
  const answer = steps[2]
  assert.deepEqual([answer?.at, answer?.evidence.submission_state, answer?.evidence.broker_order_id], [null, 'unknown', null])
  const external = anOrder({ submission: { state: 'external', since: time(9), attempts: 0, method: 'snapshot' } })
  const elsewhere = stepsOf(external, [], [], [])
  assert.deepEqual(
    elsewhere.map(({ kind, evidence }) => [kind, evidence.placed_here]),
    [['recorded', false]]
  )
})

test('the events of an order are found among many others without reading them all', async () => {
  const others = Array.from({ length: 40_000 }, (_, index) => event(index + 1, anOrder({ orderId: id(99) }), -8_000_000 + index * 200))
  const order = anOrder({ entryTime: time(0), status: 'filled', revision: 2 })
  const mine = [event(40_001, anOrder(), 0), event(40_002, order, 10)]
  const log = logOf([...others, ...mine])
  const found = await eventsOfOrder({ events: log }, order)
  assert.deepEqual([found.events.map(({ seq }) => seq), found.found], [[40_001, 40_002], 'all'])
  assert.ok(log.count() < 1_000, `${log.count()} events were read`)
})

test('what is erased, and what lies beyond the search, is said', async () => {
  const order = anOrder({ status: 'working', revision: 3 })
  const erased = await eventsOfOrder({ events: logOf([event(9, order, 20)]) }, order)
  assert.deepEqual([erased.events.length, erased.found], [1, 'erased'])
  const none = await eventsOfOrder({ events: logOf([]) }, order)
  assert.deepEqual([none.events.length, none.found], [0, 'erased'])
  const busy = Array.from({ length: LOOKED_THROUGH_MAX + 10 }, (_, index) => event(index + 2, anOrder({ orderId: id(99) }), index))
  const beyond = await eventsOfOrder({ events: logOf([event(1, anOrder(), 0), ...busy]) }, order)
  assert.deepEqual([beyond.events.length, beyond.found], [1, 'goes_on'])
})

test('an order that is not there is an error with its code', async () => {
  const store = { orders: { find: async () => null }, events: logOf([]) }
  const reads = { auditOfOrder: async () => [], deliveriesOf: async () => [] }
  await assert.rejects(
    orderSteps(Object({ store, reads }), id(1)),
    (cause: unknown) => cause instanceof ServiceError && cause.code === 'order_not_found'
  )
})
