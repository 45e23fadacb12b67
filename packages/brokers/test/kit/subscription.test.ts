// What a sink is told of its topic, and who may let go of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay } from '@trunkline/core/domain/timestamp'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'
import { keyOf, leased, refusedLater, Subscription } from '../../src/kit/subscription.ts'
import { EndOfTurn, UnderWay } from '../../src/kit/turn.ts'

function listener() {
  const told: string[] = []
  const nothing = () => assert.fail('no data was told here')
  const sink: TopicSink = {
    live: () => told.push('live'),
    lost: cause => told.push(`lost ${cause}`),
    refused: message => told.push(`refused ${message}`),
    trade: nothing,
    quote: nothing,
    bar: nothing,
    depth: nothing,
    chain: nothing
  }
  return { told, sink }
}

const TOPIC: Topic = { channel: 'quotes', symbol: 'SPY' }

test('a loss is told once for each cause, and anew after live', () => {
  const { told, sink } = listener()
  const subscription = new Subscription(TOPIC, sink)
  subscription.lost('lost', 'a')
  subscription.lost('lost', 'b')
  subscription.lost('token', 'c')
  subscription.live()
  subscription.live()
  assert.equal(subscription.isLive, true)
  subscription.lost('token', 'd')
  assert.equal(subscription.isLive, false)
  assert.deepEqual(told, ['lost lost', 'lost token', 'live', 'lost token'])
})

test('after a refusal or its end nothing is told', () => {
  for (const end of ['refused', 'end'] as const) {
    const { told, sink } = listener()
    const subscription: Subscription = new Subscription(TOPIC, sink)
    subscription[end]('no such symbol')
    subscription.live()
    subscription.lost('lost', 'x')
    subscription.refused('again')
    assert.equal(subscription.isLive, false)
    assert.deepEqual(told, end === 'refused' ? ['refused no such symbol'] : [])
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

test('what is wanted once cannot be wanted twice, and a lease speaks for as long as it is', () => {
  const wanted = new Map<string, string>()
  const said: string[] = []
  const of = (name: string) =>
    leased(wanted, 'key', name, { renew: () => said.push(`renew ${name}`), letGo: () => said.push(`${name} gone, ${wanted.size} left`) })
  const first = of('first')
  assert.throws(() => of('second'), /streamed once/)
  first.renew()
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  first.renew()
  const third = of('third')
  first[Symbol.dispose]()
  third.renew()
  assert.deepEqual(said, ['renew first', 'first gone, 0 left', 'renew third'])
  assert.equal(wanted.get('key'), 'third')
})

test('a refusal comes in a turn of its own, unless it was let go of by then', () => {
  const turns: (() => void)[] = []
  const [kept, gone] = [listener(), listener()]
  refusedLater(kept.sink, 'no', work => turns.push(work))
  refusedLater(gone.sink, 'no', work => turns.push(work))[Symbol.dispose]()
  assert.deepEqual(kept.told, [])
  for (const turn of turns) turn()
  assert.deepEqual([kept.told, gone.told], [['refused no'], []])
})

test('work is done once for all who ask in a turn, and not after the end', () => {
  const turns: (() => void)[] = []
  let done = 0
  const work = new EndOfTurn(
    () => {
      done += 1
    },
    turn => turns.push(turn)
  )
  work.ask()
  work.ask()
  for (const turn of turns.splice(0)) turn()
  assert.equal(done, 1)
  work.ask()
  work[Symbol.dispose]()
  for (const turn of turns.splice(0)) turn()
  work.ask()
  assert.deepEqual([done, turns.length], [1, 0])
})

test('what is under way is waited for, and what has ended is not held', async () => {
  const works = new UnderWay()
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
