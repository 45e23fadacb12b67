/** Cases about placing an order, and about always knowing whether it was placed. */

import assert from 'node:assert/strict'
import { type Combination, combinationsOf } from '@trunkline/core/domain/combinations'
import { compare, parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { isSameTicket } from '@trunkline/core/domain/order-matching'
import type { Size } from '@trunkline/core/domain/vocabulary'
import type { NewOrder } from '@trunkline/core/ports/broker'
import { until } from '../until.ts'
import {
  accepted,
  adoptedOnce,
  type ContractCase,
  filledOf,
  findSubmitted,
  firstSample,
  givenUpWhen,
  instrumentsOf,
  isKind,
  isOurs,
  Listener,
  MUCH_LATER_MS,
  newOrder,
  reaches,
  recently,
  refusal,
  refused,
  restingLimit,
  soon
} from './contract-case.ts'
import type { BrokerHarness, InjectedFault, Sample } from './harness.ts'

/** Answers may have whole seconds. */
const CLOCKS_APART_MS = 1_000

/** A symbol in the form of a share that no market lists. */
const NO_SYMBOL = 'ZZQZX'
const OFF_STEP = parseDecimal('7.123457', 'a price off every step')

/** Submits a resting order while the venue has one fault. */
async function submittedWhile(
  harness: BrokerHarness,
  how: InjectedFault,
  order = newOrder(firstSample(harness), restingLimit(firstSample(harness))),
  signal = soon()
) {
  await harness.venue.injectFault('submit', how, 1)
  return { order, outcome: await harness.broker.submit(order, signal) }
}

async function isNowhere(harness: BrokerHarness, order: NewOrder): Promise<void> {
  const { accepted: made, received } = await harness.venue.orderCounts(order.brokerClOrdId)
  assert.ok(made === 0 && received <= 1, `received ${received}, accepted ${made}`)
  assert.equal(await findSubmitted(harness, order), null)
}

const HALF = parseDecimal('0.5', 'a fraction')

function ticketOf(sample: Sample, { instrument, type, tif }: Combination, size: Size): OrderTicket {
  const resting = sample.resting(type, tif, 'BUY')
  assert.ok(resting !== null || type === 'MKT', `the sample of ${instrument} has no ${type} ${tif}`)
  const ticket = resting ?? { ...sample.marketable, type, tif, limitPrice: null, stopPrice: null }
  // Pairs already trade in fractions.
  if (size === 'whole' || (size === 'fraction' && instrument === 'CRYPTO')) return ticket
  const { notional } = sample.notional ?? ticket
  return size === 'fraction' ? { ...ticket, quantity: HALF } : { ...ticket, quantity: null, notional }
}

export const SUBMIT: readonly ContractCase[] = [
  {
    id: 'C50',
    title: 'every combination that the capabilities list is accepted as requested',
    run: async harness => {
      const { broker, definition } = harness
      const combinations = combinationsOf(definition.capabilities)
      for (const instrument of instrumentsOf(harness)) {
        const sample = harness.sample(instrument)
        const listed = combinations.filter(combination => combination.instrument === instrument)
        for (const [combination, size] of listed.flatMap(each => each.sizes.map(size => [each, size] as const))) {
          const { type, tif } = combination
          const order = newOrder(sample, ticketOf(sample, combination, size))
          const outcome = await broker.submit(order, soon())
          assert.equal(outcome.kind, 'accepted', `${instrument} ${type} ${tif} ${size}: ${JSON.stringify(outcome)}`)
          const report = accepted(outcome)
          isOurs(harness, report, order)
          for (const field of ['symbol', 'instrument', 'side', 'type', 'tif', 'brokerAccountId'] as const)
            assert.equal(report[field], order[field], `${type} ${tif}: ${field}`)
          for (const field of ['quantity', 'limitPrice', 'stopPrice'] as const) {
            const [found, requested] = [report[field], order[field]]
            assert.ok(
              found === requested || (found !== null && requested !== null && compare(found, requested) === 0),
              `${type} ${tif}: ${field} ${found} ${requested}`
            )
          }
        }
      }
    }
  },
  {
    id: 'C52',
    title: 'a marketable order fills, its executions add up, and each has its own id',
    run: async harness => {
      const { broker } = harness
      for (const instrument of instrumentsOf(harness)) {
        const sample = harness.sample(instrument)
        const order = accepted(await broker.submit(newOrder(sample, sample.marketable), soon()))
        const filled = await reaches(broker, order, 'filled')
        assert.ok(sample.marketable.quantity !== null && compare(filledOf(filled), sample.marketable.quantity) === 0)
        assert.equal(new Set(filled.fills?.map(fill => fill.fillId)).size, filled.fills?.length ?? 0)
        assert.equal(filled.fills !== null || filled.filledTotal?.averagePrice !== null, true, 'the price of what was filled is reported')
      }
    }
  },
  {
    id: 'C54',
    title: 'an order by amount is accepted, and keeps its amount',
    notOffered: ({ notional }) => (notional ? null : 'the broker accepts no orders by amount'),
    run: async harness => {
      for (const instrument of instrumentsOf(harness)) {
        const sample = harness.sample(instrument)
        if (sample.notional === null) continue
        const report = accepted(await harness.broker.submit(newOrder(sample, sample.notional), soon()))
        assert.equal(report.quantity, null)
        assert.ok(report.notional !== null && sample.notional.notional !== null && compare(report.notional, sample.notional.notional) === 0)
      }
    }
  },
  {
    id: 'C56',
    title: "an order that exceeds the buying power is refused with the broker's own message and our code",
    run: async harness => {
      const sample = firstSample(harness)
      const order = newOrder(sample, sample.tooDear)
      assert.equal(refusal(await harness.broker.submit(order, soon())).rejectCode, 'insufficient_funds')
      const found = await findSubmitted(harness, order)
      assert.ok(found === null || found.status === 'rejected')
      const { outcome } = await submittedWhile(harness, { kind: 'refuse', message: 'Not on a Tuesday.' })
      assert.equal(refused(outcome), 'Not on a Tuesday.')
      assert.equal(refusal(outcome).rejectCode, 'other', 'an unknown reason is not guessed')
    }
  },
  {
    id: 'C57',
    title: 'an order that the answer refuses appears once, rejected and as requested, or not at all, in lists and on the stream',
    run: async harness => {
      const { broker } = harness
      const sample = firstSample(harness)
      const order = newOrder(sample, sample.tooDear)
      await using listener = broker.capabilities.accountStream ? await Listener.live(broker) : null
      refused(await broker.submit(order, soon()))
      const { items } = await broker.orders(order.brokerAccountId, recently(), soon())
      const streamed = listener?.events.flatMap(event => (event.type === 'order' ? [event.report] : [])) ?? []
      const shown = [...items, ...streamed]
      assert.ok(new Set(shown.map(({ brokerOrderId }) => brokerOrderId)).size <= 1, 'one order at most')
      for (const report of shown) {
        assert.ok(report.status === 'rejected' || report.status === 'pending', report.status)
        isOurs(harness, report, order)
        assert.ok(isSameTicket(report, order), 'it is recognized by its terms')
      }
      assert.ok(items.every(({ status }) => status === 'rejected'))
      for (const { status, rejectCode } of shown)
        assert.ok(rejectCode === null || (status === 'rejected' && rejectCode === 'insufficient_funds'), `${status} ${rejectCode}`)
    }
  },
  {
    id: 'C58',
    title: 'an order that is accepted first and refused later ends rejected, with the reason',
    run: async harness => {
      const { outcome } = await submittedWhile(harness, { kind: 'refuse', message: 'On second thoughts, no.', later: true })
      const report = await reaches(harness.broker, accepted(outcome), 'rejected')
      const { rejectReasons } = harness.broker.capabilities
      // Null where there is none: a sentence of the adapter's own would replace a reason that was given before.
      assert.deepEqual([report.brokerMessage, report.rejectCode], rejectReasons ? ['On second thoughts, no.', 'other'] : [null, null])
    }
  },
  {
    id: 'C59',
    title: 'an order has a reject code only once it is rejected: an unknown symbol, a price off the step',
    run: async harness => {
      const { broker } = harness
      const sample = firstSample(harness)
      const order = newOrder(sample, restingLimit(sample))
      assert.equal(accepted(await broker.submit(order, soon())).rejectCode, null)
      for (const [more, code] of [
        [{ symbol: NO_SYMBOL }, 'unknown_symbol'],
        [{ limitPrice: OFF_STEP }, 'tick_size']
      ] as const)
        assert.equal(refusal(await broker.submit(newOrder(sample, { ...restingLimit(sample), ...more }), soon())).rejectCode, code)
    }
  },
  {
    id: 'C60',
    title: 'a lost reply is unknown, and the order is found by its client id',
    run: async harness => {
      const { order, outcome } = await submittedWhile(harness, { kind: 'lose_answer' })
      isKind(outcome, 'unknown')
      await adoptedOnce(harness, order)
    }
  },
  {
    id: 'C62',
    title: 'a request that was never received is unknown, and the look-up reports it absent as of a later time',
    run: async harness => {
      const before = Date.now()
      const { order, outcome } = await submittedWhile(harness, { kind: 'reset' })
      isKind(outcome, 'unknown')
      await isNowhere(harness, order)
      const { asOf } = await harness.broker.orders(order.brokerAccountId, recently(), soon())
      assert.ok(Date.parse(asOf) >= before - CLOCKS_APART_MS, 'the answer is of a time after the order')
    }
  },
  {
    id: 'C64',
    title: 'an answer that comes too late is unknown, and the order is at the venue',
    run: async harness => {
      const sample = firstSample(harness)
      const order = newOrder(sample, restingLimit(sample))
      const signal = givenUpWhen(async () => (await harness.venue.orderCounts(order.brokerClOrdId)).accepted > 0)
      const { outcome } = await submittedWhile(harness, { kind: 'answer_late', ms: MUCH_LATER_MS }, order, signal)
      isKind(outcome, 'unknown')
      await adoptedOnce(harness, order)
    }
  },
  {
    id: 'C65',
    title: 'an order that appears late is first absent and then found, and never sent again',
    run: async harness => {
      const { order, outcome } = await submittedWhile(harness, { kind: 'hide', ms: MUCH_LATER_MS })
      isKind(outcome, 'unknown')
      assert.equal(await findSubmitted(harness, order), null)
      await harness.venue.reveal(order.brokerClOrdId)
      await until(async () => (await findSubmitted(harness, order)) !== null, 'the order appears')
      await adoptedOnce(harness, order)
    }
  },
  {
    id: 'C66',
    title: 'a server error is unknown, whether or not the order was accepted',
    run: async harness => {
      for (const status of [500, 502, 503, 504])
        for (const done of [true, false]) {
          const { order, outcome } = await submittedWhile(harness, { kind: 'status', status, done })
          isKind(outcome, 'unknown', `${status}`)
          if (done) await adoptedOnce(harness, order)
          else await isNowhere(harness, order)
        }
    }
  },
  {
    id: 'C68',
    title: 'an unreadable success is unknown: HTML, half an answer, something else',
    run: async harness => {
      for (const kind of ['html', 'truncate', 'garbage'] as const) {
        const { order, outcome } = await submittedWhile(harness, { kind })
        isKind(outcome, 'unknown', kind)
        await adoptedOnce(harness, order)
      }
    }
  },
  {
    id: 'C70',
    title: 'a 429 has the outcome that this broker defines, and the order is not sent again',
    run: async harness => {
      const { order, outcome } = await submittedWhile(harness, { kind: 'status', status: 429, done: false, retryAfterS: 1 })
      isKind(outcome, harness.throttledSubmit)
      await until(async () => (await findSubmitted(harness, order).catch(() => order)) === null, 'the broker can be called again')
      await isNowhere(harness, order)
      const sample = firstSample(harness)
      await until(
        async () => (await harness.broker.submit(newOrder(sample, restingLimit(sample)), soon())).kind === 'accepted',
        'orders pass again'
      )
    }
  },
  {
    id: 'C72',
    title: 'after a 401 the order is not sent twice, and the next order is accepted',
    run: async harness => {
      const { order, outcome } = await submittedWhile(harness, { kind: 'status', status: 401, done: false })
      assert.ok(outcome.kind === 'refused' || outcome.kind === 'unknown', outcome.kind)
      await isNowhere(harness, order)
      const sample = firstSample(harness)
      accepted(await harness.broker.submit(newOrder(sample, restingLimit(sample)), soon()))
    }
  },
  {
    id: 'C74',
    title: 'without a connection, or when aborted before it began, nothing was sent',
    run: async harness => {
      const sample = firstSample(harness)
      isKind(await harness.openUnreachable().submit(newOrder(sample, restingLimit(sample)), soon()), 'not_sent')
      const order = newOrder(sample, restingLimit(sample))
      isKind(await harness.broker.submit(order, AbortSignal.abort()), 'not_sent')
      await isNowhere(harness, order)
    }
  },
  {
    id: 'C76',
    title: 'an order that the adapter itself refuses is distinguished from one that the broker refused',
    run: async harness => {
      const { broker, venue } = harness
      const sample = firstSample(harness)
      for (const more of [{ limitPrice: OFF_STEP }, { symbol: NO_SYMBOL }]) {
        const before = await venue.requests('submit')
        const { isUnsent } = refusal(await broker.submit(newOrder(sample, { ...restingLimit(sample), ...more }), soon()))
        assert.equal((await venue.requests('submit')) - before, isUnsent === true ? 0 : 1)
      }
    }
  },
  {
    id: 'C80',
    title: 'a client order id used twice makes one order, and the second use is never taken for another order',
    notOffered: ({ deduplication }) =>
      deduplication === 'enforced' || deduplication === 'bounded' ? null : 'the broker does not refuse a client order id used twice',
    run: async harness => {
      const sample = firstSample(harness)
      const order = newOrder(sample, restingLimit(sample))
      const first = accepted(await harness.broker.submit(order, soon()))
      const again = await harness.broker.submit(order, soon())
      // "Refused" would reject the live order if a gateway duplicated the request on its way.
      isKind(again, 'unknown')
      assert.equal((await findSubmitted(harness, order))?.brokerOrderId, first.brokerOrderId)
      assert.equal((await harness.venue.orderCounts(order.brokerClOrdId)).accepted, 1)
    }
  },
  {
    id: 'C82',
    title: 'of many orders at once, each has its own outcome and its own order',
    run: async harness => {
      const sample = firstSample(harness)
      const orders = Array.from({ length: 40 }, () => newOrder(sample, restingLimit(sample)))
      const outcomes = await Promise.all(orders.map(order => harness.broker.submit(order, soon())))
      for (const [index, outcome] of outcomes.entries()) isOurs(harness, accepted(outcome), orders[index] ?? assert.fail())
      assert.equal(new Set(outcomes.map(outcome => accepted(outcome).brokerOrderId)).size, orders.length)
    }
  }
]
