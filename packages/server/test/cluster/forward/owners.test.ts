// Owners that change, and nodes that disagree about them.
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Nodes, type TestNode } from './nodes.ts'

const SHORT = { forwarder: { ownerMs: 300 } }

async function problem(response: Response) {
  return [response.status, JSON.parse(await response.text()).code, response.headers.get('retry-after')]
}

test('a request waits while its user is moved, and is then passed on, or executed by the node that was asked', async () => {
  await using nodes = await Nodes.open()
  const { asked, owner } = nodes
  const moved = async (to: () => void) => {
    asked.ownership.set({ kind: 'none' })
    asked.ownership.onWait = () => {
      asked.ownership.onWait = () => undefined
      to()
    }
  }
  await moved(() => asked.ownership.to(owner))
  assert.equal((await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })).status, 201)
  assert.equal(owner.observed.length, 0)
  await moved(() => asked.ownership.toThis())
  const placed = await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-2') })
  assert.deepEqual([placed.status, JSON.parse(await placed.text()).cl_order_id], [201, 'c-2'])
  await moved(() => asked.ownership.toThis())
  assert.equal((await nodes.ask(asked, 'GET', '/orders')).status, 200)
  await moved(() => asked.ownership.toThis())
  assert.equal((await nodes.ask(asked, 'POST', '/orders', { body: '{"a":' })).status, 400)
  assert.equal(nodes.broker.commands.length, 2)
})

test('a user without an owner is refused after a while, and nothing is done', async () => {
  await using nodes = await Nodes.open(SHORT)
  nodes.asked.ownership.set({ kind: 'none' })
  const refused = await nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  assert.deepEqual(await problem(refused), [503, 'store_unavailable', '1'])
  assert.equal(nodes.broker.commands.length, 0)
})

test('a request is never passed on twice: nodes that take each other for the owner refuse it in the end', async () => {
  await using nodes = await Nodes.open(SHORT)
  const { asked, owner } = nodes
  owner.ownership.to(asked)
  let toOwner = 0
  let toAsked = 0
  owner.onPassedOn = () => {
    toOwner += 1
  }
  asked.onPassedOn = () => {
    toAsked += 1
  }
  const refused = await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  assert.deepEqual(await problem(refused), [503, 'store_unavailable', '1'])
  assert.ok(!refused.headers.has('trunkline-not-executed'))
  assert.ok(toOwner >= 1 && toOwner <= 5, `${toOwner}`)
  assert.deepEqual([toAsked, nodes.broker.commands.length], [0, 0])
})

test('a node that leaves the others refuses no client, and each response ends its connection', async () => {
  let isLeaving = false
  await using nodes = await Nodes.open({ http: { isLeaving: () => isLeaving } })
  const { asked } = nodes
  const agent = new Agent({ keepAlive: true })
  const ask = (path: string) =>
    new Promise<readonly unknown[]>((resolve, reject) => {
      const sent = request(`${asked.url}${path}`, { agent, headers: nodes.credentials }, response => {
        response.resume().once('end', () => resolve([response.statusCode, response.headers.connection]))
      })
      sent.once('error', reject).end()
    })
  assert.deepEqual(await ask('/orders'), [200, 'keep-alive'])
  isLeaving = true
  assert.deepEqual(await ask('/orders'), [200, 'close'])
  assert.deepEqual(await ask('/brokers'), [200, 'close'])
  assert.equal((await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })).status, 201)
  const closed = Promise.withResolvers<void>()
  nodes.owner.onPassedOn = () => void asked.http.close().then(closed.resolve, closed.reject)
  assert.deepEqual(await ask('/orders'), [200, 'close'])
  await closed.promise
})

test('an owner that is shutting down executes nothing, and the request goes to the next owner', async () => {
  await using nodes = await Nodes.open()
  const { asked, owner } = nodes
  // Fastify announces the end of the server to its hooks before it closes anything.
  await owner.http.close()
  owner.onPassedOn = () => asked.ownership.toThis()
  const placed = await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  assert.deepEqual([placed.status, nodes.broker.commands.length], [201, 1])
})

test('an owner that cannot be reached was sent nothing, and the request goes to the next owner', async () => {
  await using nodes = await Nodes.open()
  const { asked, owner } = nodes
  owner.kill()
  asked.ownership.onWait = () => asked.ownership.toThis()
  const placed = await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  assert.deepEqual([placed.status, nodes.broker.commands.length], [201, 1])
  assert.deepEqual(asked.suspected, [owner.nodeId])
  assert.deepEqual(
    asked.counted.filter(name => name.startsWith('requests')),
    ['requests_passed_on_total not_sent']
  )
})

test('a request whose client has left is executed all the same, with the client’s address in the audit log', async () => {
  await using nodes = await Nodes.open()
  const { asked, owner, broker } = nodes
  asked.ownership.set({ kind: 'none' })
  const waits = new Promise<void>(resolve => {
    asked.ownership.onWait = resolve
  })
  const body = JSON.stringify(nodes.ticket('c-1'))
  const headers = { ...nodes.credentials, 'content-type': 'application/json' }
  const left = request(`${asked.url}/orders`, { method: 'POST', headers })
  left.on('error', () => undefined)
  left.end(body)
  await waits
  left.destroy()
  await until(async () => (await connectionsOf(asked)) === 0, 'the node notices')
  asked.ownership.to(owner)
  await until(() => broker.commands.length === 1, 'the order is sent')
  const entry = (await nodes.store.audit.list(10)).find(({ action }) => action === 'order.place')
  assert.equal(entry?.ip, '127.0.0.1')
})

function connectionsOf({ http }: TestNode): Promise<number> {
  return new Promise((resolve, reject) => {
    http.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
