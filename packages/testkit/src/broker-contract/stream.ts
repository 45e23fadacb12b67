/** Cases about the account stream: no invented events, no silent loss. */

import assert from 'node:assert/strict'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '../until.ts'
import {
  accepted,
  byOrderId,
  type ContractCase,
  firstSample,
  Listener,
  newOrder,
  reaches,
  recently,
  restingLimit,
  soon
} from './contract-case.ts'
import type { BrokerHarness, InjectedStreamFault } from './harness.ts'

/** A connection opened during the silence may have lost its first messages, and is given up first. */
const BEGUN_WHILE_MUTE_MS = 60_000
const streams: ContractCase['notOffered'] = ({ accountStream }) => (accountStream ? null : 'the broker has no account stream')

async function rested(harness: BrokerHarness) {
  const sample = firstSample(harness)
  return accepted(await harness.broker.submit(newOrder(sample, restingLimit(sample)), soon()))
}

async function bought(harness: BrokerHarness) {
  const sample = firstSample(harness)
  return accepted(await harness.broker.submit(newOrder(sample, sample.marketable), soon()))
}

/** After any fault, each order's last state on the stream is right, or a gap was reported after it. */
async function correctOrReported(harness: BrokerHarness, fault: InjectedStreamFault): Promise<void> {
  const { broker, venue } = harness
  await using listener = await Listener.live(broker)
  await venue.stream(fault)
  const orders = [await bought(harness), await rested(harness), await bought(harness)]
  const [, resting] = orders
  assert.ok(resting !== undefined)
  accepted(await broker.cancel(resting, soon()))
  await reaches(broker, resting, 'cancelled')
  await venue.stream('normal')
  const last = await bought(harness)
  await listener.agrees(broker, last)
  if (listener.count('gap') > 0) return
  for (const order of orders) await listener.agrees(broker, order)
}

