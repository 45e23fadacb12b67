/** Cases about cancelling, replacing and finding orders. */
import assert from 'node:assert/strict'
import { compare, minus, parseDecimal, plus, ZERO } from '@trunkline/core/domain/decimal'
import type { OrderKey, OrderReport } from '@trunkline/core/ports/broker'
import { PATIENCE_MS } from '../patience.ts'
import { until } from '../until.ts'
import {
  accepted,
  byOrderId,
  type ContractCase,
  clOrdId,
  fault,
  filledOf,
  findSubmitted,
  firstSample,
  isKind,
  isOurs,
  Listener,
  made,
  newOrder,
  reaches,
  recently,
  refused,
  restingLimit,
  soon
} from './contract-case.ts'
import type { BrokerHarness } from './harness.ts'

async function rested(harness: BrokerHarness): Promise<OrderReport> {
  const sample = firstSample(harness)
  return accepted(await harness.broker.submit(newOrder(sample, restingLimit(sample)), soon()))
}

async function filled(harness: BrokerHarness): Promise<OrderReport> {
  const sample = firstSample(harness)
  return await reaches(harness.broker, accepted(await harness.broker.submit(newOrder(sample, sample.marketable), soon())), 'filled')
}

function replacement(harness: BrokerHarness, order: OrderReport) {
  const sample = firstSample(harness)
  const ticket = { ...restingLimit(sample), limitPrice: sample.otherLimit }
  return { brokerAccountId: order.brokerAccountId, brokerOrderId: order.brokerOrderId, brokerClOrdId: clOrdId(), ticket }
}

/** Answers may have whole seconds. */
const CLOCKS_APART_MS = 1_000
const LOOK_MS = 150

/** A small order and a part of it, in whole units, because some brokers take no others. */
const SOME = parseDecimal('10', 'quantity')
const PART = parseDecimal('3', 'quantity')

function keepsId({ definition }: BrokerHarness): boolean {
  return definition.capabilities.replacedOrderId === 'same'
}

/** The order after a replacement, once it shows the new terms; null until then. */
async function replacing(harness: BrokerHarness, old: OrderReport, request: ReturnType<typeof replacement>): Promise<OrderReport | null> {
  const found = keepsId(harness) ? await byOrderId(harness.broker, old) : await findSubmitted(harness, { ...request.ticket, ...request })
  if (found === null || found.limitPrice === null || compare(found.limitPrice, request.ticket.limitPrice) !== 0) return null
  if (!keepsId(harness)) assert.equal(found.replacesBrokerOrderId, old.brokerOrderId)
  return found
}

async function isReplaced(harness: BrokerHarness, old: OrderReport, report: OrderReport): Promise<void> {
  if (keepsId(harness)) return assert.equal(report.brokerOrderId, old.brokerOrderId)
  assert.notEqual(report.brokerOrderId, old.brokerOrderId)
  assert.equal(report.replacesBrokerOrderId, old.brokerOrderId)
  const replaced = await reaches(harness.broker, old, 'replaced')
  assert.equal(replaced.replacedByBrokerOrderId, report.brokerOrderId)
}

/** For brokers that cannot report yet whether a replacement was made. */
function undecided(error: unknown): null {
  fault('unreachable')(error)
  return null
}

const replaces: ContractCase['notOffered'] = ({ replace }) => (replace === 'native' ? null : `the broker replaces orders by ${replace}`)

