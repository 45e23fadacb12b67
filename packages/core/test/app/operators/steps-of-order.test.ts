// What operators are shown of an order: only what is stored, in its order, and null where nothing is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOfOrder, LOOKED_THROUGH_MAX, type LoggedChange, type OrderEvents } from '@trunkline/core/app/operators/order-events'
import { ATTEMPTS_MAX, AUDIT_MAX, type OrderSteps, orderSteps, stepsOf } from '@trunkline/core/app/operators/steps-of-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type EventId, type OrderId, parseUuid } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { epochMs, parseTimestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { PlacedEntry } from '@trunkline/core/ports/operator-reads'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import type { WebhookDelivery } from '@trunkline/core/ports/webhook-store'
import { anOrder } from '../../domain/an-order.ts'

const id = <Id extends string>(n: number) => parseUuid<never>(`00000000-0000-7000-9000-${String(n).padStart(12, '0')}`, 'id') as Id
const START = epochMs(parseTimestamp('2026-11-20T14:30:00Z', 'at'))
const time = (ms: number) => timestampOfMs(START + ms)

function event(seq: number, order: Order, ms: number): LoggedChange {
  const { userKey, accountId } = order
  return { eventId: id<EventId>(seq), userKey, seq, accountId, at: time(ms), topic: 'orders', data: order }
}

function entry(action: string, ms: number, changes: Partial<PlacedEntry> = {}): PlacedEntry {
  const who = { actor: 'user:u', ip: '192.0.2.1', requestId: 'r-1', target: anOrder().orderId }
  return { ...who, action, at: time(ms), result: 'ok', detail: { clOrdId: 'order-1' }, position: 7, ...changes }
}

const decimal = (text: string) => parseDecimal(text, 'amount')

/** The order as its first event has it. */
function pending(): Order {
  const submission = { state: 'submitting', since: time(0), attempts: 1, method: null } as const
  return anOrder({ status: 'pending', submission, brokerOrderId: null, brokerStatus: null })
}

/** An attempt to send the events from `from` to `to`, the first of them another order's. */
function delivery(from: number, to: number, changes: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    ...{ deliveryId: id(901), endpointId: id(902), messageId: 'msg_1', userKey: anOrder().userKey },
    ...{ events: { from, to, firstEventId: id(999), count: 2 }, reason: 'event', attempt: 1, startedAt: time(100), tookMs: 5 },
    ...{ requestHeaders: {}, requestBytes: 1, answer: { status: 204, body: '', isCut: false }, failure: null, retryAt: null },
    ...{ filter: { topics: null, orderStatuses: null }, ...changes }
  }
}

const seqsOf = ({ changes }: OrderEvents) => changes.map(({ seq }) => seq)

/** What one order's steps are read from. */
interface Stored {
  readonly order: Order
  readonly audit?: readonly PlacedEntry[]
  readonly events?: readonly LoggedEvent[]
  readonly deliveries?: readonly WebhookDelivery[]
}

async function stepsIn({ order, audit = [], events = [], deliveries = [] }: Stored) {
  const store = { orders: { find: async () => order }, events: logOf(events) }
  const reads = {
    auditOfOrder: async (target: unknown, limit: number) => audit.filter(entry => entry.target === target).slice(0, limit),
    deliveriesOf: async (_user: unknown, from: string, limit: number) =>
      deliveries.filter(({ startedAt }) => startedAt >= from).slice(0, limit)
  }
  return await orderSteps(Object({ store, reads }), order.orderId)
}

