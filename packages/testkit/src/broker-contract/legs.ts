/** Cases about multi-leg option orders: one order, whose legs keep their executions. */

import assert from 'node:assert/strict'
import { compare, sum, times } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { accepted, byOrderId, type ContractCase, filledOf, Listener, made, newOrder, reaches, restingLimit, soon } from './contract-case.ts'

const units: ContractCase['notOffered'] = ({ instruments }) =>
  instruments.includes('MLEG_OPT') ? null : 'the broker accepts no multi-leg orders'

const sides = ({ legs }: Pick<OrderTicket, 'legs'>) => legs?.map(({ symbol, side, ratio }) => [symbol, side, ratio])

/** Each leg is filled by the quantity times its ratio, in distinct executions. */
function isWhole(report: OrderReport, ticket: OrderTicket): void {
  const unitsFilled = filledOf(report)
  assert.ok(ticket.quantity !== null && compare(unitsFilled, ticket.quantity) === 0)
  assert.deepEqual(sides(report), sides(ticket))
  const legFills = (report.legs ?? []).flatMap(({ fills }) => fills)
  for (const { fills, ratio, symbol } of report.legs ?? [])
    assert.equal(compare(sum(fills.map(({ quantity }) => quantity)), times(unitsFilled, ratio)), 0, symbol)
  const ids = [...(report.fills ?? []), ...legFills].map(({ fillId }) => fillId)
  assert.equal(new Set(ids).size, ids.length)
}

export const LEGS: readonly ContractCase[] = [
  {
    id: 'C84',
    title: 'a multi-leg order fills as a unit, and each leg reports its own executions, on the stream too',
    notOffered: units,
    run: async harness => {
      const { broker } = harness
      const sample = harness.sample('MLEG_OPT')
      await using listener = await Listener.live(broker)
      const order = accepted(await broker.submit(newOrder(sample, sample.marketable), soon()))
      assert.deepEqual([order.symbol, order.instrument, order.side], [null, 'MLEG_OPT', sample.marketable.side])
      const filled = await reaches(broker, order, 'filled')
      isWhole(filled, sample.marketable)
      await listener.agrees(broker, order)
      if (filled.fills !== null) assert.deepEqual(listener.reports(order.brokerOrderId).at(-1)?.legs, filled.legs)
    }
  },
  {
    id: 'C86',
    title: 'an open multi-leg order is found with its legs, replaced at another net price, and cancelled',
    notOffered: ({ instruments, replace }) =>
      instruments.includes('MLEG_OPT') && replace === 'native' ? null : 'the broker replaces no orders of several legs',
    run: async harness => {
      const { broker } = harness
      const sample = harness.sample('MLEG_OPT')
      const ticket = restingLimit(sample)
      const old = accepted(await broker.submit(newOrder(sample, ticket), soon()))
      assert.deepEqual(sides(await byOrderId(broker, old)), sides(ticket))
      const { brokerAccountId, brokerOrderId } = old
      const changed = { ...ticket, limitPrice: sample.otherLimit }
      const { brokerClOrdId } = newOrder(sample, changed)
      const replaced = made(await broker.replace({ brokerAccountId, brokerOrderId, brokerClOrdId, ticket: changed }, soon()))
      assert.ok(replaced.limitPrice !== null && compare(replaced.limitPrice, sample.otherLimit) === 0)
      assert.deepEqual(sides(replaced), sides(ticket))
      if (broker.capabilities.replacedOrderId === 'same') assert.equal(replaced.brokerOrderId, brokerOrderId)
      else {
        assert.equal(replaced.replacesBrokerOrderId, brokerOrderId)
        await reaches(broker, old, 'replaced')
      }
      accepted(await broker.cancel({ brokerAccountId, brokerOrderId: replaced.brokerOrderId }, soon()))
      await reaches(broker, replaced, 'cancelled')
    }
  }
]
