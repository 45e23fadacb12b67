/** Negative controls: brokers that are wrong in a known way, each of which the contract must catch. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { timestampOf } from '@trunkline/core/domain/timestamp'
import { type Broker, BrokerFault } from '@trunkline/core/ports/broker'
import { type BrokerHarness, CONTRACT_CASES } from '@trunkline/testkit/broker-contract/index'
import { openSandbox } from './harness.ts'
import { SandboxProcess } from './sandbox-process.ts'

const sandbox = SandboxProcess.start()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

const now = () => timestampOf(Temporal.Now.instant())

interface Wrong {
  readonly what: string
  /** Cases that must fail. */
  readonly caught: readonly string[]
  readonly spoil: (right: Broker) => Partial<Broker>
}

const WRONGS: readonly Wrong[] = [
  {
    what: 'sends an order again when its outcome is unknown',
    caught: ['C60', 'C62', 'C66', 'C68'],
    spoil: right => ({
      submit: async (order, signal) => {
        const first = await right.submit(order, signal)
        return first.kind === 'unknown' ? await right.submit(order, signal) : first
      }
    })
  },
  {
    what: 'calls unknown refused',
    caught: ['C60', 'C64', 'C66', 'C68', 'C80'],
    spoil: right => ({
      submit: async (order, signal) => {
        const outcome = await right.submit(order, signal)
        return outcome.kind === 'unknown' ? { kind: 'refused', message: 'no', rejectCode: null, brokerStatus: null } : outcome
      }
    })
  },
  {
    what: 'calls unknown not sent',
    caught: ['C60', 'C96', 'C104'],
    spoil: right => ({
      submit: async (order, signal) => notSent(await right.submit(order, signal)),
      cancel: async (request, signal) => notSent(await right.cancel(request, signal)),
      replace: async (request, signal) => notSent(await right.replace(request, signal))
    })
  },
  {
    what: 'gives an empty list for one that failed',
    caught: ['C46', 'C112', 'C114'],
    spoil: right => ({
      orders: (...given) => right.orders(...given).catch(() => ({ items: [], asOf: now() })),
      positions: (...given) => right.positions(...given).catch(() => ({ items: [], asOf: now() })),
      balances: (...given) => right.balances(...given).catch(() => ({ items: [], asOf: now() }))
    })
  },
  {
    what: 'leaves a record out without a word',
    caught: ['C208'],
    spoil: right => ({ positions: async (...given) => ({ ...(await right.positions(...given)), leftOut: [] }) })
  },
  {
    what: 'gives up a list for one record',
    caught: ['C208'],
    spoil: right => ({
      async orders(...given) {
        const orders = await right.orders(...given)
        if (orders.leftOut === undefined) return orders
        throw new BrokerFault('malformed', 'one of them cannot be read')
      }
    })
  },
  {
    what: 'calls an order absent when the look-up failed',
    caught: ['C120'],
    spoil: right => ({ findOrder: (...given) => right.findOrder(...given).catch(() => ({ found: null, asOf: now() })) })
  },
  {
    what: 'breaks the login at the first passing failure',
    caught: ['C180', 'C182', 'C190'],
    spoil: right => ({
      accounts: signal =>
        right.accounts(signal).catch((cause: unknown) => {
          throw new BrokerFault('credentials_rejected', 'broken', { cause })
        })
    })
  },
  {
    what: 'keeps gaps to itself',
    caught: ['C150', 'C152', 'C154', 'C156'],
    spoil: right => ({
      async *events(signal) {
        for await (const event of right.events(signal)) if (event.type !== 'gap') yield event
      }
    })
  },
  {
    what: 'publishes orders that were there before',
    caught: ['C140'],
    spoil: right => ({
      async *events(signal) {
        for await (const event of right.events(signal)) {
          yield event
          if (event.type !== 'live') continue
          for (const { brokerAccountId } of (await right.accounts(signal)).items)
            for (const report of (await right.orders(brokerAccountId, now(), signal)).items) yield { type: 'order', report }
        }
      }
    })
  }
]

for (const { what, caught, spoil } of WRONGS)
  test(`the contract catches a broker that ${what}`, async () => {
    const results = await Promise.all(caught.map(id => fails(id, spoil)))
    assert.deepEqual(
      caught.filter((_, index) => results[index] === false),
      [],
      'cases that did not notice'
    )
  })

let index: Promise<unknown> = Promise.resolve()

/** One case at a time: they share the sandbox's fault list. */
function fails(id: string, spoil: (right: Broker) => Partial<Broker>): Promise<boolean> {
  const run = index.then(async () => {
    const contractCase = CONTRACT_CASES.find(each => each.id === id)
    assert.ok(contractCase !== undefined, id)
    await using harness = await openSandbox(await sandbox)
    return await contractCase.run(spoiled(harness, spoil)).then(
      () => false,
      () => true
    )
  })
  index = run.catch(() => undefined)
  return run
}

function spoiled(harness: BrokerHarness, spoil: (right: Broker) => Partial<Broker>): BrokerHarness {
  const wrong = (right: Broker): Broker => {
    const changes = spoil(right)
    return new Proxy(right, {
      get(target, key) {
        const changed: unknown = Reflect.get(changes, key)
        const value: unknown = changed ?? Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(changed === undefined ? target : changes) : value
      }
    })
  }
  const broker = wrong(harness.broker)
  return { ...harness, patienceMs: 1_500, broker, open: holder => wrong(harness.open(holder)) }
}

function notSent<T extends { readonly kind: string }>(outcome: T): T | { readonly kind: 'not_sent'; readonly cause: null } {
  return outcome.kind === 'unknown' ? { kind: 'not_sent', cause: null } : outcome
}