/** A log that also says how many events were read. */
function logOf(all: readonly LoggedEvent[], erasedTo = 0) {
  let readEvents = 0
  return {
    span: async () => ({ oldest: all[0]?.seq ?? erasedTo + 1, last: all.at(-1)?.seq ?? erasedTo }),
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

test('a step that the clock of another node dates before its predecessor stays where the log has it', () => {
  const events = [event(4, anOrder(), 100), event(5, anOrder({ revision: 2 }), 80), event(6, anOrder({ revision: 3 }), 120)]
  const steps = stepsOf(anOrder({ revision: 3 }), [entry('order.cancel', 120), entry('order.cancel', 90)], events, [])
  assert.deepEqual(
    steps.slice(-4).map(({ kind, evidence }) => evidence.seq ?? kind),
    [5, 'request', 'request', 6]
  )
})

test('the answer has what the order said at the time of its commit, not what it says since', async () => {
  const submission = { state: 'acknowledged', since: time(40), attempts: 1, method: 'reply' } as const
  const order = anOrder({
    ...{ status: 'cancelled', revision: 3, submission, brokerOrderId: 'b2', brokerStatus: 'CANCELLED' },
    ...{ brokerMessage: 'Canceled on request.', rejectCode: 'other' }
  })
  const taken = anOrder({ revision: 2, submission, brokerStatus: 'open', brokerMessage: 'Welcome.' })
  const answerIn = async (...events: readonly LoggedEvent[]) =>
    (await stepsIn({ order, events })).steps.find(({ kind }) => kind === 'answer')
  const answer = await answerIn(event(4, pending(), 1), event(5, taken, 41), event(6, order, 900))
  const { broker_order_id, broker_status, broker_message, reject_code, ...rest } = answer?.evidence ?? {}
  assert.deepEqual([broker_order_id, broker_status, broker_message, reject_code], ['b1', 'open', 'Welcome.', null])
  assert.deepEqual([answer?.at, answer?.source, rest.seq, rest.event_id], [time(40), 'event', 5, id<EventId>(5)])
  assert.deepEqual([rest.submission_state, rest.known_by], ['acknowledged', 'reply'])
  // Without that event, the order's own record still says when and how, and nothing says what the broker said then.
  const erased = await answerIn(event(7, { ...order, submission: { ...submission, since: time(41) } }, 900))
  assert.deepEqual([erased?.at, erased?.source, erased?.evidence.known_by], [time(40), 'order', 'reply'])
  for (const name of ['broker_order_id', 'broker_status', 'broker_message', 'reject_code', 'seq', 'event_id'])
    assert.equal(erased?.evidence[name], null, name)
})

test('what was not sent has no sending, and what the broker did not answer has no answer', async () => {
  const kindsOf = async (submission: Omit<Order['submission'], 'since'>) => {
    const order = anOrder({ status: 'rejected', revision: 2, submission: { ...submission, since: time(40) } })
    const { steps } = await stepsIn({ order, audit: [entry('order.place', -1)], events: [event(4, pending(), 1), event(5, order, 41)] })
    const of = (wanted: string) => steps.find(({ kind }) => kind === wanted)?.evidence
    return [of('sent')?.is_proved, of('answer')?.known_by, of('settled')?.known_by]
  }
  assert.deepEqual(await kindsOf({ state: 'acknowledged', attempts: 1, method: 'stream' }), [true, 'stream', undefined])
  assert.deepEqual(await kindsOf({ state: 'refused', attempts: 1, method: 'reply' }), [true, 'reply', undefined])
  assert.deepEqual(await kindsOf({ state: 'not_received', attempts: 1, method: 'operator' }), [null, undefined, 'operator'])
  assert.deepEqual(await kindsOf({ state: 'not_received', attempts: 1, method: 'absence' }), [null, undefined, 'absence'])
  assert.deepEqual(await kindsOf({ state: 'not_sent', attempts: 0, method: 'reply' }), [undefined, undefined, null])
  assert.deepEqual(await kindsOf({ state: 'refused_by_gateway', attempts: 0, method: null }), [undefined, undefined, null])
  assert.deepEqual(await kindsOf({ state: 'unknown', attempts: 1, method: 'recovery' }), [null, undefined, undefined])
  assert.deepEqual(await kindsOf({ state: 'submitting', attempts: 1, method: null }), [null, undefined, undefined])
  assert.deepEqual(await kindsOf({ state: 'external', attempts: 0, method: 'snapshot' }), [undefined, undefined, undefined])
})

test('when an order became known to the broker is when it was proved, and open before', () => {
  const unknown = anOrder({ brokerOrderId: null, submission: { state: 'unknown', since: time(9), attempts: 1, method: null } })
  const [, , sent] = stepsOf(unknown, [], [event(4, pending(), 0)], [])
  assert.deepEqual([sent?.kind, sent?.at, sent?.evidence.known_at, sent?.evidence.submission_state], ['sent', null, null, 'unknown'])
})

test('an order placed elsewhere was neither requested nor sent here', () => {
  const external = anOrder({ submission: { state: 'external', since: time(9), attempts: 0, method: 'snapshot' } })
  assert.deepEqual(
    stepsOf(external, [], [], []).map(({ kind, evidence }) => [kind, evidence.placed_here]),
    [['recorded', false]]
  )
})

test('the events of an order are found among many others without reading them all', async () => {
  const others = Array.from({ length: 40_000 }, (_, index) => event(index + 1, anOrder({ orderId: id(99) }), -8_000_000 + index * 200))
  const order = anOrder({ entryTime: time(0), status: 'filled', revision: 2 })
  const mine = [event(40_001, anOrder(), 0), event(40_002, order, 10)]
  const log = logOf([...others, ...mine])
  const found = await eventsOfOrder({ events: log }, order)
  assert.deepEqual([seqsOf(found), found.missing], [[40_001, 40_002], []])
  assert.ok(log.count() < 1_000, `${log.count()} events were read`)
})

test('an order’s first event is found where the clock of its node was up to a minute behind the one that took the order', async () => {
  const order = anOrder({ entryTime: time(0) })
  const others = Array.from({ length: 100 }, (_, index) => event(index + 1, anOrder({ orderId: id(99) }), -70_000 - index))
  const found = await eventsOfOrder(
    { events: logOf([...others, event(101, order, -60_000), event(102, anOrder({ orderId: id(99) }), 5)]) },
    order
  )
  assert.deepEqual([seqsOf(found), found.missing], [[101], []])
})

test('what is erased, and what lies beyond the search, is said', async () => {
  const order = anOrder({ status: 'working', revision: 3 })
  const busy = Array.from({ length: LOOKED_THROUGH_MAX + 10 }, (_, index) => event(index + 12, anOrder({ orderId: id(99) }), index))
  const found = async (...all: readonly LoggedEvent[]) => {
    const events = await eventsOfOrder({ events: logOf(all, 10) }, order)
    return [seqsOf(events), events.missing]
  }
  assert.deepEqual(await found(event(11, order, 20)), [[11], ['erased_changes']])
  assert.deepEqual(await found(), [[], ['erased_changes']])
  assert.deepEqual(await found(event(11, anOrder(), 0), ...busy), [[11], ['later_changes']])
  assert.deepEqual(await found(event(11, anOrder({ revision: 2 }), 0), ...busy), [[11], ['erased_changes', 'later_changes']])
  assert.deepEqual(await found(...busy), [[], ['later_changes']], 'the first may come as well')
})

test('first events that are not where the clocks say are not said to be erased', async () => {
  const order = anOrder({ revision: 2 })
  const other = event(1, anOrder({ orderId: id(99) }), -3_600_000)
  const found = await eventsOfOrder({ events: logOf([other, event(2, anOrder(), -61_000), event(3, order, 0)]) }, order)
  assert.deepEqual([seqsOf(found), found.missing], [[3], ['unfound_changes']])
})

test('an order placed elsewhere is searched for from its adoption on, whatever time the broker says', async () => {
  const submission = { state: 'external', since: time(0), attempts: 0, method: 'snapshot' } as const
  const others = Array.from({ length: LOOKED_THROUGH_MAX + 10 }, (_, index) => event(index + 1, anOrder({ orderId: id(99) }), -7_000_000))
  for (const entryTime of [time(90_000), time(-7_100_000)]) {
    const order = anOrder({ entryTime, submission })
    const mine = event(others.length + 1, order, 1)
    const { steps, missing } = await stepsIn({ order, audit: [entry('order.adopt', 0)], events: [...others, mine] })
    assert.deepEqual(missing, [])
    assert.deepEqual([steps[1]?.kind, steps[1]?.at, steps[1]?.evidence.seq], ['recorded', time(1), mine.seq])
  }
})

test('without its first event it is not known when an order was recorded', async () => {
  const submission = { state: 'external', since: time(0), attempts: 0, method: 'snapshot' } as const
  const order = anOrder({ revision: 5, entryTime: time(-260_000_000), submission })
  const { steps } = await stepsIn({ order, audit: [entry('order.adopt', 1)], events: [event(9, order, 10)] })
  assert.deepEqual(
    steps.map(({ kind, at, source }) => [kind, at, source]),
    [
      ['request', time(1), 'audit'],
      ['recorded', null, 'order'],
      ['change', time(10), 'event']
    ]
  )
  assert.equal(steps[1]?.evidence.entry_time, order.entryTime)
})

test('a change after the end is found, however late: a real execution in place of an inferred one', async () => {
  const fill = { fillId: 'f', at: time(10), quantity: decimal('100'), execDest: null }
  const early = anOrder({ status: 'filled', revision: 2, fills: [{ ...fill, price: decimal('10.40'), inferred: true }] })
  const order = anOrder({ status: 'filled', revision: 3, fills: [{ ...fill, price: decimal('10.50') }] })
  const others = Array.from({ length: 600 }, (_, index) => event(3 + index, anOrder({ orderId: id(99) }), 20 + index))
  const events = logOf([event(1, pending(), 0), event(2, early, 10), ...others, event(700, order, 5_000)])
  const found = await eventsOfOrder({ events }, order)
  assert.deepEqual([seqsOf(found), found.missing], [[1, 2, 700], []])
  assert.equal(seqsOf(await eventsOfOrder({ events }, early)).length, 2, 'the search ends with the newest change')
})

test('an order that changes while it is read is shown as its newest event has it', async () => {
  const submission = { state: 'acknowledged', since: time(40), attempts: 1, method: 'reply' } as const
  const events = [event(4, pending(), 1), event(5, anOrder({ revision: 2, submission }), 41)]
  const { steps } = await stepsIn({ order: pending(), events })
  assert.deepEqual(
    steps.map(({ kind }) => kind),
    ['request', 'recorded', 'sent', 'answer', 'change']
  )
  assert.equal(steps[2]?.evidence.is_proved, true)
})

test('more audit entries than one read looks through are said to be missing', async () => {
  const order = anOrder()
  const of = async (cancels: number) => {
    const audit = [entry('order.place', -1), ...Array.from({ length: cancels }, (_, index) => entry('order.cancel', index))]
    const { steps, missing } = await stepsIn({ order, audit, events: [event(11, order, 0)] })
    return [steps.filter(({ kind }) => kind === 'request').length, missing]
  }
  assert.deepEqual(await of(AUDIT_MAX - 1), [AUDIT_MAX, []])
  assert.deepEqual(await of(AUDIT_MAX), [AUDIT_MAX, ['later_requests']])
})

test('a successor has the request of the modification that made it, or one of which nothing is known', async () => {
  const before = id<OrderId>(77)
  const order = anOrder({ replacesOrderId: before })
  const modify = (successor: string) => entry('order.modify', -1, { target: before, detail: { successor } })
  const requestsOf = async (...audit: readonly PlacedEntry[]) =>
    (await stepsIn({ order, audit, events: [event(11, order, 0)] })).steps.filter(({ kind }) => kind === 'request')
  const audit = [entry('order.cancel', 5), entry('order.cancel', 0, { target: before }), modify(id(78)), modify(order.orderId)]
  const found = await requestsOf(...audit)
  assert.deepEqual(
    found.map(({ at, evidence }) => [evidence.action, evidence.target, at]),
    [
      ['order.modify', before, time(-1)],
      ['order.cancel', order.orderId, time(5)]
    ]
  )
  const [lost, ...others] = await requestsOf(modify(id(78)))
  assert.deepEqual([lost?.at, lost?.source, lost?.evidence.action, others], [null, 'order', null, []])
})

test('a change has the request that was pending then', async () => {
  const pendingRequest = { kind: 'cancel', requestedAt: time(5), sentAt: null, successorId: null, takenAt: null } as const
  const order = anOrder({ status: 'pending_cancel', revision: 2, pendingRequest })
  const { steps } = await stepsIn({ order, events: [event(11, pending(), 0), event(12, order, 6)] })
  const { pending_request, requested_at, cancel_requested_at } = steps.at(-1)?.evidence ?? {}
  assert.deepEqual([pending_request, requested_at, cancel_requested_at], ['cancel', time(5), null])
})

test('an attempt is a step of the orders whose events its message had, and of no others', async () => {
  const order = anOrder({ status: 'filled', revision: 2 })
  const events = [event(11, anOrder({ status: 'pending' }), 0), event(12, order, 10)]
  const carriedBy = async (...deliveries: readonly WebhookDelivery[]) =>
    (await stepsIn({ order, events, deliveries })).steps.flatMap(({ kind, evidence }) => (kind === 'delivery' ? [evidence.carried] : []))
  const only = (topics: 'orders' | 'balances', orderStatuses: 'filled' | 'working' | null) => ({
    filter: { topics: [topics], orderStatuses: orderStatuses === null ? null : [orderStatuses] }
  })
  assert.deepEqual(await carriedBy(delivery(10, 14), delivery(10, 11), delivery(12, 14)), [true, true, true])
  assert.deepEqual(await carriedBy(delivery(8, 10), delivery(13, 14)), [], 'beside the range')
  assert.deepEqual(await carriedBy(delivery(10, 14, only('balances', null)), delivery(10, 14, only('orders', 'working'))), [])
  assert.deepEqual(await carriedBy(delivery(10, 14, only('orders', 'filled'))), [true])
  assert.deepEqual(await carriedBy(delivery(10, 11, only('orders', 'filled'))), [], 'the event with that status is not in the range')
  const erased = { from: 10, to: 14, firstEventId: null, count: 1 }
  assert.deepEqual(await carriedBy(delivery(10, 14, { events: erased }), delivery(10, 14, { events: null })), [])
})

test('an attempt that was made at the very instant of an event stands behind it, and a request before', async () => {
  const order = anOrder({ status: 'filled', revision: 2 })
  const { steps } = await stepsIn({
    order,
    audit: [entry('order.place', -1), entry('order.cancel', 10)],
    events: [event(11, pending(), 0), event(12, order, 10)],
    deliveries: [delivery(12, 12, { startedAt: time(10) })]
  })
  assert.deepEqual(
    steps.slice(-3).map(({ kind }) => kind),
    ['request', 'change', 'delivery']
  )
})

test('of an attempt whose filter was not recorded it is not known what its message had, but for its first event', async () => {
  const order = anOrder()
  const { filter: _, ...older } = delivery(10, 14)
  const first = { from: 11, to: 14, firstEventId: id<EventId>(11), count: 2 }
  const deliveries = [older, { ...older, events: { ...first, from: 12, firstEventId: id<EventId>(12) } }, { ...older, events: first }]
  const { steps } = await stepsIn({ order, events: [event(11, order, 0)], deliveries })
  assert.deepEqual(
    steps.filter(({ kind }) => kind === 'delivery').map(({ evidence }) => evidence.carried),
    [null, true]
  )
})

test('more attempts than one read looks through are said to be missing', async () => {
  const order = anOrder()
  const of = async (count: number) =>
    await stepsIn({ order, events: [event(11, order, 0)], deliveries: Array.from({ length: count }, () => delivery(11, 11)) })
  const [all, more] = [await of(ATTEMPTS_MAX), await of(ATTEMPTS_MAX + 1)]
  const countOf = ({ steps }: OrderSteps) => steps.filter(({ kind }) => kind === 'delivery').length
  assert.deepEqual([countOf(all), all.missing], [ATTEMPTS_MAX, []])
  assert.deepEqual([countOf(more), more.missing], [ATTEMPTS_MAX, ['later_attempts']])
})

test('an order that is not there is an error with its code', async () => {
  const store = { orders: { find: async () => null }, events: logOf([]) }
  const reads = { auditOfOrder: async () => [], deliveriesOf: async () => [] }
  await assert.rejects(
    orderSteps(Object({ store, reads }), id(1)),
    (cause: unknown) => cause instanceof ServiceError && cause.code === 'order_not_found'
  )
})

test('a replay in the sandbox is no step: the steps of the original end where it ended, and those of the replay with its own', async () => {
  const order = anOrder({ status: 'filled', revision: 2 })
  const hour = 3_600_000
  const about = [
    entry('order.replay', hour, { actor: 'operator' }),
    entry('order.replayed', hour + 900, { detail: { replay_order_id: id<OrderId>(77) } }),
    entry('order.replay_of', hour + 901)
  ]
  const events = [event(4, anOrder({ status: 'pending' }), 1), event(5, order, 90)]
  const audit = [entry('order.place', -1), entry('order.modify', 95), ...about]
  const { steps, replays } = await stepsIn({ order, audit, events })
  assert.deepEqual([steps.at(-1)?.evidence.action, steps.at(-1)?.at], ['order.modify', time(95)])
  assert.deepEqual(
    replays.map(({ at, evidence }) => [evidence.action, at]),
    about.map(({ action, at }) => [action, at])
  )
  assert.equal(replays[1]?.evidence.detail_replay_order_id, id<OrderId>(77))
})
