/** Cases about lists of which a record cannot be read. */

import assert from 'node:assert/strict'
import { tradingDay } from '@trunkline/core/domain/timestamp'
import type { Broker } from '@trunkline/core/ports/broker'
import { until } from '../until.ts'
import { accepted, type ContractCase, firstSample, instrumentsOf, newOrder, recently, restingLimit, soon } from './contract-case.ts'
import type { BrokerHarness } from './harness.ts'
import { leavesOf, TamperingProxy } from './tampering-proxy.ts'

/** A list as ids of its records, and whether it says that it is partial. */
interface List {
  readonly ids: readonly string[]
  readonly isPartial: boolean
}

/** A list with several records. `target` is in the text of the record that is spoilt, and `id` is its id. */
interface SpoiltList {
  readonly name: string
  readonly target: string
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
    { name: 'positions', target: `"${symbol}"`, id: symbol, read: positions },
    {
      name: 'orders',
      target: brokerOrderId,
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
    lists.push({ name: 'transactions', target: `"${symbol}"`, id, read: trades })
  }
  await until(async () => (await positions(broker)).ids.length > others.length, 'what was bought is held')
  return lists
}

/** The answer with the record that contains `target` spoilt, in the outermost list that has it among others. */
function spoilt(answer: unknown, target: string, spoil: (record: unknown) => unknown): unknown {
  if (Array.isArray(answer)) {
    const at = answer.findIndex(record => JSON.stringify(record).includes(target))
    return at < 0 || answer.length < 2 ? answer : answer.with(at, spoil(answer[at]))
  }
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, spoilt(value, target, spoil)]))
}

const WAYS: readonly (readonly [string, (record: unknown) => unknown])[] = [
  ['nothing', () => null],
  ['a number', () => 7],
  ['objects for values', record => leavesOf(record, () => ({}))],
  ['no fields', () => ({})]
]

export const PARTIAL: readonly ContractCase[] = [
  {
    id: 'C208',
    title: 'a record that cannot be read is left out of its list, which says so, and all others are listed [S77]',
    run: async harness => {
      const lists = await listsOf(harness)
      await using between = await TamperingProxy.to(harness.address)
      const broker = harness.openAt(between.url)
      for (const { name, target, id, read } of lists) {
        const whole = await read(broker)
        assert.equal(whole.isPartial, false, name)
        assert.ok(whole.ids.includes(id) && whole.ids.length > 1, `${name}: ${whole.ids.join(', ')}`)
        for (const [way, spoil] of WAYS) {
          between.distortion = { kind: 'json', of: answer => spoilt(answer, target, spoil) }
          const partial = await read(broker)
          between.distortion = { kind: 'none' }
          const rest = whole.ids.toSpliced(whole.ids.indexOf(id), 1)
          assert.deepEqual(partial, { ids: rest, isPartial: true }, `${name}: ${way}`)
        }
        assert.deepEqual(await read(broker), whole, name)
      }
    }
  }
]
