/** Cases about previews: they report the broker's estimate, and never place an order. */

import assert from 'node:assert/strict'
import { compare, parseDecimal, ZERO } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { BrokerFault, PreviewPlaced } from '@trunkline/core/ports/broker'
import type { OrderEstimate, OrderPreview } from '@trunkline/core/ports/preview'
import { type ContractCase, firstSample, instrumentsOf, newOrder, recently, refusal, restingLimit, soon } from './contract-case.ts'
import type { BrokerHarness, InjectedFault, Sample } from './harness.ts'

const previews: ContractCase['notOffered'] = ({ orderPreview }) => (orderPreview ? null : 'the broker does not preview orders')

const NO_SYMBOL = 'ZZQZX'
const USELESS: readonly InjectedFault[] = [
  { kind: 'lose_answer' },
  { kind: 'reset' },
  { kind: 'html' },
  { kind: 'truncate' },
  { kind: 'garbage' },
  { kind: 'status', status: 500, done: true }
]

function previewed({ broker }: BrokerHarness, { brokerAccountId }: Sample, ticket: OrderTicket): Promise<OrderPreview> {
  return broker.preview({ ...ticket, brokerAccountId }, soon())
}

function estimateOf(preview: OrderPreview): OrderEstimate {
  assert.equal(preview.kind, 'estimated', preview.kind === 'refused' ? preview.message : '')
  assert.ok(preview.kind === 'estimated')
  return preview.estimate
}

async function ordersOf({ broker }: BrokerHarness, { brokerAccountId }: Sample): Promise<number> {
  return (await broker.orders(brokerAccountId, recently(), soon())).items.length
}

/** Positive for a buyer and negative for a seller, if the broker reports it. */
function isSigned(ticket: OrderTicket, { cost, commission, fees }: OrderEstimate): void {
  if (cost !== null && ticket.legs === null) assert.equal(compare(cost, ZERO) > 0, ticket.side.startsWith('BUY'), `${ticket.side} ${cost}`)
  for (const charge of [commission, fees]) assert.ok(charge === null || compare(charge, ZERO) >= 0, `a charge of ${charge}`)
}

async function placedInstead(harness: BrokerHarness, sample: Sample): Promise<void> {
  const { broker, venue } = harness
  const before = await venue.requests('preview')
  await venue.injectFault('preview', { kind: 'place' }, 1)
  const fault: unknown = await previewed(harness, sample, restingLimit(sample)).catch(error => error)
  assert.ok(fault instanceof PreviewPlaced, String(fault))
  const { items } = await broker.orders(sample.brokerAccountId, recently(), soon())
  assert.deepEqual(
    [fault.brokerOrderId],
    items.map(({ brokerOrderId }) => brokerOrderId)
  )
  assert.equal(await venue.requests('preview'), before + 1)
}

export const PREVIEW: readonly ContractCase[] = [
  {
    id: 'C87',
    title: 'a preview estimates an order in the broker’s own numbers, and places nothing',
    notOffered: previews,
    run: async harness => {
      const { venue } = harness
      for (const instrument of instrumentsOf(harness)) {
        const sample = harness.sample(instrument)
        for (const ticket of [restingLimit(sample), sample.marketable])
          isSigned(ticket, estimateOf(await previewed(harness, sample, ticket)))
        assert.equal(await ordersOf(harness, sample), 0, instrument)
      }
      assert.equal(await venue.requests('preview'), instrumentsOf(harness).length * 2)
      assert.equal(await venue.requests('submit'), 0)
    }
  },
  {
    id: 'C88',
    title: 'an order that a preview refuses is refused for the same reason when it is placed',
    notOffered: previews,
    run: async harness => {
      const { broker, venue } = harness
      const sample = firstSample(harness)
      const resting = restingLimit(sample)
      const tickets = [sample.tooDear, { ...resting, symbol: NO_SYMBOL }, { ...resting, limitPrice: parseDecimal('7.123457', 'price') }]
      const seen: OrderPreview[] = []
      for (const ticket of tickets) seen.push(await previewed(harness, sample, ticket))
      assert.equal(await ordersOf(harness, sample), 0)
      await venue.injectFault('preview', { kind: 'refuse', message: 'The operator does not like it.' }, 1)
      const disliked = await previewed(harness, sample, resting)
      assert.ok(disliked.kind === 'refused' && disliked.message.includes('The operator does not like it.'))
      assert.equal(await venue.requests('submit'), 0)
      assert.ok(seen.some(({ kind }) => kind === 'refused'))
      for (const [index, ticket] of tickets.entries()) {
        const preview = seen[index]
        if (preview?.kind !== 'refused') continue
        const { rejectCode } = refusal(await broker.submit(newOrder(sample, ticket), soon()))
        assert.deepEqual([preview.rejectCode, preview.message.trim() !== ''], [rejectCode, true])
      }
    }
  },
  {
    id: 'C89',
    title: 'a preview is requested once: an unreadable answer is a fault, and an answer with an order is a fault that names the order',
    notOffered: previews,
    run: async harness => {
      const { venue } = harness
      const sample = firstSample(harness)
      const resting = restingLimit(sample)
      for (const how of USELESS) {
        const before = await venue.requests('preview')
        await venue.injectFault('preview', how, 1)
        await assert.rejects(previewed(harness, sample, resting), error => {
          assert.ok(error instanceof BrokerFault && !(error instanceof PreviewPlaced), `${how.kind}: ${String(error)}`)
          return true
        })
        await venue.clearFaults()
        assert.equal(await venue.requests('preview'), before + 1, how.kind)
        assert.equal(await ordersOf(harness, sample), 0, how.kind)
      }
      assert.equal(await venue.requests('submit'), 0)
      await placedInstead(harness, sample)
    }
  }
]
