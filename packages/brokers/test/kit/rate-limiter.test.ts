import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CallPriority, RateLimitExceeded, RateLimiter, type RateLimits } from '../../src/kit/rate-limiter.ts'
import { VirtualClock } from '../support/clocks.ts'

const RATES: RateLimits = { perSecond: 10, burst: 4, reservedForOrders: 2, waitingMax: 6, waitMsMax: 1_000 }
const never = new AbortController().signal

function start(rates: Partial<RateLimits> = {}) {
  const clock = new VirtualClock()
  return { clock, limiter: new RateLimiter({ ...RATES, ...rates }, clock) }
}

function tries(limiter: RateLimiter, kind: CallPriority): number {
  let taken = 0
  while (limiter.tryTake(kind)) taken += 1
  return taken
}

test('a burst passes at once, reads leave their part of it to orders', () => {
  const { limiter } = start()
  assert.equal(tries(limiter, 'read'), 2)
  assert.equal(tries(limiter, 'order'), 2)
})

test('over any time the rate is respected', async () => {
  const { clock, limiter } = start({ waitMsMax: 60_000, waitingMax: 1_000 })
  let gone = 0
  for (let index = 0; index < 54; index += 1) void limiter.take('order', never).then(() => (gone += 1))
  await clock.advance(0)
  assert.equal(gone, 4)
  await clock.advance(1_000)
  assert.equal(gone, 14)
  await clock.advance(4_000)
  assert.equal(gone, 54)
})

test('orders go before reads that have waited longer', async () => {
  const { clock, limiter } = start()
  tries(limiter, 'order')
  const went: string[] = []
  void limiter.take('read', never).then(() => went.push('read'))
  void limiter.take('order', never).then(() => went.push('order 1'))
  void limiter.take('order', never).then(() => went.push('order 2'))
  await clock.advance(1_000)
  assert.deepEqual(went, ['order 1', 'order 2', 'read'])
})

test('no call waits longer than the bound, and only so many wait', async () => {
  const { clock, limiter } = start({ waitMsMax: 250 })
  tries(limiter, 'order')
  const outcomes: string[] = []
  const ask = () =>
    limiter.take('order', never).then(
      () => outcomes.push('went'),
      (error: unknown) => outcomes.push(error instanceof RateLimitExceeded ? `spent ${error.retryAfterMs}` : String(error))
    )
  for (let index = 0; index < 4; index += 1) void ask()
  await clock.advance(0)
  assert.deepEqual(outcomes, ['spent 300', 'spent 300'])
  await clock.advance(300)
  assert.deepEqual(outcomes, ['spent 300', 'spent 300', 'went', 'went'])

  const few = start({ waitingMax: 1 })
  tries(few.limiter, 'order')
  const first = few.limiter.take('order', never)
  await assert.rejects(few.limiter.take('order', never), RateLimitExceeded)
  await few.clock.advance(200)
  await first
})

test('a pause holds everybody, refuses those it would hold too long, and ends', async () => {
  const { clock, limiter } = start({ reservedForOrders: 0 })
  limiter.pause(700)
  assert.equal(limiter.tryTake('order'), false)
  const waiting = limiter.take('order', never)
  limiter.pause(100)
  await clock.advance(699)
  assert.equal(limiter.tryTake('order'), false)
  await clock.advance(1)
  await waiting

  const refused = assert.rejects(limiter.take('order', never), RateLimitExceeded)
  limiter.pause(5_000)
  await refused
  await assert.rejects(limiter.take('read', never), (error: unknown) => error instanceof RateLimitExceeded && error.retryAfterMs >= 5_000)
})

test('after a pause there is no burst, and what is reserved for orders need not refill before a read goes', async () => {
  const { clock, limiter } = start({ perSecond: 1, burst: 100, reservedForOrders: 60, waitMsMax: 10_000 })
  limiter.pause(1_000)
  await clock.advance(1_000)
  assert.deepEqual([limiter.tryTake('read'), limiter.tryTake('read')], [true, false])
  await clock.advance(1_000)
  assert.equal(limiter.tryTake('read'), true)
  assert.equal(limiter.tryTake('order'), true)
})

test('giving up leaves the queue, closing empties it', async () => {
  const { clock, limiter } = start()
  tries(limiter, 'order')
  const giveUp = new AbortController()
  const left = assert.rejects(limiter.take('order', giveUp.signal), /enough/)
  const next = limiter.take('order', never)
  giveUp.abort(new Error('enough'))
  await left
  await clock.advance(100)
  await next
  const closed = assert.rejects(limiter.take('order', never), /closed/)
  limiter[Symbol.dispose]()
  await closed
  await assert.rejects(limiter.take('order', never), /closed/)
  assert.equal(clock.sleepers, 0)
})

test('a broker that has less left than our rate allows is respected, until its limit resets', async () => {
  const { clock, limiter } = start({ burst: 100, waitMsMax: 60_000, waitingMax: 100 })
  tries(limiter, 'order')
  await clock.advance(10_000)
  assert.equal(limiter.tryTake('order'), true)
  // Another call goes while the answer to the first is on its way.
  const number = limiter.taken
  assert.equal(limiter.tryTake('order'), true)
  limiter.applyLimits({ remaining: 3, resetInMs: 5_000 }, number)
  assert.equal(tries(limiter, 'order'), 2)
  let gone = 0
  for (let index = 0; index < 3; index += 1) void limiter.take('order', never).then(() => (gone += 1))
  await clock.advance(4_999)
  assert.equal(gone, 0)
  await clock.advance(1)
  assert.equal(gone, 3)
})

