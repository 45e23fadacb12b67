// What a request counts for, and where, when another node than the one that was asked executes it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { DEFAULT_LIMITS } from '../../../src/http/index.ts'
import { Nodes } from './nodes.ts'

const SLOW = { perSecond: 0.001 }

function counts(response: Response): readonly (number | null)[] {
  const names = ['ratelimit-limit', 'ratelimit-remaining']
  return [response.status, ...names.map(name => Number(response.headers.get(name)))]
}

test('a user’s requests count at its owner, whichever node is asked, and for the platform at the node that was asked', async () => {
  const limits = { ...DEFAULT_LIMITS, user: { ...SLOW, burst: 4 }, platform: { ...SLOW, burst: 100 } }
  await using nodes = await Nodes.open({ http: { limits } })
  const { asked, owner } = nodes
  const left = [asked, owner, asked, owner, asked, asked, owner]
  const results = []
  for (const node of left) results.push(counts(await nodes.ask(node, 'GET', '/orders')))
  assert.deepEqual(results, [...[3, 2, 1, 0].map(remaining => [200, 4, remaining]), ...[0, 0, 0].map(remaining => [429, 4, remaining])])
  const refused = await nodes.ask(asked, 'GET', '/orders')
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  const brokers = async (node: typeof asked) => counts(await nodes.ask(node, 'GET', '/brokers'))
  assert.deepEqual(await brokers(asked), [200, 100, 97], 'two that were executed, and this one; refused ones are given back')
  assert.deepEqual(await brokers(owner), [200, 100, 97])
  // A platform's own request that the owner of a user executes counts where it was asked for, once.
  assert.deepEqual(counts(await nodes.ask(asked, 'DELETE', '/users/ada')), [200, 100, 96])
  assert.deepEqual(await brokers(owner), [200, 100, 96])
})

test('where the platform has less left, the headers say so', async () => {
  const limits = { ...DEFAULT_LIMITS, user: { ...SLOW, burst: 50 }, platform: { ...SLOW, burst: 8 } }
  await using nodes = await Nodes.open({ http: { limits } })
  assert.deepEqual(counts(await nodes.ask(nodes.asked, 'GET', '/orders')), [200, 8, 7])
  assert.deepEqual(counts(await nodes.ask(nodes.owner, 'GET', '/orders')), [200, 8, 7])
})

test('requests on their way to the owner, and those that wait for one, take part in the fair queue of the node that was asked', async () => {
  const user = { working: 2, waiting: 1 }
  const limits = { ...DEFAULT_LIMITS, underWay: { ...DEFAULT_LIMITS.underWay, user } }
  await using nodes = await Nodes.open({ http: { limits } })
  const { asked, owner } = nodes
  const gate = Promise.withResolvers<void>()
  let inside = 0
  owner.watched.intercept = async call => {
    if (call.name !== 'accounts.listByUser') return await call.go()
    inside += 1
    await gate.promise
    return await call.go()
  }
  const four = () => [1, 2, 3, 4].map(() => nodes.ask(asked, 'GET', '/accounts'))
  const statuses = async (asks: readonly Promise<Response>[]) => (await Promise.all(asks)).map(({ status }) => status).sort()
  const first = four()
  assert.equal((await Promise.race(first)).status, 429, 'two are under way, one waits, and one is refused at once')
  await until(() => inside > 0, 'the owner works')
  gate.resolve()
  assert.deepEqual(await statuses(first), [200, 200, 200, 429])

  let waits = 0
  asked.ownership.onWait = () => {
    waits += 1
  }
  asked.ownership.set({ kind: 'none' })
  const second = four()
  assert.equal((await Promise.race(second)).status, 429)
  await until(() => waits >= 2, 'two wait for an owner')
  asked.ownership.to(owner)
  assert.deepEqual(await statuses(second), [200, 200, 200, 429])
})
