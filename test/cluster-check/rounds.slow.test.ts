// A few rounds of the check, by a fixed seed; `npm run cluster-check` plays as many as it is asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import { check } from './rounds.ts'

/** Its first rounds kill a node, pause one for longer than its lease, stop one, restart PostgreSQL and cut links. */
const SEED = 4993
const ROUNDS = ofSearch(40, 4)
const USERS = ofSearch(8, 4)

test(`nothing is lost, doubled or falsely rejected in ${ROUNDS} rounds of disturbances (seed ${SEED})`, async t => {
  const { findings, rounds } = await check({ seed: SEED, rounds: ROUNDS, users: USERS, only: [], print: text => t.diagnostic(text) })
  assert.deepEqual(findings, [])
  assert.equal(rounds, ROUNDS)
})
