// Random days of the composed service, each from a seed, as a test.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isWhole } from '@trunkline/testkit/search'
import { ACTIONS } from './actions.ts'
import { runSeeds } from './run-seeds.ts'
import { type EngineName, type OpenedStore, openAlone } from './stores.ts'

export function simulation(engine: EngineName, { from, count }: { readonly from: number; readonly count: number }): void {
  let opened: OpenedStore
  before(async () => {
    opened = await openAlone(engine)
  })
  after(() => opened[Symbol.asyncDispose]())

  test(`${count} random days of the service end with the brokers’ state everywhere, on ${engine}`, async () => {
    const { results, failures } = await runSeeds(opened.alone, { from, count, failuresMax: 1 })
    if (failures[0] !== undefined) throw failures[0]
    assert.equal(results.length, count)
    // A simulation in which little goes wrong proves little; the share of a common run need not have all that can.
    if (!isWhole) return
    const met = new Set(results.flatMap(({ counts }) => [...counts.keys()]))
    const missing = [
      ...Object.keys(ACTIONS).filter(name => ACTIONS[name]?.ofNodes !== true),
      'closed: 4008',
      'closed: 1001',
      'closed: 1006',
      'replayed',
      'bus: lost',
      'store: written'
    ].filter(name => !met.has(name))
    assert.deepEqual(missing, [], 'every kind of fault was met')
  })
}