test('what the broker has left is reserved for orders like our own', async () => {
  const { clock, limiter } = start({ perSecond: 1_000, burst: 100 })
  await clock.advance(1_000)
  limiter.applyLimits({ remaining: 5, resetInMs: 30_000 }, limiter.taken)
  assert.equal(tries(limiter, 'read'), 3)
  assert.equal(tries(limiter, 'order'), 2)
  await assert.rejects(
    limiter.take('order', never),
    (error: unknown) => error instanceof RateLimitExceeded && error.retryAfterMs === 30_000
  )
})

test('a later answer says what is left, an earlier one that comes late only when it leaves less', () => {
  const { limiter } = start({ perSecond: 1_000, burst: 100 })
  for (let index = 0; index < 4; index += 1) limiter.tryTake('order')
  limiter.applyLimits({ remaining: 6, resetInMs: 30_000 }, 4)
  limiter.applyLimits({ remaining: 90, resetInMs: 30_000 }, 2)
  assert.equal(tries(limiter, 'order'), 6)
  limiter.applyLimits({ remaining: 20, resetInMs: 30_000 }, 10)
  limiter.applyLimits({ remaining: 8, resetInMs: 30_000 }, 6)
  assert.equal(tries(limiter, 'order'), 4)
})

test('an answer that leaves more lets those go who wait; one that leaves nothing for long refuses them', async () => {
  const { clock, limiter } = start({ waitMsMax: 20_000 })
  limiter.applyLimits({ remaining: 0, resetInMs: 10_000 }, 0)
  const waiting = limiter.take('order', never)
  await clock.advance(100)
  limiter.applyLimits({ remaining: 5, resetInMs: 9_000 }, 0)
  await waiting
  limiter.applyLimits({ remaining: 0, resetInMs: 10_000 }, 1)
  const refused = assert.rejects(limiter.take('order', never), RateLimitExceeded)
  limiter.applyLimits({ remaining: -3, resetInMs: 1e12 }, 1)
  await refused
  await clock.advance(3_600_000)
  assert.equal(limiter.tryTake('order'), true)
  limiter.applyLimits({ remaining: Number.NaN, resetInMs: 1_000 }, 2)
  assert.equal(limiter.tryTake('order'), true)
})

test('a broker with any limit is never called more often than it allows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        limit: fc.integer({ min: 1, max: 40 }),
        windowMs: fc.integer({ min: 50, max: 5_000 }),
        wayMs: fc.integer({ min: 0, max: 40 }),
        perSecond: fc.integer({ min: 1, max: 500 }),
        burst: fc.integer({ min: 1, max: 60 })
      }),
      async ({ limit, windowMs, wayMs, perSecond, burst }) => {
        const { clock, limiter } = start({ perSecond, burst, reservedForOrders: 0, waitingMax: 1_000, waitMsMax: 1_000_000 })
        let [window, used, over] = [0, 0, 0]
        const answer = () => {
          const now = clock.monotonicMs()
          if (Math.floor(now / windowMs) !== window) [window, used] = [Math.floor(now / windowMs), 0]
          used += 1
          if (used > limit) over += 1
          return { limit, remaining: limit - used, resetInMs: (window + 1) * windowMs - now }
        }
        const ask = async () => {
          const number = await limiter.take('order', never)
          const limits = answer()
          await clock.sleep(wayMs)
          limiter.applyLimits(limits, number)
        }
        const first = ask()
        await clock.advance(wayMs)
        await first
        const others = Array.from({ length: 3 * limit }, () => ask())
        await clock.advance((3 * limit + 4) * windowMs + (4_000 * limit) / perSecond)
        await Promise.all(others)
        assert.equal(over, 0)
      }
    ),
    { numRuns: 60 }
  )
})

test('processes that have parts of one limit make no more calls together, and a call waits for a part', async () => {
  const clock = new VirtualClock()
  const rates = { perSecond: 10, burst: 12, reservedForOrders: 0, waitingMax: 100, waitMsMax: 2_000 }
  let parts = [1 / 2, 1 / 2, 0]
  const limiters = [0, 1, 2].map(index => new RateLimiter(rates, clock, () => parts[index] ?? 0))
  const taken = () => limiters.reduce((count, limiter) => count + limiter.taken, 0)
  const drain = () => {
    for (const limiter of limiters) while (limiter.tryTake('read'));
  }
  drain()
  assert.equal(taken(), 12)
  const waiting = limiters[2]?.take('read', new AbortController().signal)
  await clock.advance(500)
  drain()
  assert.equal(taken(), 16, 'half a second of ten, by those that have a part; halves of calls are left over')
  parts = [1 / 3, 1 / 3, 1 / 3]
  await clock.advance(600)
  assert.equal(await waiting, 1)
  await clock.advance(60_000)
  drain()
  assert.equal(taken(), 17 + 12)
})