export const STREAM: readonly ContractCase[] = [
  {
    id: 'C140',
    title: 'the stream begins with live, and publishes no earlier events',
    notOffered: streams,
    run: async harness => {
      const before = await rested(harness)
      await using listener = await Listener.live(harness.broker)
      const order = await rested(harness)
      await listener.agrees(harness.broker, order)
      assert.equal(listener.events[0]?.type, 'live')
      assert.deepEqual(listener.reports(before.brokerOrderId), [])
      assert.equal(listener.count('gap'), 0)
    }
  },
  {
    id: 'C142',
    title: 'after a fill, orders, positions and balances are published in the form of the reads',
    notOffered: streams,
    run: async harness => {
      const { broker } = harness
      const { brokerAccountId, symbol } = firstSample(harness)
      await using listener = await Listener.live(broker)
      const order = await bought(harness)
      const filled = await reaches(broker, order, 'filled')
      await listener.agrees(broker, order)
      if (filled.fills !== null) {
        const reported = listener.reports(order.brokerOrderId).at(-1)
        assert.deepEqual(
          reported?.fills?.map(fill => fill.fillId),
          filled.fills.map(fill => fill.fillId)
        )
      }
      await listener.receives(
        event =>
          event.type === 'positions' &&
          event.brokerAccountId === brokerAccountId &&
          event.positions.items.some(item => item.symbol === symbol),
        'the position'
      )
      await listener.receives(event => event.type === 'balances' && event.brokerAccountId === brokerAccountId, 'the balance')
    }
  },
  {
    id: 'C144',
    title: 'an order placed elsewhere appears',
    notOffered: streams,
    run: async harness => {
      await using listener = await Listener.live(harness.broker)
      const sample = firstSample(harness)
      const id = await harness.venue.placeElsewhere(sample.brokerAccountId, restingLimit(sample))
      await listener.receives(event => event.type === 'order' && event.report.brokerOrderId === id, 'the order placed elsewhere')
    }
  },
  {
    id: 'C146',
    title: 'duplicate messages change nothing',
    notOffered: streams,
    run: async harness => await correctOrReported(harness, 'duplicate')
  },
  {
    id: 'C148',
    title: 'messages out of order change nothing, or are reported as a gap',
    notOffered: streams,
    run: async harness => await correctOrReported(harness, 'reorder')
  },
  {
    id: 'C150',
    title: 'a missing message is a gap, followed by live',
    notOffered: capabilities =>
      streams(capabilities) ?? (capabilities.accountStreamNumbered ? null : 'its account stream does not number its messages'),
    run: async harness => {
      await using listener = await Listener.live(harness.broker)
      await harness.venue.stream('lose')
      await rested(harness)
      await until(() => listener.count('gap') === 1 && listener.count('live') === 2, 'a gap, and live again', harness.patienceMs)
      const order = await rested(harness)
      await listener.agrees(harness.broker, order)
    }
  },
  {
    id: 'C151',
    title: 'the next snapshot contains what an unnumbered stream left out',
    notOffered: capabilities =>
      streams(capabilities) ?? (capabilities.accountStreamNumbered ? 'its account stream reports what is missing' : null),
    run: async harness => {
      await using listener = await Listener.live(harness.broker)
      await harness.venue.stream('lose')
      const order = await rested(harness)
      await harness.venue.stream('normal')
      const { items } = await harness.broker.orders(order.brokerAccountId, recently(), soon())
      assert.equal(items.find(item => item.brokerOrderId === order.brokerOrderId)?.status, (await byOrderId(harness.broker, order)).status)
      await listener.agrees(harness.broker, await bought(harness))
    }
  },
  {
    id: 'C152',
    title: 'a silent stream is a gap, and live when it sends again',
    notOffered: streams,
    run: async harness => {
      await using listener = await Listener.live(harness.broker)
      await harness.venue.stream('mute')
      await until(() => listener.count('gap') === 1, 'the silence is noticed', harness.patienceMs)
      await harness.venue.stream('normal')
      await until(() => listener.count('live') === 2, 'live again', BEGUN_WHILE_MUTE_MS)
      await listener.agrees(harness.broker, await rested(harness))
    }
  },
  {
    id: 'C154',
    title: 'a dropped socket is a gap, followed by live, as often as it happens',
    notOffered: streams,
    run: async harness => {
      await using listener = await Listener.live(harness.broker)
      for (const round of [1, 2]) {
        await harness.venue.stream('drop')
        await until(
          () => listener.count('gap') === round && listener.count('live') === round + 1,
          `gap and live, round ${round}`,
          harness.patienceMs
        )
      }
      await listener.agrees(harness.broker, await rested(harness))
    }
  },
  {
    id: 'C156',
    title: 'an unreadable message is a gap, followed by live',
    notOffered: streams,
    run: async harness => {
      await using listener = await Listener.live(harness.broker)
      await harness.venue.stream('garble')
      await until(() => listener.count('gap') === 1 && listener.count('live') === 2, 'a gap, and live again', harness.patienceMs)
      await listener.agrees(harness.broker, await rested(harness))
    }
  },
  {
    id: 'C158',
    title: 'when the login ends, the stream ends with credentials_rejected',
    notOffered: streams,
    run: async harness => {
      await using listener = await Listener.live(harness.broker)
      await harness.venue.revoke()
      const error = await listener.ended
      assert.ok(error instanceof BrokerFault && error.kind === 'credentials_rejected', String(error))
    }
  },
  {
    id: 'C160',
    title: 'the stream ends silently when its reader stops or the login is closed',
    notOffered: streams,
    run: async harness => {
      const stopped = await Listener.live(harness.broker)
      await stopped[Symbol.asyncDispose]()
      assert.equal(await stopped.ended, null)
      const closed = await Listener.live(harness.broker)
      await harness.broker[Symbol.asyncDispose]()
      assert.equal(await closed.ended, null)
      assert.equal(closed.count('gap'), 0)
    }
  }
]
