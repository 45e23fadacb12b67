import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import { Engine } from '../../src/engine/engine.ts'
import type { Command, OrderView } from '../../src/engine/types.ts'
import { Auditor } from './auditor.ts'
import { Chance, cents, listed, seeded } from './chance.ts'
import { fillsIn, orderOf, World } from './world.ts'

const picks = fc.array(fc.array(fc.nat(), { minLength: 14, maxLength: 14, size: 'max' }), { maxLength: 150, size: 'max' })

test('no sequence of commands overfills, trades outside the quotes, leaves a final state or loses money', () => {
  let fills = 0
  fc.assert(
    fc.property(picks, steps => {
      const world = new World()
      const auditor = new Auditor()
      const chance = new Chance(world)
      for (const step of steps) {
        chance.step(listed(step))
        for (const [command, events] of world.fresh()) auditor.watch(command, events)
        world.assertConserved()
      }
      fills += auditor.fills
    }),
    { numRuns: ofSearch(300, 100) }
  )
  assert.ok(fills > ofSearch(1_000, 300), `${fills} fills prove little`)
})

interface Standing {
  readonly id: string
  readonly price: number
  left: number
}

/** A textbook order book: a list, searched in full each time. */
class Schoolbook {
  readonly #sides: { readonly BUY: Standing[]; readonly SELL: Standing[] } = { BUY: [], SELL: [] }

  submit(id: string, side: 'BUY' | 'SELL', price: number, quantity: number): string[] {
    const facing = this.#sides[side === 'BUY' ? 'SELL' : 'BUY']
    const trades: string[] = []
    let left = quantity
    while (left > 0) {
      const best = facing.toSorted((a, b) => (side === 'BUY' ? a.price - b.price : b.price - a.price))[0]
      if (best === undefined || (side === 'BUY' ? best.price > price : best.price < price)) break
      const size = Math.min(left, best.left)
      trades.push(`${best.id} ${size} @ ${best.price}`)
      left -= size
      best.left -= size
      if (best.left === 0) facing.splice(facing.indexOf(best), 1)
    }
    if (left > 0) this.#sides[side].push({ id, price, left })
    return trades
  }

  cancel(id: string): void {
    for (const side of [this.#sides.BUY, this.#sides.SELL]) {
      const at = side.findIndex(order => order.id === id)
      if (at >= 0) side.splice(at, 1)
    }
  }

  lower(id: string, left: number): void {
    for (const order of [...this.#sides.BUY, ...this.#sides.SELL]) if (order.id === id) order.left = left
  }
}

test('customers are matched as in the textbook: best price first, then by time', () => {
  const action = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.boolean(), fc.integer({ min: 95, max: 105 }), fc.integer({ min: 1, max: 20 }))
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80, size: 'max' }), actions => {
      const world = new World()
      const schoolbook = new Schoolbook()
      // The textbook's id for each of the engine's order ids; a replacement keeps the id.
      const names = new Map<string, string>()
      const orders: OrderView[] = []
      for (const [at, [what, buy, price, quantity]] of actions.entries()) {
        const old = orders[price % Math.max(1, orders.length)]
        if (what < 7 || old === undefined) {
          const name = `o${at}`
          world.account(`p${at}`, 'margin', '1000000')
          const side = buy ? 'BUY' : 'SELL'
          const events = world.submit({ accountId: `p${at}`, side, limitPrice: String(price), quantity: String(quantity) })
          const order = orderOf(events)
          names.set(order.orderId, name)
          orders.push(order)
          const made = fillsIn(events).filter(fill => fill.orderId !== order.orderId)
          assert.deepEqual(
            made.map(fill => `${names.get(fill.orderId)} ${fill.quantity} @ ${fill.price}`),
            schoolbook.submit(name, side, price, quantity)
          )
        } else if (what < 9) {
          if (world.cancel(old)[0]?.type === 'order') schoolbook.cancel(names.get(old.orderId) ?? '')
        } else lower(world, schoolbook, names, orders, old)
      }
      world.assertConserved()
    }),
    { numRuns: ofSearch(200, 60) }
  )
})

function lower(world: World, schoolbook: Schoolbook, names: Map<string, string>, orders: OrderView[], old: OrderView): void {
  const now = world.again(old)
  const left = Number(now.remainingQuantity)
  if (left < 2) return
  const total = Number(now.quantity) - 1
  const next = orderOf(world.replace(now, { quantity: String(total) }))
  names.set(next.orderId, names.get(old.orderId) ?? '')
  orders.push(next)
  schoolbook.lower(names.get(old.orderId) ?? '', left - 1)
}

