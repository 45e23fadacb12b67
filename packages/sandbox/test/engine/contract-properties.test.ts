// Options, multi-leg orders and futures at random: the invariants.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import { Engine } from '../../src/engine/engine.ts'
import type { Command } from '../../src/engine/types.ts'
import { Auditor } from './auditor.ts'
import { cents, listed, seeded } from './chance.ts'
import { ContractChance } from './contract-chance.ts'
import { assertRules, walkContracts } from './contract-walk.ts'
import { ContractWorld, contract } from './contracts.ts'

test('no sequence with contracts loses money or units, closes more than is held, or leaves a cash account uncovered', () => {
  const picks = fc.array(fc.array(fc.nat(), { minLength: 18, maxLength: 18, size: 'max' }), { maxLength: 120, size: 'max' })
  fc.assert(
    fc.property(picks, steps => {
      const world = new ContractWorld()
      const chance = new ContractChance(world)
      const auditor = new Auditor()
      for (const step of steps) {
        chance.step(listed(step))
        for (const [command, events] of world.fresh()) auditor.watch(command, events)
        assertRules(world)
      }
    }),
    { numRuns: ofSearch(60, 20) }
  )
})

test('walks of thousands of commands keep every rule', () => {
  for (const seed of [1, 2, 3]) {
    const { fills, multiLegs, transactions } = walkContracts(seed, 3_000)
    assert.ok(fills > 200 && multiLegs > 20, `seed ${seed}: ${fills} fills, ${multiLegs} of multi-leg orders prove little`)
    for (const type of ['EXERCISE', 'ASSIGNMENT', 'EXPIRATION', 'ADJUSTMENT'])
      assert.ok((transactions.get(type) ?? 0) > 0, `seed ${seed} saw no ${type}`)
  }
})

test('an accepted order that needs more never takes the free funds below zero while no price moves', () => {
  const names = ['C95', 'C100', 'C105', 'C110', 'P90', 'P95', 'P100', 'P105'] as const
  const worth: Readonly<Record<(typeof names)[number], number>> = {
    C95: 650,
    C100: 350,
    C105: 150,
    C110: 60,
    P90: 60,
    P95: 150,
    P100: 350,
    P105: 650
  }
  const leg = fc.record({
    name: fc.constantFrom(...names),
    buy: fc.boolean(),
    open: fc.constantFrom(true, true, true, false),
    ratio: fc.integer({ min: 1, max: 2 })
  })
  const ticket = fc.record({
    account: fc.constantFrom('m', 'c'),
    legs: fc.array(leg, { minLength: 1, maxLength: 4 }),
    quantity: fc.integer({ min: 1, max: 4 }),
    off: fc.integer({ min: -30, max: 30 }),
    market: fc.boolean(),
    resting: fc.boolean()
  })
  let accepted = 0
  fc.assert(
    fc.property(fc.array(ticket, { maxLength: 60, size: 'max' }), fc.integer({ min: 1, max: 20 }), (tickets, spread) => {
      const world = new ContractWorld()
      world.account('m', 'margin', '20000')
      world.account('c', 'cash', '20000')
      for (const accountId of ['m', 'c']) world.order({ accountId, quantity: '100', limitPrice: '100.01' })
      // The same quotes repeatedly: they replenish, and no price moves.
      const quote = () => {
        for (const name of names) world.offer(name, cents(worth[name] - spread), cents(worth[name] + spread), '20')
      }
      for (const { account, legs, quantity, off, market, resting } of tickets) {
        const waiting = world.balance(account)
        quote()
        const before = world.balance(account)
        if (!waiting.excess.startsWith('-'))
          assert.ok(!before.excess.startsWith('-'), `${waiting.excess} became ${before.excess} by orders that waited`)
        const [first] = legs
        if (first === undefined) continue
        const timeInForce = resting ? 'GTC' : 'IOC'
        const sign = (buy: boolean) => (buy ? 1 : -1)
        const net = legs.reduce((sum, { name, buy, ratio }) => sum + sign(buy) * ratio * (worth[name] + sign(buy) * spread), 0)
        const events =
          legs.length === 1
            ? world.submit({
                accountId: account,
                symbol: contract(first.name),
                side: `${first.buy ? 'BUY' : 'SELL'}_TO_${first.open ? 'OPEN' : 'CLOSE'}`,
                quantity: String(quantity),
                timeInForce,
                limitPrice: market ? null : cents(Math.max(1, worth[first.name] + off))
              })
            : world.package(
                legs.map(({ name, buy, open, ratio }) => `${buy ? '+' : '-'}${open ? 'o' : 'c'}${ratio} ${name}` as const),
                { accountId: account, quantity: String(quantity), timeInForce, ...(market ? {} : { limitPrice: cents(net + off) }) }
              )
        if (events[0]?.type !== 'order' || events[0].change !== 'accepted') continue
        accepted++
        const after = world.balance(account)
        if (!before.excess.startsWith('-'))
          assert.ok(!after.excess.startsWith('-'), `${before.excess} became ${after.excess} by ${JSON.stringify(events[0].order)}`)
      }
    }),
    { numRuns: 250 }
  )
  assert.ok(accepted > 300, `${accepted} accepted orders prove little`)
})

function journalOf(seed: number, steps: number): Command[] {
  const world = new ContractWorld()
  const chance = new ContractChance(world)
  const pick = seeded(seed)
  for (let done = 0; done < steps; done++) chance.step(pick)
  return world.fresh().map(([command]) => command)
}

function hashOf(engine: Engine, commands: readonly Command[]): string {
  const hash = createHash('sha256')
  for (const command of commands) hash.update(JSON.stringify(engine.handle(command)))
  for (const { accountId } of engine.accounts())
    hash.update(
      JSON.stringify([engine.balance(accountId), engine.positions(accountId), engine.orders(accountId), engine.transactions(accountId)])
    )
  return hash.update(engine.snapshot()).digest('hex')
}

test('a journal with contracts replays to the same bytes, also if a snapshot divides it at any point', () => {
  const settings = { seed: 'a', closedOrdersMax: 150, transactionsMax: 100 }
  const journal = journalOf(5, 2_500)
  const lines = journal.map(command => JSON.stringify(command))
  const whole = hashOf(Engine.create(settings), journal)
  assert.equal(
    whole,
    hashOf(
      Engine.create(settings),
      lines.map(line => JSON.parse(line))
    )
  )
  for (const cut of [7, 400, 1_234, 2_100]) {
    const engine = Engine.create(settings)
    for (const command of journal.slice(0, cut)) engine.handle(command)
    const snapshot = engine.snapshot()
    const restored = Engine.restore(snapshot)
    assert.equal(restored.snapshot(), snapshot, `restored after ${cut}`)
    const rest = journal.slice(cut)
    assert.equal(hashOf(restored, rest), hashOf(engine, rest), `went on after ${cut}`)
  }
})

test('a snapshot from before contracts existed is read, and its accounts keep their permissions', () => {
  const engine = Engine.restore(readFileSync(new URL('./fixtures/snapshot.before-contracts.json', import.meta.url), 'utf8'))
  assert.deepEqual(engine.account('m1')?.permitted, ['STK'])
  assert.deepEqual(
    engine.orders('m1').map(({ state, legs, symbol }) => [state, legs, symbol]),
    [
      ['open', null, 'AAPL'],
      ['filled', null, 'AAPL']
    ]
  )
  assert.equal(engine.position('m1', 'AAPL')?.quantity, '10')
  const again = Engine.restore(engine.snapshot())
  assert.equal(again.snapshot(), engine.snapshot())
  assert.equal(engine.conservation().units.AAPL, '0')
})
