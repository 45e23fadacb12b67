import assert from 'node:assert/strict'
import { test } from 'node:test'
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
  const { clock, budget } = start()
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
