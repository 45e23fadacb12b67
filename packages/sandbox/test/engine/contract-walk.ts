/** The walk through options and futures: after every command it audits the ledger and checks the rules of contracts. */
import assert from 'node:assert/strict'
import type { OrderView } from '../../src/engine/types.ts'
import { readScaled } from '../../src/engine/units.ts'
import { Auditor } from './auditor.ts'
import { seeded } from './chance.ts'
import { ContractChance } from './contract-chance.ts'
import { ContractWorld } from './contracts.ts'

/** Counts of what occurred, so that a test can verify that something occurred. */
export interface Seen {
  fills: number
  multiLegs: number
  readonly transactions: Map<string, number>
}

/** Takes this many steps from a seed. @throws AssertionError at the first violation, naming the seed and the step. */
export function walkContracts(seed: number, steps: number, every = 1): Seen & { readonly world: ContractWorld } {
  const world = new ContractWorld({ closedOrdersMax: 200, transactionsMax: 200 })
  const chance = new ContractChance(world)
  const auditor = new Auditor()
  const pick = seeded(seed)
  const seen: Seen = { fills: 0, multiLegs: 0, transactions: new Map() }
  for (let step = 0; step < steps; step++) {
    try {
      chance.step(pick)
      const fresh = world.fresh()
      for (const [command, events] of fresh) {
        auditor.watch(command, events)
        for (const event of events) {
          if (event.type === 'transaction')
            seen.transactions.set(event.transaction.type, (seen.transactions.get(event.transaction.type) ?? 0) + 1)
          if (event.type === 'order' && event.change === 'fill' && event.order.legs !== null) seen.multiLegs++
        }
      }
      if (step % every === 0) assertRules(world)
    } catch (cause) {
      throw new Error(`seed ${seed}, step ${step}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
  assertEmpty(world)
  seen.fills = auditor.fills
  return { ...seen, world }
}

export function assertRules(world: ContractWorld): void {
  world.assertConserved()
  for (const { accountId, accountType } of world.engine.accounts()) {
    const balance = world.engine.balance(accountId)
    assert.equal(scaled(balance.equity), scaled(balance.cash) + scaled(balance.marketValue), 'equity is cash and market value')
    assertClosable(world, accountId)
    if (accountType !== 'cash') continue
    assert.ok(!balance.settledCash.startsWith('-'), `${accountId} is in debt: ${balance.settledCash}`)
    assert.ok(!balance.excess.startsWith('-'), `${accountId} has promised more than it has: ${balance.excess}`)
    assertCovered(world, accountId)
  }
}

/** Closing orders do not exceed the position. */
function assertClosable(world: ContractWorld, accountId: string): void {
  const closing = new Map<string, bigint>()
  for (const order of world.engine.orders(accountId, { live: true })) {
    for (const { symbol, side, units } of partsOf(order)) {
      if (!side.endsWith('CLOSE')) continue
      closing.set(`${side} ${symbol}`, (closing.get(`${side} ${symbol}`) ?? 0n) + units)
    }
  }
  for (const [key, units] of closing) {
    const [side = '', symbol = ''] = key.split(' ')
    const held = scaled(world.engine.position(accountId, symbol)?.quantity ?? '0')
    assert.ok(units <= (side === 'BUY_TO_CLOSE' ? -held : held), `${accountId} would close ${units} of ${held} ${symbol}`)
  }
}

function partsOf({ symbol, side, legs, remainingQuantity }: OrderView) {
  const left = scaled(remainingQuantity)
  if (legs === null) return [{ symbol: symbol ?? '', side, units: left }]
  return legs.map(leg => ({ symbol: leg.symbol, side: leg.side, units: left * BigInt(leg.ratio) }))
}

/** A cash account has the shares of every call it sold, and its only other shorts are puts. */
function assertCovered(world: ContractWorld, accountId: string): void {
  let calls = 0n
  for (const { symbol, quantity } of world.engine.positions(accountId)) {
    const held = scaled(quantity)
    if (held > 0n) continue
    const right = world.engine.instrument(symbol)?.option?.right
    assert.notEqual(right, undefined, `${accountId} is short of ${symbol}`)
    if (right === 'call') calls -= held
  }
  const shares = scaled(world.engine.position(accountId, 'AAPL')?.quantity ?? '0')
  assert.ok(calls * 100n <= shares, `${accountId} has sold ${calls} calls on ${shares} shares`)
}

/** Without orders nothing is held, and a flat position has no cost. */
function assertEmpty(world: ContractWorld): void {
  for (const { accountId } of world.engine.accounts()) {
    for (const order of world.engine.orders(accountId, { live: true })) world.cancel(order)
    assert.equal(world.engine.balance(accountId).reserved, '0.00', 'nothing is held without orders')
  }
  world.fresh()
}

function scaled(text: string): bigint {
  return readScaled(text.slice(0, text.indexOf('.') + 10)) ?? 0n
}
