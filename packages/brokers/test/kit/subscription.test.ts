// What a sink receives of its topic, and who may release it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay } from '@trunkline/core/domain/timestamp'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'
import { FlushScheduler, PendingTasks } from '../../src/kit/flush-scheduler.ts'
import { keyOf, leased, refusedLater, Subscription } from '../../src/kit/subscription.ts'

function listener() {
  const received: string[] = []
  const nothing = () => assert.fail('no data was published here')
  const sink: TopicSink = {
    live: () => received.push('live'),
    lost: cause => received.push(`lost ${cause}`),
    refused: message => received.push(`refused ${message}`),
    trade: nothing,
    quote: nothing,
    bar: nothing,
    depth: nothing,
    chain: nothing
  }
  return { received, sink }
}

const TOPIC: Topic = { channel: 'quotes', symbol: 'SPY' }

test('a loss is published once for each cause, and again after live', () => {
  const { received, sink } = listener()
  const subscription = new Subscription(TOPIC, sink)
  subscription.lost('lost', 'a')
  subscription.lost('lost', 'b')
  subscription.lost('token', 'c')
  subscription.live()
  subscription.live()
  assert.equal(subscription.isLive, true)
  subscription.lost('token', 'd')
  assert.equal(subscription.isLive, false)
  assert.deepEqual(received, ['lost lost', 'lost token', 'live', 'lost token'])
})

test('after a refusal or its end nothing is published', () => {
  for (const end of ['refused', 'end'] as const) {
    const { received, sink } = listener()
    const subscription: Subscription = new Subscription(TOPIC, sink)
    subscription[end]('no such symbol')
    subscription.live()
    subscription.lost('lost', 'x')
    subscription.refused('again')
    assert.equal(subscription.isLive, false)
    assert.deepEqual(received, end === 'refused' ? ['refused no such symbol'] : [])
  }
})

test('topics have different keys unless they are equal', () => {
  const topics: Topic[] = [
    { channel: 'quotes', symbol: 'SPY' },
    { channel: 'trades', symbol: 'SPY' },
    { channel: 'bars', symbol: 'SPY', interval: '1m' },
    { channel: 'bars', symbol: 'SPY', interval: '5m' },
    { channel: 'options_chain', symbol: 'SPY', expiration: parseDay('2026-12-18', 'expiration') },
    { channel: 'options_chain', symbol: 'SPY', expiration: parseDay('2026-12-19', 'expiration') }
  ]
  assert.equal(new Set(topics.map(keyOf)).size, topics.length)
  assert.equal(keyOf({ channel: 'quotes', symbol: 'SPY' }), keyOf(TOPIC))
})

test('what is wanted once cannot be wanted twice, and a lease is valid for as long as it is', () => {
  const wanted = new Map<string, string>()
  const calls: string[] = []
  const of = (name: string) =>
    leased(wanted, 'key', name, { renew: () => calls.push(`renew ${name}`), letGo: () => calls.push(`${name} gone, ${wanted.size} left`) })
  const first = of('first')
  assert.throws(() => of('second'), /streamed once/)
  first.renew()
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  first.renew()
  const third = of('third')
  first[Symbol.dispose]()
  third.renew()
  assert.deepEqual(calls, ['renew first', 'first gone, 0 left', 'renew third'])
  assert.equal(wanted.get('key'), 'third')
})

test('a refusal comes in a separate turn of the event loop, unless it was released by then', () => {
  const deferred: (() => void)[] = []
  const [refused, gone] = [listener(), listener()]
  refusedLater(refused.sink, 'no', work => deferred.push(work))
  refusedLater(gone.sink, 'no', work => deferred.push(work))[Symbol.dispose]()
  assert.deepEqual(refused.received, [])
  for (const scheduler of deferred) scheduler()
  assert.deepEqual([refused.received, gone.received], [['refused no'], []])
})

test('work is done once for all that schedule it in a turn, and not after the end', () => {
  const deferred: (() => void)[] = []
  let done = 0
  const work = new FlushScheduler(
    () => {
      done += 1
    },
    scheduler => deferred.push(scheduler)
  )
  work.schedule()
  work.schedule()
  for (const scheduler of deferred.splice(0)) scheduler()
  assert.equal(done, 1)
  work.schedule()
  work[Symbol.dispose]()
  for (const scheduler of deferred.splice(0)) scheduler()
  work.schedule()
  assert.deepEqual([done, deferred.length], [1, 0])
})

test('what is under way is waited for, and what has ended is not held', async () => {
  const works = new PendingTasks()
  const { promise, resolve } = Promise.withResolvers<void>()
  works.add(promise)
  let isOver = false
  const over = works.over().then(() => {
    isOver = true
  })
  await Promise.resolve()
  assert.equal(isOver, false)
  resolve()
  await over
  await works.over()
})