test('an accepted order that opens a position never takes the free funds below zero', () => {
  const ticket = fc.record({
    account: fc.constantFrom('m1', 'c1', 'k1'),
    side: fc.constantFrom('BUY', 'SELL'),
    kind: fc.constantFrom('MKT', 'LMT', 'STP', 'NOTIONAL'),
    quantity: fc.integer({ min: 1, max: 1_500 }),
    price: fc.integer({ min: 9_000, max: 11_000 })
  })
  let accepted = 0
  fc.assert(
    fc.property(fc.array(ticket, { maxLength: 40, size: 'max' }), fc.integer({ min: 1, max: 300 }), (tickets, spread) => {
      const world = new World()
      // The same quote repeatedly: it replenishes, and no price moves.
      const quote = (symbol: string) => {
        const level = (sign: number) => [0, 1, 2].map(at => [cents(10_000 + sign * (spread + at * 7)), '200'] as const)
        world.quote(level(-1), level(1), symbol)
      }
      for (const { account, side, kind, quantity, price } of tickets) {
        const symbol = account === 'k1' ? 'BTC/USD' : 'AAPL'
        quote(symbol)
        const held = Number(world.engine.position(account, symbol)?.quantity ?? '0')
        const opens = side === 'BUY' ? held >= 0 : held <= 0
        const before = world.engine.balance(account)
        const first = world.submit({
          accountId: account,
          symbol,
          side,
          timeInForce: 'GTC',
          orderType: kind === 'NOTIONAL' ? 'MKT' : kind,
          quantity: kind === 'NOTIONAL' ? null : String(quantity),
          notional: kind === 'NOTIONAL' ? String(quantity * 100) : null,
          limitPrice: kind === 'LMT' ? cents(price) : null,
          stopPrice: kind === 'STP' ? cents(price) : null
        })[0]
        if (first?.type !== 'order' || first.change !== 'accepted') continue
        accepted++
        const after = world.engine.balance(account)
        if (opens && !before.excess.startsWith('-'))
          assert.ok(!after.excess.startsWith('-'), `${after.excess} after ${JSON.stringify(first.order)}`)
        if (account !== 'm1') assert.ok(!after.settledCash.startsWith('-'), `a ${account} in debt: ${after.settledCash}`)
      }
    }),
    { numRuns: ofSearch(300, 100) }
  )
  assert.ok(accepted > ofSearch(500, 150), `${accepted} accepted orders prove little`)
})

function journalOf(seed: number, commands: number): Command[] {
  const world = new World()
  const chance = new Chance(world)
  const pick = seeded(seed)
  for (let done = 0; done < commands; done++) chance.step(pick)
  return world.fresh().map(([command]) => command)
}

function hashOf(engine: Engine, commands: readonly Command[]): string {
  const hash = createHash('sha256')
  for (const command of commands) hash.update(JSON.stringify(engine.handle(command)))
  for (const { accountId } of engine.accounts()) {
    hash.update(
      JSON.stringify([engine.balance(accountId), engine.positions(accountId), engine.orders(accountId), engine.transactions(accountId)])
    )
  }
  return hash.update(engine.snapshot()).digest('hex')
}

test('the same seed and commands give the same bytes, also through a journal of text', () => {
  const journal = journalOf(7, 3_000)
  const lines = journal.map(command => JSON.stringify(command))
  const first = hashOf(Engine.create({ seed: 'a' }), journal)
  const replayed = hashOf(
    Engine.create({ seed: 'a' }),
    lines.map(line => JSON.parse(line))
  )
  assert.equal(first, replayed)
  assert.notEqual(first, hashOf(Engine.create({ seed: 'b' }), journal), 'the seed sets ids apart')
})

test('an engine restored from a snapshot continues exactly like the original', () => {
  const settings = { closedOrdersMax: 300, transactionsMax: 100 }
  const journal = journalOf(11, 4_000)
  for (const cut of [0, 1, 500, 1_999, 3_210]) {
    const engine = Engine.create(settings)
    for (const command of journal.slice(0, cut)) engine.handle(command)
    const snapshot = engine.snapshot()
    const restored = Engine.restore(snapshot)
    assert.equal(restored.snapshot(), snapshot)
    assert.equal(restored.handled, cut)
    const rest = journal.slice(cut)
    assert.equal(hashOf(restored, rest), hashOf(engine, rest), `restored after ${cut}`)
  }
})

test('invalid snapshots are refused by name', () => {
  const snapshot = Engine.create().snapshot()
  assert.throws(() => Engine.restore('{'), { name: 'Malformed', what: 'snapshot' })
  assert.throws(() => Engine.restore('[99]'), { name: 'Malformed', what: 'snapshot' })
  assert.throws(() => Engine.restore(snapshot.replace('"sandbox"', '7')), { name: 'Malformed', what: 'settings.seed' })
})
