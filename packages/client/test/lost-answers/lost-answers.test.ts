import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import { emptyOutcome, openScene, placeThroughFaults } from './load.ts'

const ORDERS = 300

test('of orders whose answers are lost, none is doubled and none is lost', async t => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  t.diagnostic(`seed ${seed}`)
  await using scene = await openScene('embedded')
  const users = [await scene.user(), await scene.user()]
  const outcome = emptyOutcome()
  await placeThroughFaults(scene, users, { count: ORDERS, atOnce: 16, chance: new SeededChance(seed) }, outcome)
  t.diagnostic(JSON.stringify({ ...outcome, refused: [...outcome.refused], byFault: [...outcome.byFault] }))
  assert.deepEqual(outcome.findings, [])
  assert.deepEqual([...outcome.refused], [], 'nothing but a lost answer went wrong')
  assert.ok(outcome.faults > ORDERS / 2)
  assert.ok(outcome.placed >= ORDERS * 0.9)
})
