/** Cases about lists of which a record cannot be read. */

import assert from 'node:assert/strict'
import { tradingDay } from '@trunkline/core/domain/timestamp'
import type { Broker } from '@trunkline/core/ports/broker'
import { until } from '../until.ts'
import { accepted, type ContractCase, firstSample, instrumentsOf, newOrder, recently, restingLimit, soon } from './contract-case.ts'
import type { BrokerHarness, VenueOperation } from './harness.ts'

/** A list as ids of its records, and whether it says that it is partial. */
interface List {
  readonly ids: readonly string[]
  readonly isPartial: boolean
}

/** A list with several records. `record` is in the text of the one that is spoilt, and `id` is its id. */
interface SpoiltList {
  readonly on: VenueOperation
  readonly record: string
  readonly id: string
  readonly read: (broker: Broker) => Promise<List>
}

function listOf<T>(
  { items, leftOut }: { readonly items: readonly T[]; readonly leftOut?: readonly unknown[] },
  idOf: (item: T) => string
): List {
  return { ids: items.map(idOf).toSorted(), isPartial: leftOut !== undefined && leftOut.length > 0 }
}

/** Lists of several records at this broker, after some trades and orders. */
async function listsOf(harness: BrokerHarness): Promise<readonly SpoiltList[]> {
  const { broker } = harness
  const sample = firstSample(harness)
  const { brokerAccountId, symbol } = sample
  const others = instrumentsOf(harness)
    .map(harness.sample)
    .filter(other => other.brokerAccountId === brokerAccountId && other !== sample)
  const { entryTime } = accepted(await broker.submit(newOrder(sample, sample.marketable), soon()))
  for (const other of others) accepted(await broker.submit(newOrder(other, other.marketable), soon()))
  const { brokerOrderId } = accepted(await broker.submit(newOrder(sample, restingLimit(sample)), soon()))
  accepted(await broker.submit(newOrder(sample, restingLimit(sample)), soon()))
  const today = tradingDay(entryTime)
  const positions = async (from: Broker) => listOf(await from.positions(brokerAccountId, soon()), position => position.symbol)
  const lists: SpoiltList[] = [
    { on: 'positions', record: `"${symbol}"`, id: symbol, read: positions },
    {
      on: 'orders',
      record: brokerOrderId,
      id: brokerOrderId,
      read: async from => listOf(await from.orders(brokerAccountId, recently(), soon()), order => order.brokerOrderId)
    }
  ]
  if (broker.capabilities.transactions) {
    const trades = async (from: Broker) =>
      listOf(await from.transactions(brokerAccountId, today, today, soon()), item => `${item.symbol} ${item.type} ${item.quantity}`)
    await until(async () => (await trades(broker)).ids.length > others.length, 'the trades are listed')
    const id = (await trades(broker)).ids.find(each => each.startsWith(`${symbol} `))
    assert.ok(id !== undefined)
    lists.push({ on: 'transactions', record: `"${symbol}"`, id, read: trades })
  }
  await until(async () => (await positions(broker)).ids.length > others.length, 'what was bought is held')
  return lists
}

/** What becomes of the record; absent: its values are objects. */
const WAYS: readonly unknown[] = [undefined, 7, 'a text', {}]

export const PARTIAL: readonly ContractCase[] = [
  {
    id: 'C208',
    title: 'a record that cannot be read is left out of its list, which says so, and all others are listed [S77]',
    run: async harness => {
      const { broker, venue } = harness
      for (const { on, record, id, read } of await listsOf(harness)) {
        const whole = await read(broker)
        assert.equal(whole.isPartial, false, on)
        assert.ok(whole.ids.includes(id) && whole.ids.length > 1, `${on}: ${whole.ids.join(', ')}`)
        const rest = whole.ids.toSpliced(whole.ids.indexOf(id), 1)
        for (const as of WAYS) {
          await venue.injectFault(on, { kind: 'spoil', record, ...(as === undefined ? {} : { as }) })
          assert.deepEqual(await read(broker), { ids: rest, isPartial: true }, `${on}: ${JSON.stringify(as)}`)
          await venue.clearFaults()
        }
        assert.deepEqual(await read(broker), whole, on)
      }
    }
  }
]
