import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import { changeThroughFaults, emptyOutcome, type Outcome, openScene, placeThroughFaults, type Scene } from './load.ts'

const ORDERS = 150
const CHANGES = 30
/** Of a cancel whose answers were lost until its time was over. How often that is depends on the machine. */
const OUT_OF_TIME = ['answer_unreadable', 'connection_failed', 'timed_out']

describe('while most answers are lost', () => {
  let scene: Scene
  const seed = Math.floor(Math.random() * 2 ** 32)
  before(async () => {
    scene = await openScene('embedded')
  })
  after(() => scene[Symbol.asyncDispose]())

  function shown({ refused, byFault, ...others }: Outcome): string {
    return `seed ${seed}: ${JSON.stringify({ ...others, refused: [...refused], byFault: [...byFault] })}`
  }

  test('no order is doubled, and none is lost', async t => {
    const users = [await scene.user(), await scene.user()]
    const outcome = emptyOutcome()
    await placeThroughFaults(scene, users, { count: ORDERS, atOnce: 16, chance: new SeededChance(seed) }, outcome)
    t.diagnostic(shown(outcome))
    assert.deepEqual(outcome.findings, [])
    assert.deepEqual([...outcome.refused], [], 'nothing but a lost answer went wrong')
    assert.ok(outcome.faults > ORDERS / 2)
    assert.equal(outcome.placed + outcome.unknown, ORDERS)
    assert.ok(outcome.placed > 0)
  })

  test('a client that sends an order again under another id is found', async () => {
    const outcome = emptyOutcome()
    const blindly: typeof fetch = (input, init) => {
      const body =
        typeof init?.body === 'string' ? init.body.replace(/"cl_order_id":"[^"]+"/, `"cl_order_id":"${crypto.randomUUID()}"`) : null
      return fetch(input, { ...init, body })
    }
    const load = { count: 20, atOnce: 10, chance: new SeededChance(1), fetch: blindly }
    await placeThroughFaults(scene, [await scene.user()], load, outcome)
    assert.match(outcome.findings.join('\n'), /the sandbox has [2-9]/)
  })

  test('no order is changed or cancelled twice', async t => {
    const outcome = emptyOutcome()
    const load = { count: CHANGES, atOnce: 8, chance: new SeededChance(seed) }
    await changeThroughFaults(scene, await scene.user(), load, outcome)
    t.diagnostic(shown(outcome))
    assert.deepEqual(outcome.findings, [])
    assert.deepEqual(
      [...outcome.refused.keys()].filter(code => !OUT_OF_TIME.includes(code)),
      []
    )
    assert.ok(outcome.placed > 0)
  })
})
