// The simulation itself: it notices what is wrong, and the same seed is the same day.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import { runSeeds } from './run-seeds.ts'
import { SABOTAGES } from './sabotage.ts'
import { type OpenedStore, openAlone } from './stores.ts'

const SEEDS_MAX = 40

let postgres: OpenedStore
let embedded: OpenedStore
before(async () => {
  postgres = await openAlone('postgres')
  embedded = await openAlone('embedded')
})
after(async () => {
  await postgres[Symbol.asyncDispose]()
  await embedded[Symbol.asyncDispose]()
})

test('a seed gives the same day again: beside others or alone, and on either engine', async () => {
  const seeds = { from: 1, count: ofSearch(12, 4), failuresMax: 1 }
  const beside = await runSeeds(postgres.alone, seeds)
  const alone = await runSeeds(embedded.alone, { ...seeds, atOnce: 1 })
  assert.deepEqual([...beside.failures, ...alone.failures], [])
  const hashes = ({ results }: typeof beside) => new Map(results.toSorted((a, b) => a.seed - b.seed).map(({ seed, hash }) => [seed, hash]))
  assert.deepEqual(hashes(beside), hashes(alone))
  assert.equal(new Set(hashes(alone).values()).size, seeds.count, 'different seeds are different days')
})

for (const [what, sabotage] of Object.entries(SABOTAGES)) {
  test(`${what} is noticed within ${SEEDS_MAX} seeds`, async () => {
    const { failures } = await runSeeds(postgres.alone, { from: 1, count: SEEDS_MAX, failuresMax: 1, atOnce: 4 }, { sabotage })
    const [first] = failures
    assert.ok(first !== undefined, 'no seed failed')
    assert.match(first.message, /^seed \d+ failed\. Again, with every step: npm run simulate -- --seed \d+/)
  })
}