export const CHANGE: readonly ContractCase[] = [
  {
    id: 'C90',
    title: 'a cancel is accepted and the order ends cancelled',
    run: async harness => {
      const order = await rested(harness)
      const report = accepted(await harness.broker.cancel(order, soon()))
      assert.ok(report === null || (report.brokerOrderId === order.brokerOrderId && /^(cancelled|pending_cancel)$/.test(report.status)))
      await reaches(harness.broker, order, 'cancelled')
    }
  },
  {
    id: 'C92',
    title: 'a cancel after the fill is refused with evidence, and the order stays filled',
    run: async harness => {
      const order = await filled(harness)
      refused(await harness.broker.cancel(order, soon()))
      assert.equal((await byOrderId(harness.broker, order)).status, 'filled')
    }
  },
  {
    id: 'C94',
    title: 'a cancel of an order that the broker does not know is refused',
    run: async harness => {
      const order = await rested(harness)
      refused(await harness.broker.cancel({ ...order, brokerOrderId: harness.venue.unknownOrderId }, soon()))
    }
  },
  {
    id: 'C96',
    title: 'a cancel whose answer is lost or unreadable is unknown, and the order shows the result',
    run: async harness => {
      for (const how of [{ kind: 'lose_answer' }, { kind: 'status', status: 503, done: true }, { kind: 'html' }] as const) {
        const order = await rested(harness)
        await harness.venue.injectFault('cancel', how, 1)
        isKind(await harness.broker.cancel(order, soon()), 'unknown', how.kind)
        await reaches(harness.broker, order, 'cancelled')
      }
    }
  },
  {
    id: 'C98',
    title: 'a cancel that is only acknowledged is pending until it ends, and a repeated request is no second cancel',
    run: async harness => {
      const order = await rested(harness)
      await harness.venue.injectFault('cancel', { kind: 'slow', ms: 400 }, 1)
      const report = accepted(await harness.broker.cancel(order, soon()))
      assert.ok(report === null || report.status === 'pending_cancel')
      const again = await harness.broker.cancel(order, soon())
      assert.ok(again.kind !== 'not_sent' && (again.kind !== 'accepted' || again.value === null || again.value.status === 'pending_cancel'))
      await reaches(harness.broker, order, 'cancelled')
    }
  },
  {
    id: 'C99',
    title: 'an accepted slow cancel stays pending: no look-up, list or stream reports meanwhile that it failed',
    run: async harness => {
      const { broker, venue } = harness
      const order = await rested(harness)
      await using listener = broker.capabilities.accountStream ? await Listener.live(broker) : null
      await venue.injectFault('cancel', { kind: 'slow', ms: 1_500 }, 1)
      accepted(await broker.cancel(order, soon()))
      const looks: OrderReport[] = []
      const isCancelled = async () => {
        const { items } = await broker.orders(order.brokerAccountId, recently(), soon())
        const found = await byOrderId(broker, order)
        looks.push(found, ...items.filter(({ brokerOrderId }) => brokerOrderId === order.brokerOrderId))
        return found.status === 'cancelled'
      }
      // Brokers limit requests per minute.
      await until(isCancelled, 'the order is cancelled', PATIENCE_MS, LOOK_MS)
      for (const { status, releases } of [...looks, ...(listener?.reports(order.brokerOrderId) ?? [])]) {
        assert.equal(releases, undefined, `a report of the status ${status} ends the request`)
        assert.match(status, /^(pending|working|pending_cancel|cancelled)$/)
      }
    }
  },
  {
    id: 'C100',
    title: 'a replacement has the new terms: in a new order that the old one points to, or in the same order under its id',
    notOffered: replaces,
    run: async harness => {
      const old = await rested(harness)
      const request = replacement(harness, old)
      const report = made(await harness.broker.replace(request, soon()))
      assert.ok(report.limitPrice !== null && compare(report.limitPrice, request.ticket.limitPrice) === 0)
      await isReplaced(harness, old, report)
      if (harness.broker.capabilities.replacedOrderId === 'new') isOurs(harness, report, request)
      assert.equal((await byOrderId(harness.broker, report)).status, 'working')
    }
  },
  {
    id: 'C101',
    title: 'the quantity of a replacement includes what has filled: nothing is bought twice',
    notOffered: replaces,
    run: async harness => {
      const { broker, venue } = harness
      const sample = firstSample(harness)
      const old = accepted(await broker.submit(newOrder(sample, { ...restingLimit(sample), quantity: SOME }), soon()))
      await venue.fill(old.brokerOrderId, PART)
      await until(async () => compare(filledOf(await byOrderId(broker, old)), PART) === 0, 'a part is filled')
      const report = made(
        await broker.replace(
          { ...replacement(harness, old), ticket: { ...restingLimit(sample), quantity: SOME, limitPrice: sample.otherLimit } },
          soon()
        )
      )
      await until(async () => (await byOrderId(broker, report)).status !== 'pending_replace', 'the replacement is made')
      const keepsId = broker.capabilities.replacedOrderId === 'same'
      assert.equal(
        compare(filledOf(await byOrderId(broker, report)), keepsId ? PART : ZERO),
        0,
        'fills are reported with the order that they were filled under'
      )
      await venue.fill(report.brokerOrderId, minus(SOME, PART))
      const filled = await reaches(broker, report, 'filled')
      assert.equal(compare(filledOf(filled), keepsId ? SOME : minus(SOME, PART)), 0)
    }
  },
  {
    id: 'C102',
    title: 'a replacement that comes too late is refused, and no new order is made',
    notOffered: replaces,
    run: async harness => {
      const order = await filled(harness)
      const request = replacement(harness, order)
      refused(await harness.broker.replace(request, soon()))
      assert.equal((await byOrderId(harness.broker, order)).status, 'filled')
      assert.equal((await harness.venue.orderCounts(request.brokerClOrdId)).accepted, 0)
    }
  },
  {
    id: 'C104',
    title: 'a replacement whose answer is lost or unreadable is unknown, and is found by its client id or its terms',
    notOffered: replaces,
    run: async harness => {
      for (const how of [{ kind: 'lose_answer' }, { kind: 'status', status: 502, done: true }, { kind: 'truncate' }] as const) {
        const old = await rested(harness)
        const request = replacement(harness, old)
        await harness.venue.injectFault('replace', how, 1)
        const outcome = await harness.broker.replace(request, soon())
        // The adapter may already have read it from the order itself.
        assert.ok(outcome.kind === 'unknown' || (outcome.kind === 'accepted' && keepsId(harness)), `${how.kind}: ${outcome.kind}`)
        await until(async () => (await replacing(harness, old, request)) !== null, 'the replacement is found')
        if (!keepsId(harness)) assert.deepEqual(await harness.venue.orderCounts(request.brokerClOrdId), { received: 1, accepted: 1 })
      }
    }
  },
  {
    id: 'C105',
    title: 'a replacement that is only acknowledged counts as accepted, and is found once it is done',
    notOffered: replaces,
    run: async harness => {
      const { broker } = harness
      const old = await rested(harness)
      const request = replacement(harness, old)
      await harness.venue.injectFault('replace', { kind: 'slow', ms: 400 }, 1)
      const outcome = await harness.broker.replace(request, soon())
      // The broker has accepted it, and only the broker can reverse that.
      const report = accepted(outcome)
      if (report !== null) assert.equal(compare(report.limitPrice ?? ZERO, request.ticket.limitPrice), 0)
      await until(async () => {
        const found = await replacing(harness, old, request).catch(undecided)
        if (found === null) assert.equal((await byOrderId(broker, old)).releases, undefined)
        return found !== null
      }, 'the new terms are there')
      if (!keepsId(harness)) await reaches(harness.broker, old, 'replaced')
    }
  },
  {
    id: 'C106',
    title: 'a replacement that never arrived leaves the old order as it was',
    notOffered: replaces,
    run: async harness => {
      const old = await reaches(harness.broker, await rested(harness), 'working')
      const request = replacement(harness, old)
      await harness.venue.injectFault('replace', { kind: 'reset' }, 1)
      isKind(await harness.broker.replace(request, soon()), 'unknown')
      assert.equal(await replacing(harness, old, request), null)
      assert.equal((await byOrderId(harness.broker, old)).status, 'working')
    }
  },
  {
    id: 'C107',
    title: 'changes made by the venue are reported: it ends one order, and another after a partial fill',
    run: async harness => {
      const { broker, venue } = harness
      const ended = await rested(harness)
      await venue.end(ended.brokerOrderId)
      await reaches(broker, ended, 'cancelled')
      const sample = firstSample(harness)
      const part = accepted(await broker.submit(newOrder(sample, { ...restingLimit(sample), quantity: SOME }), soon()))
      await venue.fill(part.brokerOrderId, PART)
      await until(async () => (await byOrderId(broker, part)).status === 'partially_filled', 'a part is filled')
      await venue.end(part.brokerOrderId)
      assert.equal(compare(filledOf(await reaches(broker, part, 'cancelled')), PART), 0, 'what was filled stays filled')
    }
  },
  {
    id: 'C108',
    title: 'partial fills add up, on the stream too, whether each has an id or only the total is reported',
    run: async harness => {
      const { broker, venue } = harness
      const sample = firstSample(harness)
      await using listener = broker.capabilities.accountStream ? await Listener.live(broker) : null
      const order = accepted(await broker.submit(newOrder(sample, { ...restingLimit(sample), quantity: SOME }), soon()))
      for (const [part, total] of [
        [PART, PART],
        [PART, plus(PART, PART)]
      ] as const) {
        await venue.fill(order.brokerOrderId, part)
        await until(async () => compare(filledOf(await byOrderId(broker, order)), total) === 0, `${total} are filled`)
        const { status, filledTotal, fills, limitPrice } = await byOrderId(broker, order)
        assert.equal(status, 'partially_filled')
        const prices = fills === null ? [filledTotal?.averagePrice ?? null] : fills.map(({ price }) => price)
        for (const price of prices) assert.ok(price !== null && limitPrice !== null && compare(price, limitPrice) === 0, `${price}`)
        await listener?.agrees(broker, order)
      }
    }
  },
  {
    id: 'C110',
    title: 'the list of orders holds the open ones, those that ended, and those placed elsewhere',
    run: async harness => {
      const { broker, venue } = harness
      const sample = firstSample(harness)
      const open = await reaches(broker, await rested(harness), 'working')
      const ended = await rested(harness)
      accepted(await broker.cancel(ended, soon()))
      await reaches(broker, ended, 'cancelled')
      const foreign = await venue.placeElsewhere(sample.brokerAccountId, restingLimit(sample))
      const { items } = await broker.orders(sample.brokerAccountId, recently(), soon())
      const status = (id: string) => items.find(item => item.brokerOrderId === id)?.status
      assert.deepEqual([status(open.brokerOrderId), status(ended.brokerOrderId), status(foreign)], [open.status, 'cancelled', open.status])
      assert.equal(new Set(items.map(item => item.brokerOrderId)).size, items.length)
    }
  },
  {
    id: 'C112',
    title: 'a list that fails in part is a fault, never a shorter list',
    run: async harness => {
      const { broker, venue } = harness
      const { brokerAccountId } = firstSample(harness)
      await rested(harness)
      await broker.orders(brokerAccountId, recently(), soon())
      const requestsOfOne = await venue.requests('orders')
      for (const how of [
        { kind: 'status', status: 500, done: false },
        { kind: 'html' },
        { kind: 'truncate' },
        { kind: 'garbage' },
        { kind: 'reset' }
      ] as const)
        for (let skip = 0; skip < requestsOfOne; skip += 1) {
          await venue.injectFault('orders', how, 100, skip)
          await assert.rejects(
            broker.orders(brokerAccountId, recently(), soon()),
            fault(how.kind === 'status' || how.kind === 'reset' ? 'unreachable' : 'malformed')
          )
          await venue.clearFaults()
        }
      assert.equal((await broker.orders(brokerAccountId, recently(), soon())).items.length, 1)
    }
  },
  {
    id: 'C114',
    title: 'a failed read of positions or balances is a fault, never an empty result',
    run: async harness => {
      const { broker, venue } = harness
      const { brokerAccountId } = await filled(harness)
      for (const kind of ['html', 'truncate', 'garbage'] as const)
        for (const on of ['positions', 'balances'] as const) {
          await venue.injectFault(on, { kind }, 100)
          await assert.rejects(broker[on](brokerAccountId, soon()), fault('malformed'))
          await venue.clearFaults()
        }
      assert.equal((await broker.positions(brokerAccountId, soon())).items.length, 1)
    }
  },
  {
    id: 'C120',
    title: 'a look-up distinguishes absent from failed',
    run: async harness => {
      const { broker, venue } = harness
      const { brokerAccountId } = firstSample(harness)
      const order = await rested(harness)
      const isUntagged = broker.capabilities.deduplication === 'none'
      const unknown: readonly OrderKey[] = [
        ...(isUntagged ? [] : [{ by: 'brokerClOrdId', brokerAccountId, brokerClOrdId: clOrdId() } as const]),
        { by: 'brokerOrderId', brokerAccountId, brokerOrderId: venue.unknownOrderId }
      ]
      for (const key of unknown) {
        const before = Date.now()
        const { found, asOf } = await broker.findOrder(key, soon())
        assert.equal(found, null)
        assert.ok(Date.parse(asOf) >= before - CLOCKS_APART_MS)
      }
      const key: OrderKey =
        order.brokerClOrdId === null
          ? { by: 'brokerOrderId', brokerAccountId, brokerOrderId: order.brokerOrderId }
          : { by: 'brokerClOrdId', brokerAccountId, brokerClOrdId: order.brokerClOrdId }
      for (const how of [
        ...[500, 404].map(status => ({ kind: 'status', status, done: false }) as const),
        { kind: 'html' },
        { kind: 'garbage' },
        { kind: 'truncate' },
        { kind: 'reset' }
      ] as const) {
        await venue.injectFault('find', how, 100)
        await assert.rejects(
          broker.findOrder(key, soon()),
          (error: unknown) => error instanceof Error && error.name === 'BrokerFault',
          how.kind
        )
        await venue.clearFaults()
      }
      await until(async () => (await broker.findOrder(key, soon())).found !== null, 'the order is found')
    }
  }
]
