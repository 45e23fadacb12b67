import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import type { Engine } from '../../src/engine/engine.ts'
import type { Command, EngineEvent, PreviewCommand, PreviewView } from '../../src/engine/types.ts'
import { Chance, seeded } from './chance.ts'
import { ContractChance } from './contract-chance.ts'
import { ContractWorld } from './contracts.ts'
import { STANDARD, World } from './world.ts'

/** Counts of the previews before submits, so that a test can verify that there were some. */
class Looks {
  taken = 0
  refused = 0

  /** Checks that a preview leaves no trace, and predicts the order's result. */
  before(engine: Engine, command: Command): (events: readonly EngineEvent[]) => void {
    if (command.type !== 'submit' && command.type !== 'submit_package') return () => undefined
    const { type: _, clientOrderId: __, ...asked } = command
    const untouched = engine.snapshot()
    const seen = engine.preview(asked)
    assert.equal(engine.snapshot(), untouched, `a preview of ${JSON.stringify(asked)} left a trace`)
    return ([event]) => {
      if (event?.type === 'refused' && event.code.includes('client_order_id')) return
      const code =
        event?.type === 'refused' ? event.code : event?.type === 'order' && event.change === 'rejected' ? event.order.reason?.code : null
      assert.equal('code' in seen ? seen.code : null, code, JSON.stringify(asked))
      if (code === null) this.taken++
      else this.refused++
    }
  }
}

function looking<W extends World>(world: W, looks: Looks): W {
  const does = world.do.bind(world)
  world.do = command => {
    const judge = looks.before(world.engine, { ...command, at: world.now + 1_000 })
    const events = does(command)
    judge(events)
    return events
  }
  return world
}

test('a preview of an order leaves the state unchanged to the byte, and refuses what a submit refuses', () => {
  const looks = new Looks()
  const seeds = ofSearch(40, 12)
  for (let seed = 1; seed <= seeds; seed++) {
    const chance = new Chance(looking(new World(), looks))
    const pick = seeded(seed)
    for (let step = 0; step < 120; step++) {
      try {
        chance.step(pick)
      } catch (cause) {
        throw new Error(`seed ${seed}, step ${step}`, { cause })
      }
    }
  }
  assert.ok(looks.taken > seeds * 8 && looks.refused > seeds, `${looks.taken} taken and ${looks.refused} refused prove little`)
})

test('the same holds for previews of options, multi-leg orders and futures', () => {
  const looks = new Looks()
  const seeds = ofSearch(20, 6)
  for (let seed = 1; seed <= seeds; seed++) {
    const chance = new ContractChance(looking(new ContractWorld({ closedOrdersMax: 200, transactionsMax: 200 }), looks))
    const pick = seeded(seed)
    for (let step = 0; step < 150; step++) {
      try {
        chance.step(pick)
      } catch (cause) {
        throw new Error(`seed ${seed}, step ${step}`, { cause })
      }
    }
  }
  assert.ok(looks.taken > seeds * 5 && looks.refused > seeds, `${looks.taken} taken and ${looks.refused} refused prove little`)
})

function seen(world: World, change: Partial<Extract<PreviewCommand, { readonly symbol: string }>>): PreviewView {
  const found = world.engine.preview({
    ...{ at: world.now, accountId: 'm1', symbol: 'AAPL', side: 'BUY', orderType: 'MKT', timeInForce: 'DAY' },
    ...{ quantity: '10', notional: null, limitPrice: null, stopPrice: null },
    ...change
  })
  assert.ok('price' in found, JSON.stringify(found))
  return found
}

test('the estimate of an order: its price in the book, its cost or proceeds, fees, margin and buying power', () => {
  const world = new World()
  world.quote(
    [['99.90', '100']],
    [
      ['100.00', '4'],
      ['100.05', '100']
    ]
  )
  const market = seen(world, {})
  assert.deepEqual([market.price, market.cost, market.currency, market.warnings], ['100.03', '1000.30', 'USD', []])
  const limit = seen(world, { orderType: 'LMT', limitPrice: '90' })
  assert.deepEqual([limit.price, limit.cost], ['90', '900.00'])
  const before = world.engine.balance('m1').buyingPower
  world.order({ limitPrice: '90' })
  assert.equal(Number(world.engine.balance('m1').buyingPower) - Number(before), Number(limit.buyingPower), 'as it is once it was placed')
  const sale = seen(world, { side: 'SELL' })
  assert.deepEqual([sale.price, sale.cost], ['99.9', '-999.00'])
  assert.ok(Number(sale.fees) > 0 && Number(sale.initialMargin) > 0 && Number(sale.buyingPower) < 0)
  world.quote(STANDARD.bids, STANDARD.asks, 'BTC/USD')
  const cash = seen(world, { accountId: 'k1', symbol: 'BTC/USD', quantity: null, notional: '500' })
  assert.deepEqual([cash.initialMargin, Math.abs(Number(cash.cost) - 500) < 1], [null, true])
})

test('a closed market is a warning', () => {
  const world = new World()
  world.quote(STANDARD.bids, STANDARD.asks)
  world.phase('closed', '2026-03-02')
  assert.deepEqual(seen(world, {}).warnings, ['The market of AAPL is not open; the order waits for its hours.'])
})
