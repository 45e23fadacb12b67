/** The long walk: random commands checked by the auditor, and repeated audits of the ledger. */
import assert from 'node:assert/strict'
import { Auditor } from './auditor.ts'
import { Chance, seeded } from './chance.ts'
import { World } from './world.ts'

/** Runs this many commands from a seed. @throws AssertionError at the first violation. */
export function walk(seed: number, commands: number): { readonly fills: number; readonly customerFills: number; readonly world: World } {
  const world = new World({ closedOrdersMax: 2_000, transactionsMax: 500 })
  const auditor = new Auditor()
  const chance = new Chance(world)
  const pick = seeded(seed)
  for (let done = 0; done < commands; done++) {
    chance.step(pick)
    drain(world, auditor)
    if (done % 97 === 0) world.assertConserved()
    if (done % 5_000 === 0) auditor.trim()
  }
  world.assertConserved()
  for (const { accountId } of world.engine.accounts()) assertSums(world, accountId)
  return { fills: auditor.fills, customerFills: auditor.customerFills, world }
}

function drain(world: World, auditor: Auditor): void {
  for (const [command, events] of world.fresh()) auditor.watch(command, events)
}

/** Holds are exactly those of the live orders, and a flat position has no cost. */
function assertSums(world: World, accountId: string): void {
  for (const order of world.engine.orders(accountId, { live: true })) world.cancel(order)
  const balance = world.engine.balance(accountId)
  assert.equal(balance.reserved, '0.00', 'nothing is held without orders')
  for (const symbol of ['AAPL', 'MSFT', 'BTC/USD']) {
    const position = world.engine.position(accountId, symbol)
    if (position?.quantity === '0') assert.equal(position.costBasis, '0.00')
  }
}
