/** Cases about the sides of orders with an existing position: sales, short sales, and their closing. */

import assert from 'node:assert/strict'
import { type Combination, combinationsOf } from '@trunkline/core/domain/combinations'
import { compare, isZero, negated, parseDecimal, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen, type OrderTicket } from '@trunkline/core/domain/order'
import type { Instrument, Side, Size } from '@trunkline/core/domain/vocabulary'
import { until } from '../until.ts'
import { accepted, byOrderId, type ContractCase, filledOf, instrumentsOf, newOrder, reaches, soon } from './contract-case.ts'
import type { BrokerHarness, Sample } from './harness.ts'

const HALF = parseDecimal('0.5', 'a part of what is held')

/** A position before an order, and the side that leads to the next one. */
interface Step {
  readonly holding: 'long' | 'nothing' | 'short'
  readonly side: Side
}

const SHARES: readonly Step[] = [
  { holding: 'long', side: 'SELL' },
  { holding: 'nothing', side: 'SELL' },
  { holding: 'short', side: 'BUY' }
]

/** From long to flat to short to flat. Pairs are never short, and multi-leg orders are sold as they were bought. */
const STEPS: { readonly [instrument in Instrument]?: readonly Step[] } = {
  STK: SHARES,
  FUT: SHARES,
  CRYPTO: SHARES.slice(0, 1),
  OPT: [
    { holding: 'long', side: 'SELL_TO_CLOSE' },
    { holding: 'nothing', side: 'SELL_TO_OPEN' },
    { holding: 'short', side: 'BUY_TO_CLOSE' }
  ]
}

async function holds({ broker }: BrokerHarness, { brokerAccountId, symbol, marketable }: Sample, what: Step['holding']): Promise<void> {
  const { quantity } = marketable
  assert.ok(quantity !== null)
  const wanted = what === 'nothing' ? ZERO : what === 'long' ? quantity : negated(quantity)
  await until(async () => {
    const { items } = await broker.positions(brokerAccountId, soon())
    const held = items.find(position => position.symbol === symbol)?.quantity ?? ZERO
    // The fee of buying a pair may reduce its quantity.
    return compare(held, wanted) === 0 || (what === 'long' && marketable.instrument === 'CRYPTO' && !isZero(held))
  }, `${what} is held of ${symbol}`)
}

async function filled(harness: BrokerHarness, sample: Sample, ticket: OrderTicket): Promise<void> {
  const report = accepted(await harness.broker.submit(newOrder(sample, ticket), soon()))
  assert.equal(report.side, ticket.side)
  const done = await reaches(harness.broker, report, 'filled')
  // Some brokers report the sale of a spread as a purchase at a negative price.
  if (ticket.legs === null) assert.equal(done.side, ticket.side, 'the look-up has the same side')
  assert.ok(ticket.quantity !== null && compare(filledOf(done), ticket.quantity) === 0)
}

/** Accepted as requested, according to the answer and a look-up, and cancelled afterwards. */
async function restsAndEnds({ broker }: BrokerHarness, sample: Sample, ticket: OrderTicket, what: string): Promise<void> {
  const outcome = await broker.submit(newOrder(sample, ticket), soon())
  assert.equal(outcome.kind, 'accepted', `${what}: ${JSON.stringify(outcome)}`)
  const report = accepted(outcome)
  let found = await byOrderId(broker, report)
  for (const shown of [report, found]) {
    for (const field of ['symbol', 'instrument', 'side', 'type', 'tif'] as const)
      assert.equal(shown[field], ticket[field], `${what}: ${field}`)
    assert.ok(shown.quantity !== null && ticket.quantity !== null && compare(shown.quantity, ticket.quantity) === 0, `${what}: quantity`)
  }
  await until(async () => {
    if (isOpen(found.status)) {
      if (found.status !== 'pending_cancel') await broker.cancel(report, soon())
      found = await byOrderId(broker, report)
    }
    return !isOpen(found.status)
  }, `${what} has ended`)
}

/** Each type with its first time in force; short sales, which brokers restrict, with each. Quotas allow no more. */
function combinationsFor(
  { definition }: BrokerHarness,
  sample: Sample,
  instrument: Instrument,
  { holding, side }: Step
): readonly Combination[] {
  const listed = combinationsOf(definition.capabilities).filter(each => each.instrument === instrument && each.sides.includes(side))
  const isShortSale = holding === 'nothing'
  return listed.filter(
    ({ type, tif }) =>
      type !== 'MKT' &&
      !(isShortSale && sample.neverShort?.includes(tif) === true) &&
      ((isShortSale && type === 'LMT') || listed.find(each => each.type === type)?.tif === tif)
  )
}

/** Sizes for a position: a part of it can be sold, and a fraction cannot be borrowed. */
function sizesOf({ sizes, instrument }: Combination, { holding }: Step): readonly Size[] {
  const parts = holding === 'long' && instrument === 'STK'
  return sizes.filter(size => size === 'whole' || (size === 'fraction' && parts))
}

async function play(harness: BrokerHarness, sample: Sample, instrument: Instrument, step: Step): Promise<void> {
  for (const combination of combinationsFor(harness, sample, instrument, step)) {
    const { type, tif } = combination
    const resting = sample.resting(type, tif, step.side.startsWith('BUY') ? 'BUY' : 'SELL')
    assert.ok(resting !== null, `the sample of ${instrument} has no ${type} ${tif}`)
    for (const size of sizesOf(combination, step)) {
      const quantity = size === 'fraction' ? HALF : resting.quantity
      const what = `${instrument} ${step.side} ${type} ${tif} ${size}, ${step.holding} held`
      await restsAndEnds(harness, sample, { ...resting, side: step.side, quantity }, what)
    }
  }
}

export const SIDES: readonly ContractCase[] = [
  {
    id: 'C51',
    title: 'positions are sold, sold short and bought back as requested, with each order type that the capabilities list',
    run: async harness => {
      for (const instrument of instrumentsOf(harness)) {
        const sample = harness.sample(instrument)
        const steps = STEPS[instrument] ?? []
        if (steps.length > 0) await filled(harness, sample, sample.marketable)
        for (const step of steps) {
          await holds(harness, sample, step.holding)
          await play(harness, sample, instrument, step)
          const { marketable } = sample
          if (instrument !== 'CRYPTO') await filled(harness, sample, { ...marketable, side: step.side })
        }
        if (steps.length > 0 && instrument !== 'CRYPTO') await holds(harness, sample, 'nothing')
      }
    }
  },
  {
    id: 'C53',
    title: 'a spread that was bought is sold again, each leg on the other side',
    notOffered: ({ instruments }) => (instruments.includes('MLEG_OPT') ? null : 'the broker accepts no multi-leg orders'),
    run: async harness => {
      const sample = harness.sample('MLEG_OPT')
      const symbols = sample.marketable.legs?.map(({ symbol }) => symbol) ?? []
      const held = async () => {
        const { items } = await harness.broker.positions(sample.brokerAccountId, soon())
        return items.filter(({ symbol, quantity }) => symbols.includes(symbol) && !isZero(quantity)).length
      }
      await filled(harness, sample, sample.marketable)
      await until(async () => (await held()) === symbols.length, 'every leg is held')
      await filled(harness, sample, sample.closing)
      await until(async () => (await held()) === 0, 'nothing is held')
    }
  }
]
