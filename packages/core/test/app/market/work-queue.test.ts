import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONG_READS_AT_ONCE, SLICE_BARS, SMALL_READ_BARS } from '@trunkline/core/app/market/history-limits'
import { WorkQueue } from '@trunkline/core/app/market/work-queue'
import type { Bar } from '@trunkline/core/domain/market/records'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { bar, MINUTE, NOON, Stage } from '@trunkline/testkit/market-stage'
import { ScriptedMarket } from '@trunkline/testkit/scripted-broker/index'
import { SteppedClock } from './stepped-clock.ts'

const NEVER = new AbortController().signal

test('one slice runs per turn of the event loop, for any number of callers and users [S43]', async () => {
  const clock = new SteppedClock()
  const queue = new WorkQueue<string>(clock)
  const done: string[] = []
  const work = async (user: string, name: string, slices: number) => {
    for (let slice = 0; slice < slices; slice += 1) {
      await queue.take(user, NEVER)
      done.push(name)
    }
  }
  const dear = ['a', 'b', 'c', 'd'].map(name => work('dear', name, 3))
  await clock.settled()
  assert.deepEqual(done, ['a'])
  const small = work('small', 's', 1)
  for (let turn = 2; turn <= 13; turn += 1) {
    await clock.turn()
    assert.equal(done.length, turn)
  }
  await Promise.all([...dear, small])
  // At most one other slice runs before the other user's, and the slices of a user's requests alternate.
  assert.deepEqual(done, ['a', 'b', 's', 'c', 'd', 'a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'])
  // A caller that arrives when nothing runs is served at once.
  await clock.turn()
  await work('late', 'l', 1)
  assert.equal(done.at(-1), 'l')
})

test('a caller that gives up takes no slice', async () => {
  const clock = new SteppedClock()
  const queue = new WorkQueue<string>(clock)
  const [leaving, reason] = [new AbortController(), new Error('left')]
  await queue.take('a', NEVER)
  const left = assert.rejects(queue.take('a', leaving.signal), reason)
  const alone = assert.rejects(queue.take('b', leaving.signal), reason)
  let isServed = false
  const stayed = queue.take('c', NEVER).then(() => {
    isServed = true
  })
  leaving.abort(reason)
  await Promise.all([left, alone])
  await clock.turn()
  assert.ok(isServed)
  await stayed
  await assert.rejects(queue.take('a', leaving.signal), reason)
})

const MINUTES = 2_000
const FROM = NOON - MINUTES * MINUTE
const LONG = { symbol: 'SPY', interval: '4m', start: timestampOfMs(FROM), end: timestampOfMs(NOON) }
const SMALL = { ...LONG, start: timestampOfMs(NOON - (SMALL_READ_BARS / 2) * MINUTE) }

function minutes(): readonly Bar[] {
  return Array.from({ length: MINUTES }, (_, at) => bar(FROM + at * MINUTE, '5'))
}

test('histories of several connections share the turns: as many turns as slices [S43]', async () => {
  const clock = new SteppedClock(NOON)
  const workQueue = new WorkQueue<object>(clock)
  const stages = Array.from({ length: 3 }, () => {
    const stage = new Stage({}, new ScriptedMarket(NOON), clock, workQueue)
    stage.broker.history.set('SPY 1m', minutes())
    return stage
  })
  const found: number[] = []
  const read = async ({ market }: Stage) => {
    let count = 0
    // In the way that the stream reads snapshots, and that REST reads.
    for await (const page of market.past(LONG)) count += page.length
    found.push(count, (await market.firstBars(LONG, MINUTES)).bars.length)
  }
  void Promise.all(stages.map(read))
  await clock.settled()
  let count = 1
  for (; found.length < 6 && count < 10_000; count += 1) await clock.turn()
  assert.deepEqual(found, Array(6).fill(MINUTES / 4))
  assert.ok(count >= (6 * MINUTES) / SLICE_BARS, `${count} turns`)
})

test('long reads of a connection wait for each other, and a small one does not wait for them [S43]', async () => {
  const stage = new Stage()
  stage.broker.history.set('SPY 1m', minutes())
  const gate = Promise.withResolvers<void>()
  const isLong = () => stage.broker.requests.at(-1)?.fromMs === FROM
  stage.broker.hold = () => (isLong() ? gate.promise : Promise.resolve())
  const long = Array.from({ length: 5 }, () => stage.market.firstBars(LONG, 10))
  await stage.clock.settled()
  assert.equal(stage.broker.requests.length, LONG_READS_AT_ONCE)
  const small = await stage.market.firstBars(SMALL, 10)
  assert.equal(small.bars.length, 10)
  assert.equal(stage.broker.requests.length, LONG_READS_AT_ONCE + 1)
  gate.resolve()
  for (const { bars, next } of await Promise.all(long)) assert.deepEqual([bars.length, next?.startMs], [10, FROM + 40 * MINUTE])
})

test('when a connection ends, callers waiting for its past bars get an answer', async () => {
  const stage = new Stage()
  stage.broker.history.set('SPY 1m', minutes())
  stage.broker.hold = () => new Promise(() => undefined)
  const waiting = Array.from({ length: LONG_READS_AT_ONCE + 1 }, () =>
    assert.rejects(stage.market.firstBars(LONG, 10), { code: 'broker_unavailable' })
  )
  await stage.clock.settled()
  stage.market.end()
  await stage.clock.advance(20_000)
  await Promise.all(waiting)
})
