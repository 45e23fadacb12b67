import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BudgetKind, type BudgetRates, BudgetSpent, RateBudget } from '../../src/kit/budget.ts'
import { VirtualClock } from '../support/clocks.ts'

const RATES: BudgetRates = { perSecond: 10, burst: 4, keptForOrders: 2, waitingMax: 6, waitMsMax: 1_000 }
const never = new AbortController().signal

function start(rates: Partial<BudgetRates> = {}) {
  const clock = new VirtualClock()
  return { clock, budget: new RateBudget({ ...RATES, ...rates }, clock) }
}

function tries(budget: RateBudget, kind: BudgetKind): number {
  let taken = 0
  while (budget.tryTake(kind)) taken += 1
  return taken
}

test('a burst passes at once, reads leave their part of it to orders', () => {
  const { budget } = start()
  assert.equal(tries(budget, 'read'), 2)
  assert.equal(tries(budget, 'order'), 2)
})

test('over any time the rate is kept', async () => {
  const { clock, budget } = start({ waitMsMax: 60_000, waitingMax: 1_000 })
  let gone = 0
  for (let index = 0; index < 54; index += 1) void budget.take('order', never).then(() => (gone += 1))
  await clock.advance(0)
  assert.equal(gone, 4)
  await clock.advance(1_000)
  assert.equal(gone, 14)
  await clock.advance(4_000)
  assert.equal(gone, 54)
})

test('orders go before reads that have waited longer', async () => {
  const { clock, budget } = start()
  tries(budget, 'order')
  const went: string[] = []
  void budget.take('read', never).then(() => went.push('read'))
  void budget.take('order', never).then(() => went.push('order 1'))
  void budget.take('order', never).then(() => went.push('order 2'))
  await clock.advance(1_000)
  assert.deepEqual(went, ['order 1', 'order 2', 'read'])
})

test('nobody waits longer than the bound, and only so many wait', async () => {
  const { clock, budget } = start({ waitMsMax: 250 })
  tries(budget, 'order')
  const outcomes: string[] = []
  const ask = () =>
    budget.take('order', never).then(
      () => outcomes.push('went'),
      (error: unknown) => outcomes.push(error instanceof BudgetSpent ? `spent ${error.retryAfterMs}` : String(error))
    )
  for (let index = 0; index < 4; index += 1) void ask()
  await clock.advance(0)
  assert.deepEqual(outcomes, ['spent 300', 'spent 300'])
  await clock.advance(300)
  assert.deepEqual(outcomes, ['spent 300', 'spent 300', 'went', 'went'])

  const few = start({ waitingMax: 1 })
  tries(few.budget, 'order')
  const first = few.budget.take('order', never)
  await assert.rejects(few.budget.take('order', never), BudgetSpent)
  await few.clock.advance(200)
  await first
})

test('a pause holds everybody, refuses those it would hold too long, and ends', async () => {
  const { clock, budget } = start({ keptForOrders: 0 })
  budget.pause(700)
  assert.equal(budget.tryTake('order'), false)
  const waiting = budget.take('order', never)
  budget.pause(100)
  await clock.advance(699)
  assert.equal(budget.tryTake('order'), false)
  await clock.advance(1)
  await waiting

  const refused = assert.rejects(budget.take('order', never), BudgetSpent)
  budget.pause(5_000)
  await refused
  await assert.rejects(budget.take('read', never), (error: unknown) => error instanceof BudgetSpent && error.retryAfterMs >= 5_000)
})

test('after a pause there is no crowd, and what is kept for orders need not come together again before a read goes', async () => {
  const { clock, budget } = start({ perSecond: 1, burst: 100, keptForOrders: 60, waitMsMax: 10_000 })
  budget.pause(1_000)
  await clock.advance(1_000)
  assert.deepEqual([budget.tryTake('read'), budget.tryTake('read')], [true, false])
  await clock.advance(1_000)
  assert.equal(budget.tryTake('read'), true)
  assert.equal(budget.tryTake('order'), true)
})

