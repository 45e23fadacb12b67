/** Cases about answers that no broker should give. */

import assert from 'node:assert/strict'
import { type Broker, BrokerFault } from '@trunkline/core/ports/broker'
import { accepted, type ContractCase, firstSample, newOrder, recently, restingLimit, soon } from './contract-case.ts'
import type { BrokerHarness, Sample } from './harness.ts'
import { type Distortion, TamperingProxy } from './tampering-proxy.ts'

type Read = (broker: Broker) => Promise<unknown>

/** Every list with records, and the look-up of an existing order. */
async function readsOf(harness: BrokerHarness, sample: Sample): Promise<ReadonlyMap<string, Read>> {
  const { brokerAccountId } = sample
  accepted(await harness.broker.submit(newOrder(sample, sample.marketable), soon()))
  const { brokerOrderId } = accepted(await harness.broker.submit(newOrder(sample, restingLimit(sample)), soon()))
  return new Map<string, Read>([
    ['accounts', broker => broker.accounts(soon())],
    ['balances', broker => broker.balances(brokerAccountId, soon())],
    ['positions', broker => broker.positions(brokerAccountId, soon())],
    ['orders', broker => broker.orders(brokerAccountId, recently(), soon())],
    ['find', broker => broker.findOrder({ by: 'brokerOrderId', brokerAccountId, brokerOrderId }, soon())]
  ])
}

/** A fault of the broker, never of the user: none of these answers is about consent. */
function isTyped(cause: unknown): true {
  assert.ok(
    cause instanceof BrokerFault,
    `not a fault of the broker: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`
  )
  assert.notEqual(cause.kind, 'credentials_rejected')
  return true
}

/** The answer with `change` applied to every value; lists and objects stay. */
function leavesOf(answer: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(answer)) return answer.map(item => leavesOf(item, change))
  if (typeof answer === 'object' && answer !== null)
    return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, leavesOf(value, change)]))
  return change(answer)
}

const USELESS: readonly (readonly [string, Distortion])[] = [
  ['many megabytes', { kind: 'huge' }],
  ['a compression bomb', { kind: 'bomb' }],
  ['a page', { kind: 'html' }],
  ['null', { kind: 'json', of: () => null }],
  ['a number', { kind: 'json', of: () => 7 }],
  ['a text', { kind: 'json', of: () => 'orders' }],
  ['objects for values', { kind: 'json', of: answer => leavesOf(answer, () => ({})) }],
  ['lists for values', { kind: 'json', of: answer => leavesOf(answer, () => [[]]) }]
]

export const HOSTILE: readonly ContractCase[] = [
  {
    id: 'C200',
    title: 'a read answered with megabytes, a compression bomb, a page or other types is a typed fault, and the adapter goes on [S77]',
    run: async harness => {
      const reads = await readsOf(harness, firstSample(harness))
      await using between = await TamperingProxy.to(harness.address)
      const broker = harness.openAt(between.url)
      for (const [answer, distortion] of USELESS) {
        between.distortion = distortion
        for (const [name, read] of reads) await assert.rejects(read(broker), isTyped, `${name}: ${answer}`)
        between.distortion = { kind: 'none' }
        assert.ok((await broker.accounts(soon())).items.length > 0, `after ${answer}`)
      }
      assert.equal(between.swallowed, 0, 'no answer of many megabytes was read to its end')
    }
  },
  {
    id: 'C202',
    title: 'an unknown enum value fails the read or leaves out its record, and has no other effect [S77]',
    run: async harness => {
      const reads = await readsOf(harness, firstSample(harness))
      await using between = await TamperingProxy.to(harness.address)
      const broker = harness.openAt(between.url)
      for (const [name, read] of reads) {
        between.distortion = {
          kind: 'json',
          of: answer => leavesOf(answer, leaf => (typeof leaf === 'string' ? `${leaf}_unheard_of` : leaf))
        }
        await read(broker).then(
          () => undefined,
          (cause: unknown) => isTyped(cause)
        )
        between.distortion = { kind: 'none' }
        assert.ok((await broker.accounts(soon())).items.length > 0, `after ${name}`)
      }
    }
  },
  {
    id: 'C204',
    title: 'a list whose pages lead to themselves ends in a typed fault, and the adapter goes on [S77]',
    run: async harness => {
      const reads = await readsOf(harness, firstSample(harness))
      await using between = await TamperingProxy.to(harness.address)
      const broker = harness.openAt(between.url)
      between.distortion = { kind: 'json', of: answer => harness.endless(answer) }
      await assert.rejects(async () => reads.get('orders')?.(broker), isTyped)
      between.distortion = { kind: 'none' }
      assert.ok((await broker.accounts(soon())).items.length > 0)
    }
  },
  {
    id: 'C206',
    title: 'an order answered with megabytes, a compression bomb, a page or other types is unknown, and never sent again [S77]',
    run: async harness => {
      await using between = await TamperingProxy.to(harness.address)
      const broker = harness.openAt(between.url)
      const sample = firstSample(harness)
      await broker.accounts(soon())
      for (const [answer, distortion] of USELESS) {
        const order = newOrder(sample, restingLimit(sample))
        between.distortion = distortion
        const outcome = await broker.submit(order, soon())
        between.distortion = { kind: 'none' }
        const { received } = await harness.venue.orderCounts(order.brokerClOrdId)
        assert.ok(received <= 1, answer)
        // A read before the sending may get such an answer too; then nothing was sent.
        assert.equal(outcome.kind, received === 0 ? 'not_sent' : 'unknown', answer)
      }
      assert.equal(between.swallowed, 0)
      assert.ok((await broker.accounts(soon())).items.length > 0)
    }
  }
]
