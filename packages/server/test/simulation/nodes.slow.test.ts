// Random days of several nodes over PostgreSQL, whose fences refuse what a former owner writes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { everyNthTest, isWhole, ofSearch } from '@trunkline/testkit/search'
import { ACTIONS } from './actions.ts'
import { runSeeds } from './run-seeds.ts'
import { SABOTAGES_OF_NODES } from './sabotage.ts'
import { type OpenedNodes, openNodes } from './stores.ts'

const NODES = 3
const DAYS = ofSearch(300, 4)
const FROM = 2_001
const SEEDS_MAX = 80
const AT_ONCE = 2

let opened: OpenedNodes
/** Of the days that went well. */
const hashes = new Map<number, string>()
before(async () => {
  opened = await openNodes('postgres', AT_ONCE)
})
after(() => opened[Symbol.asyncDispose]())

test(`${DAYS} random days of ${NODES} nodes end with the brokers’ state everywhere`, async () => {
  const { results, failures } = await runSeeds(opened.of(NODES), { from: FROM, count: DAYS, failuresMax: 1, atOnce: AT_ONCE })
  if (failures[0] !== undefined) throw failures[0]
  assert.equal(results.length, DAYS)
  for (const { seed, hash } of results) hashes.set(seed, hash)
  if (!isWhole) return
  const met = new Set(results.flatMap(({ counts }) => [...counts.keys()]))
  const ofNodes = Object.keys(ACTIONS).filter(name => ACTIONS[name]?.ofNodes === true)
  const ofLinks = ['a lease is lost', 'a message is lost', 'an order is passed on again', 'an order without an answer is found']
  const expected = [...ofNodes, ...ofLinks.map(name => `nodes: ${name}`), 'restart', 'kill']
  const missing = expected.filter(name => !met.has(name))
  assert.deepEqual(missing, [], 'every kind of fault was met')
})

test('a seed gives the same day of several nodes again', async () => {
  const { results, failures } = await runSeeds(opened.of(NODES), { from: FROM, count: ofSearch(8, 1), failuresMax: 1, atOnce: 1 })
  assert.deepEqual(failures, [])
  for (const { seed, hash } of results) assert.equal(hash, hashes.get(seed))
})

const rotated = everyNthTest(Object.keys(SABOTAGES_OF_NODES).length)
for (const [what, sabotage] of Object.entries(SABOTAGES_OF_NODES)) {
  rotated(`${what}: it is noticed within ${SEEDS_MAX} seeds`, async () => {
    const search = { from: 1, count: SEEDS_MAX, failuresMax: 1, atOnce: AT_ONCE }
    const { failures } = await runSeeds(opened.of(NODES), search, { sabotage, isRough: true })
    assert.ok(failures[0] !== undefined, 'no seed failed')
    assert.match(failures[0].message, /^seed \d+ failed\. Again, with every step: npm run simulate -- --seed \d+ --nodes 3/)
  })
}