test('giving up leaves the line, closing empties it', async () => {
  const { clock, budget } = start()
  tries(budget, 'order')
  const giveUp = new AbortController()
  const left = assert.rejects(budget.take('order', giveUp.signal), /enough/)
  const next = budget.take('order', never)
  giveUp.abort(new Error('enough'))
  await left
  await clock.advance(100)
  await next
  const closed = assert.rejects(budget.take('order', never), /closed/)
  budget[Symbol.dispose]()
  await closed
  await assert.rejects(budget.take('order', never), /closed/)
  assert.equal(clock.sleepers, 0)
})

test('a broker that has less left than our rate allows is kept to, until it counts anew', async () => {
  const { clock, budget } = start({ burst: 100, waitMsMax: 60_000, waitingMax: 100 })
  tries(budget, 'order')
  await clock.advance(10_000)
  assert.equal(budget.tryTake('order'), true)
  // Another call goes while the answer to the first is on its way.
  const number = budget.taken
  assert.equal(budget.tryTake('order'), true)
  budget.heed({ remaining: 3, resetInMs: 5_000 }, number)
  assert.equal(tries(budget, 'order'), 2)
  let gone = 0
  for (let index = 0; index < 3; index += 1) void budget.take('order', never).then(() => (gone += 1))
  await clock.advance(4_999)
  assert.equal(gone, 0)
  await clock.advance(1)
  assert.equal(gone, 3)
})

test('what the broker has left is kept for orders like our own', async () => {
  const { clock, budget } = start({ perSecond: 1_000, burst: 100 })
  await clock.advance(1_000)
  budget.heed({ remaining: 5, resetInMs: 30_000 }, budget.taken)
  assert.equal(tries(budget, 'read'), 3)
  assert.equal(tries(budget, 'order'), 2)
  await assert.rejects(budget.take('order', never), (error: unknown) => error instanceof BudgetSpent && error.retryAfterMs === 30_000)
})

test('a later answer says what is left, an earlier one that comes late only when it leaves less', () => {
  const { budget } = start({ perSecond: 1_000, burst: 100 })
  for (let index = 0; index < 4; index += 1) budget.tryTake('order')
  budget.heed({ remaining: 6, resetInMs: 30_000 }, 4)
  budget.heed({ remaining: 90, resetInMs: 30_000 }, 2)
  assert.equal(tries(budget, 'order'), 6)
  budget.heed({ remaining: 20, resetInMs: 30_000 }, 10)
  budget.heed({ remaining: 8, resetInMs: 30_000 }, 6)
  assert.equal(tries(budget, 'order'), 4)
})

test('an answer that leaves more lets those go who wait; one that leaves nothing for long refuses them', async () => {
  const { clock, budget } = start({ waitMsMax: 20_000 })
  budget.heed({ remaining: 0, resetInMs: 10_000 }, 0)
  const waiting = budget.take('order', never)
  await clock.advance(100)
  budget.heed({ remaining: 5, resetInMs: 9_000 }, 0)
  await waiting
  budget.heed({ remaining: 0, resetInMs: 10_000 }, 1)
  const refused = assert.rejects(budget.take('order', never), BudgetSpent)
  budget.heed({ remaining: -3, resetInMs: 1e12 }, 1)
  await refused
  await clock.advance(3_600_000)
  assert.equal(budget.tryTake('order'), true)
  budget.heed({ remaining: Number.NaN, resetInMs: 1_000 }, 2)
  assert.equal(budget.tryTake('order'), true)
})

test('a broker with any limit is never asked more often than it allows', async () => {
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
        const { clock, budget } = start({ perSecond, burst, keptForOrders: 0, waitingMax: 1_000, waitMsMax: 1_000_000 })
        let [window, used, over] = [0, 0, 0]
        const answer = () => {
          const now = clock.monotonicMs()
          if (Math.floor(now / windowMs) !== window) [window, used] = [Math.floor(now / windowMs), 0]
          used += 1
          if (used > limit) over += 1
          return { limit, remaining: limit - used, resetInMs: (window + 1) * windowMs - now }
        }
        const ask = async () => {
          const number = await budget.take('order', never)
          const limits = answer()
          await clock.sleep(wayMs)
          budget.heed(limits, number)
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
