// A form that is submitted at several nodes is handled once, and every node gives the same answer.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type NodeId, parseUuid } from '@trunkline/core/domain/ids'
import { PlainVault } from '@trunkline/testkit/plain-vault'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { SharedSubmissions, type Submissions } from '../../src/portal/shared-submissions.ts'
import { openStore } from '../../src/store/index.ts'
import { testDeps } from '../store/deps.ts'

const deps = testDeps()
const cluster = await sharedPostgres()
const database = await createDatabase(cluster.url)
const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 8 }, deps)
const client = new Client(database.url)
await client.connect()
after(async () => {
  await client.end()
  await store[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

async function node() {
  const nodeId = parseUuid<NodeId>(crypto.randomUUID(), 'node')
  await client.query(`select join_members($1, 'http://node', 'node', interval '1 hour')`, [nodeId])
  const [looked, begun] = [new Set<string>(), new Set<string>()]
  const watched: Submissions = {
    look: async form => {
      const found = await store.submissions.look(form)
      looked.add(form)
      return found
    },
    begin: async (form, as) => {
      const known = await store.submissions.begin(form, as)
      begun.add(form)
      return known
    },
    answered: (...answer) => store.submissions.answered(...answer),
    drop: (...run) => store.submissions.drop(...run)
  }
  const submissions = new SharedSubmissions({ ...deps, vault: new PlainVault(), store: watched, nodeId })
  const submit = (form: string, work: () => Promise<string>, { isFinal = true, isKnown = true, looking = Promise.resolve() } = {}) =>
    submissions.answer({ form, isKnown: () => looking.then(() => isKnown) }, work, () => isFinal)
  const hasLooked = (form: string) => until(() => looked.has(form), 'the node has looked for the form')
  const hasBegun = (form: string) => until(() => begun.has(form), 'the node has looked who handles the form')
  return { submit, hasLooked, hasBegun, die: () => client.query('select leave_members($1)', [nodeId]) }
}

const nodes = [await node(), await node(), await node()] as const
const [a, b, c] = nodes
const forms = async () => Number((await client.query('select count(*) from submissions')).rows[0].count)

test('three nodes that are given one form at once handle it once, and later ones get the same answer', async () => {
  for (const round of [1, 2, 3, 4, 5]) {
    const handled: string[] = []
    const gate = Promise.withResolvers<void>()
    const submitted = nodes.map((of, index) =>
      of.submit(`form ${round}`, async () => {
        handled.push(`by ${index}`)
        await gate.promise
        return `answered ${handled.join()}`
      })
    )
    setImmediate(gate.resolve)
    const answers = await Promise.all(submitted)
    assert.equal(handled.length, 1)
    assert.deepEqual([...new Set(answers)], [`answered ${handled[0]}`])
    assert.equal(await c.submit(`form ${round}`, () => assert.fail('it is handled')), answers[0])
  }
})

test('an answer that is not final goes to those who waited for it, and the next one is handled again', async () => {
  const gate = Promise.withResolvers<void>()
  const first = a.submit('again', () => gate.promise.then(() => 'first'), { isFinal: false })
  await a.hasBegun('again')
  const waiting = b.submit('again', async () => 'not this', { isFinal: false })
  await b.hasBegun('again')
  gate.resolve()
  assert.deepEqual([await first, await waiting], ['first', 'first'])
  assert.equal(await c.submit('again', async () => 'second'), 'second')
})

test('an answer that is not final goes to those who had submitted before it, however late their node gets to it', async () => {
  const looking = Promise.withResolvers<void>()
  const late = b.submit('late', async () => 'not this', { isFinal: false, looking: looking.promise })
  await b.hasLooked('late')
  assert.equal(await a.submit('late', async () => 'first', { isFinal: false }), 'first')
  looking.resolve()
  assert.equal(await late, 'first')
  assert.equal(await c.submit('late', async () => 'second'), 'second')
})

test('what failed is handled by the next one, and so is what a node was handling when it died', async () => {
  await assert.rejects(
    a.submit('failed', () => Promise.reject(new Error('down'))),
    /down/
  )
  assert.equal(await b.submit('failed', async () => 'handled'), 'handled')

  const dying = await node()
  void dying.submit('unfinished', () => new Promise(() => undefined))
  await dying.hasBegun('unfinished')
  const next = b.submit('unfinished', async () => 'handled')
  await b.hasBegun('unfinished')
  await dying.die()
  assert.equal(await next, 'handled')
})

test('what belongs to no link leaves no record', async () => {
  const before = await forms()
  for (const of of nodes) assert.equal(await of.submit('guessed', async () => 'refused', { isKnown: false }), 'refused')
  assert.equal(await forms(), before)
})
