// What operators have the owner of a user do, asked for at any of three nodes: it is done once, there, and on record.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import type { NodeId, OperatorKeyId, UserKey } from '@trunkline/core/domain/ids'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import type { StoreCall } from '@trunkline/testkit/watched-store'
import { NodeFault } from '../../../src/cluster/forward/node-client.ts'
import { forwarderLimits, NodeForwarder } from '../../../src/cluster/forward/node-forwarder.ts'
import { NoAnswer } from '../../../src/http/forwarder.ts'
import { CHANGES_PATH } from '../../../src/operators/nodes/changes.ts'
import { HASHER, Nodes, nextPassedOn, TestNode } from './nodes.ts'
import { ScriptedOwnership } from './scripted-ownership.ts'

const SINCE = parseTimestamp('2026-01-05T14:00:00Z', 'time')
const SECRET = 'ok_for_the_tests_of_this_file'
const BECAUSE = 'the broker confirmed it by telephone'
/** A broker that knows no id of ours, and orders that may be ended as soon as their outcome is unknown. */
const OPTIONS = {
  capabilities: { deduplication: 'none' },
  timing: { commandMs: 500, absenceMs: { enforced: 60_000, bounded: 120_000, open_only: 120_000, label: 0 } },
  forwarder: { resultMs: 0, ownerMs: 300 },
  http: { trustedProxies: ['loopback'] }
} as const

let nodes: Nodes
let third: TestNode
before(async () => {
  nodes = await Nodes.open(OPTIONS)
  third = new TestNode(nodes.store, nodes.broker, OPTIONS)
  await third.start()
  ownedBy(nodes.owner)
  const key = { keyId: make.uuid<OperatorKeyId>(), name: 'tests', scopes: ['manage'], createdBy: 'ada@host', createdAt: SINCE } as const
  await nodes.store.operators.createKey({ ...key, lastUsedAt: null, expiresAt: null }, HASHER.hash(SECRET), 10, make.audit())
})
after(async () => {
  await third[Symbol.asyncDispose]()
  await nodes[Symbol.asyncDispose]()
})

/** What all three nodes know. */
function ownedBy(owner: TestNode): void {
  for (const node of [nodes.asked, nodes.owner, third]) {
    if (node === owner) node.ownership.toThis()
    else node.ownership.to(owner)
  }
}

async function ask(node: TestNode, path: string, body?: object, headers: object = {}) {
  const response = await fetch(`${node.url}/admin/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  return { status: response.status, ...JSON.parse(await response.text()) }
}

const end = (node: TestNode, orderId: string, headers: object = {}) =>
  ask(node, `/orders/${orderId}/never-received`, { because: BECAUSE, unseen: true }, headers)

/** An order whose request was lost on its way. */
async function lose(name: string): Promise<string> {
  nodes.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  const order = JSON.parse(await (await nodes.ask(nodes.owner, 'POST', '/orders', { body: nodes.ticket(name) })).text())
  assert.deepEqual([order.normalized_status, order.submission?.state], ['pending', 'unknown'])
  return order.order_id
}

async function entriesOf(target: string, action: string) {
  return (await nodes.store.audit.list(1_000)).filter(entry => entry.target === target && entry.action === action)
}

/** Holds what is to be stored of orders at the node, until `open` is called. */
function heldAt(node: TestNode) {
  const gate = Promise.withResolvers<void>()
  let calls = 0
  node.watched.intercept = async (call: StoreCall) => {
    if (call.name !== 'orders.record') return await call.go()
    calls += 1
    await gate.promise
    return await call.go()
  }
  return {
    reached: () => until(() => calls > 0, 'something is to be stored'),
    open: () => {
      node.watched.intercept = null
      gate.resolve()
    }
  }
}

test('any node has an order ended by the owner, once, with the operator’s name, address and request id in the audit entry', async () => {
  const orderId = await lose('lost-1')
  const ended = await end(third, orderId, { 'x-forwarded-for': '192.0.2.44', 'x-request-id': 'end-1' })
  assert.deepEqual([ended.status, ended.normalized_status, ended.submission?.method], [200, 'rejected', 'operator'], JSON.stringify(ended))
  const [entry, ...more] = await entriesOf(orderId, 'order.never_received')
  assert.deepEqual(more, [])
  assert.deepEqual([entry?.actor, entry?.ip, entry?.requestId], ['operator', '192.0.2.44', 'end-1'])
  assert.deepEqual(entry?.detail, { by: 'ada@host (key tests)', because: BECAUSE, unseen: true })
  for (const node of [nodes.asked, nodes.owner, third]) {
    const again = await end(node, orderId)
    assert.deepEqual([again.status, again.code], [409, 'order_not_settled'])
    assert.match(again.message, /outcome .* is known: it is rejected/)
  }
  assert.equal((await entriesOf(orderId, 'order.never_received')).length, 1)
})

test('of three at once, through three nodes, one ends the order', async () => {
  const orderId = await lose('lost-2')
  const answers = await Promise.all([nodes.asked, nodes.owner, third].map(node => end(node, orderId)))
  assert.ok(answers.some(({ status }) => status === 200))
  for (const { status, code } of answers) assert.ok(status === 200 || code === 'order_not_settled', code)
  assert.equal((await entriesOf(orderId, 'order.never_received')).length, 1)
})

test('a connection is read again by the owner, whichever node is asked', async () => {
  const { connectionId } = nodes
  for (const node of [nodes.asked, third, nodes.owner]) {
    const { status, connection_id: id, data } = await ask(node, `/connections/${connectionId}/read-again`)
    assert.deepEqual([status, id], [200, connectionId])
    assert.deepEqual(data.map(({ records }: { records: string }) => records).sort(), ['balances', 'orders', 'positions'])
  }
  assert.equal((await entriesOf(connectionId, 'connection.read_again')).length, 3)
})

test('what is missing is said, and a key without the scope has nothing done', async () => {
  const absent = make.uuid()
  for (const node of [nodes.asked, nodes.owner]) {
    assert.equal((await end(node, absent)).code, 'order_not_found')
    assert.equal((await ask(node, `/connections/${absent}/read-again`)).code, 'connection_not_found')
  }
  let passed = 0
  nodes.owner.onPassedOn = () => {
    passed += 1
  }
  const refused = await end(nodes.asked, absent, { authorization: 'Bearer ok_of_nobody' })
  assert.deepEqual([refused.status, passed], [401, 0])
  nodes.owner.onPassedOn = () => undefined
})

test('an owner that dies before it answers: the answer is the order that it ended', async () => {
  const orderId = await lose('lost-3')
  const passedOn = nextPassedOn(nodes.owner)
  const asked = end(nodes.asked, orderId)
  const [request, response] = await passedOn
  nodes.owner.onPassedOn = () => undefined
  response.end = () => {
    request.socket.destroy()
    return response
  }
  const { status, normalized_status: state } = await asked
  assert.deepEqual([status, state], [200, 'rejected'])
  assert.equal((await entriesOf(orderId, 'order.never_received')).length, 1)
})

test('an owner that gives no answer: it is unknown, the answer says to read the order again, and a repetition ends it no second time', async () => {
  const orderId = await lose('lost-4')
  const held = heldAt(nodes.owner)
  const passedOn = nextPassedOn(nodes.owner)
  const asked = end(nodes.asked, orderId)
  const [request] = await passedOn
  nodes.owner.onPassedOn = () => undefined
  await held.reached()
  request.socket.destroy()
  const { status, code, message } = await asked
  assert.deepEqual([status, code], [500, 'internal'])
  assert.match(message, new RegExp(`^It is unknown whether this was done: node ${nodes.owner.nodeId}, .* Read the order again`))
  held.open()
  await until(async () => (await entriesOf(orderId, 'order.never_received')).length === 1, 'it is ended after all')
  assert.equal((await end(third, orderId)).code, 'order_not_settled')
  assert.equal((await entriesOf(orderId, 'order.never_received')).length, 1)
})

test('a connection that may have been read is not read a second time by itself', async () => {
  let passed = 0
  nodes.owner.onPassedOn = request => {
    passed += 1
    request.socket.destroy()
  }
  const { status, message } = await ask(nodes.asked, `/connections/${nodes.connectionId}/read-again`)
  nodes.owner.onPassedOn = () => undefined
  assert.deepEqual([status, passed], [500, 1])
  assert.match(message, /unknown .* Read the connection again/)
})

test('an order whose owner was replaced before it stored anything is ended by the next owner, once', async () => {
  const orderId = await lose('lost-5')
  const held = heldAt(nodes.owner)
  const passedOn = nextPassedOn(nodes.owner)
  const asked = end(nodes.asked, orderId)
  const [, response] = await passedOn
  nodes.owner.onPassedOn = () => undefined
  const isDone = once(response, 'finish')
  await held.reached()
  ownedBy(third)
  const { status, normalized_status: state } = await asked
  assert.deepEqual([status, state], [200, 'rejected'])
  held.open()
  await isDone
  assert.equal((await entriesOf(orderId, 'order.never_received')).length, 1)
  ownedBy(nodes.owner)
})

test('a user without an owner: nothing is done', async () => {
  const orderId = await lose('lost-6')
  nodes.asked.ownership.set({ kind: 'none' })
  const refused = await end(nodes.asked, orderId)
  assert.deepEqual([refused.status, refused.code], [503, 'store_unavailable'])
  nodes.asked.ownership.to(nodes.owner)
  nodes.owner.ownership.to(nodes.asked)
  const wrong = await end(nodes.asked, orderId)
  assert.deepEqual([wrong.status, wrong.code], [503, 'store_unavailable'])
  ownedBy(nodes.owner)
  assert.deepEqual(await entriesOf(orderId, 'order.never_received'), [])
})

test('an owner of a version without this does nothing, and the answer says so', async () => {
  const orderId = await lose('lost-7')
  nodes.owner.takesChanges = false
  const { status, code, message } = await end(nodes.asked, orderId)
  nodes.owner.takesChanges = true
  assert.deepEqual([status, code], [503, 'store_unavailable'])
  assert.match(message, /version .* nothing was done/)
  assert.deepEqual(await entriesOf(orderId, 'order.never_received'), [])
})

test('no client reaches what nodes pass on', async () => {
  const body = JSON.stringify({ operator: 'eve', userKey: nodes.userKey, change: { kind: 'read_again', connectionId: nodes.connectionId } })
  const headers = { ...nodes.credentials, 'content-type': 'application/json' }
  for (const node of [nodes.asked, nodes.owner]) {
    const response = await fetch(`${node.url}${CHANGES_PATH}`, { method: 'POST', headers, body })
    assert.equal(response.status, 404)
  }
})

test('an owner that lives and does not answer is waited for as long as the request says', async () => {
  const clock = new VirtualClock()
  const ownership = new ScriptedOwnership()
  ownership.to({ nodeId: make.uuid<NodeId>(), nodeUrl: 'http://127.0.0.1:9' })
  const silent = (_node: unknown, _request: unknown, signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new NodeFault('maybe', 'given up'))))
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const deps = { ownership, clock, log, meter: { count() {} }, clients: { pass: silent }, suspect() {}, isLiving: () => true }
  const forwarder = new NodeForwarder(deps, forwarderLimits(5_000))
  const platformAllowance = { limit: 0, remaining: 0, resetSeconds: 0, retryAfterSeconds: null }
  let isOver = false
  const passed = assert
    .rejects(
      forwarder.pass({
        ...{ userKey: make.uuid<UserKey>(), method: 'POST', url: CHANGES_PATH, headers: {}, address: '', requestId: 'r-1' },
        ...{ platformAllowance, body: Buffer.alloc(0), hasEffect: true, hasResult: false, answerMs: 35_000 }
      }),
      NoAnswer
    )
    .then(() => {
      isOver = true
    })
  await clock.advance(34_000)
  assert.equal(isOver, false)
  await clock.advance(1_200)
  await passed
})
