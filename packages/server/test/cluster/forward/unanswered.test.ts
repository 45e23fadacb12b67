// An owner that dies, or is slow, while it executes a request: what the client reads is true.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { StoreCall } from '@trunkline/testkit/watched-store'
import { closed, type NodeOptions, Nodes, nextPassedOn } from './nodes.ts'

/** Results are looked for once. */
function opened(options: NodeOptions = {}): Promise<Nodes> {
  return Nodes.open({ ...options, forwarder: { resultMs: 0, ...options.forwarder } })
}

async function read(response: Response) {
  return { status: response.status, ...JSON.parse(await response.text()) }
}

/** Lets nothing through that is called so, until `open` is called. */
function held(name: string) {
  const gate = Promise.withResolvers<void>()
  let calls = 0
  const intercept = async (call: StoreCall) => {
    if (call.name !== name) return await call.go()
    calls += 1
    await gate.promise
    return await call.go()
  }
  return { intercept, open: () => gate.resolve(), reached: (times = 1) => until(() => calls >= times, `${name} is called`) }
}

test('an owner that dies before the order is stored: the outcome is unknown, and the answer says how to find out', async () => {
  await using nodes = await opened()
  const record = held('orders.record')
  nodes.owner.watched.intercept = record.intercept
  const asked = nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  await record.reached()
  nodes.owner.kill()
  const { status, code, message } = await read(await asked)
  assert.deepEqual([status, code], [500, 'internal'])
  assert.match(message, /^It is unknown whether this was stored\. Read the resource before you send it again/)
  assert.deepEqual(nodes.asked.suspected, [nodes.owner.nodeId])
  record.open()
})

test('an owner that dies while the broker has the order: the answer is the order, pending', async () => {
  await using nodes = await opened({ timing: { commandMs: 500 } })
  nodes.broker.plans.submit.push({ effect: 'none', reply: 'deadline' })
  const asked = nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  await until(() => nodes.broker.commands.length === 1, 'the order is sent')
  nodes.owner.kill()
  const { status, normalized_status: state, cl_order_id: clOrderId } = await read(await asked)
  assert.deepEqual([status, state, clOrderId], [201, 'pending', 'c-1'])
  assert.equal(nodes.broker.commands.length, 1)
})

test('an owner that dies before it has answered: the answer is the order as it is', async () => {
  await using nodes = await opened()
  const passedOn = nextPassedOn(nodes.owner)
  const asked = nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  const [request, response] = await passedOn
  response.end = () => {
    request.socket.destroy()
    return response
  }
  const { status, normalized_status: state, order_id: orderId } = await read(await asked)
  assert.deepEqual([status, state], [201, 'working'])
  assert.equal(JSON.parse(await (await nodes.ask(nodes.owner, 'GET', '/orders')).text()).data[0].order_id, orderId)
  assert.equal(nodes.broker.commands.length, 1)
})

test('a node that stops waits for a request that is still carried out, although nobody waits for its answer any more', async () => {
  await using nodes = await opened()
  const record = held('orders.record')
  nodes.owner.watched.intercept = record.intercept
  const passedOn = nextPassedOn(nodes.owner)
  const asked = nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  const [request, response] = await passedOn
  await record.reached()
  request.socket.destroy()
  await Promise.all([closed(response), asked.then(answer => answer.text())])
  let isIdle = false
  const idle = nodes.owner.idle().then(() => {
    isIdle = true
  })
  assert.equal((await nodes.ask(nodes.owner, 'GET', '/orders')).status, 200)
  assert.equal(isIdle, false)
  record.open()
  await idle
  assert.equal(nodes.broker.commands.length, 1)
})

test('an order with the same cl_order_id for something else is not taken for the result', async () => {
  await using nodes = await opened()
  assert.equal((await nodes.ask(nodes.owner, 'POST', '/orders', { body: nodes.ticket('c-1') })).status, 201)
  for (const other of [{ order_qty: '11' }, { side: 'SELL' }, { order_limit_price: '187.51' }, { order_tif: 'GTC' }]) {
    const passedOn = nextPassedOn(nodes.owner)
    const asked = nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1', other) })
    const [request] = await passedOn
    request.socket.destroy()
    assert.equal((await read(await asked)).status, 500)
  }
})

test('an owner that dies while it cancels all orders: the outcome is unknown; during a read or a preview, the next owner answers', async () => {
  await using nodes = await opened()
  const { asked, owner } = nodes
  const severed = async (method: string, path: string, body?: object) => {
    const passedOn = nextPassedOn(owner)
    const answer = nodes.ask(asked, method, path, body === undefined ? {} : { body })
    const [request] = await passedOn
    owner.onPassedOn = () => undefined
    request.socket.destroy()
    return await answer
  }
  const all = await read(await severed('POST', '/orders/cancel', { all: true }))
  assert.equal(all.status, 500)
  assert.equal((await severed('GET', '/orders')).status, 200)
  const preview = nodes.ticket('c-1')
  const previewed = await severed('POST', '/orders/preview', { ...preview, cl_order_id: undefined })
  assert.equal(previewed.status, 200)
})

test('an owner that is slow is waited for, and answers what it would have answered', async () => {
  await using nodes = await opened({ timing: { answerWithinMs: 150, commandMs: 500 }, forwarder: { formerOwnerMs: 50 } })
  nodes.broker.plans.submit.push({ effect: 'none', reply: 'deadline' })
  const { status, normalized_status: state } = await read(await nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') }))
  assert.deepEqual([status, state], [201, 'pending'])
})

test('a node that is frozen and loses the user is not waited for: what it did not store, the next owner executes', async () => {
  await using nodes = await opened()
  const { asked, owner } = nodes
  const record = held('orders.record')
  const late = Promise.withResolvers<void>()
  owner.watched.intercept = call => {
    const done = record.intercept(call)
    if (call.name === 'orders.record')
      void done.then(
        () => late.resolve(),
        () => late.resolve()
      )
    return done
  }
  const passedOn = nextPassedOn(owner)
  const answer = nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  const [, response] = await passedOn
  await record.reached()
  asked.areOthersLiving = false
  asked.ownership.toThis()
  const placed = await read(await answer)
  assert.deepEqual([placed.status, placed.cl_order_id], [201, 'c-1'])
  await closed(response)
  record.open()
  await late.promise
  assert.equal(nodes.broker.commands.length, 1)
})

test('what a frozen node has stored is answered with, and not executed again', async () => {
  await using nodes = await opened()
  const { asked, owner } = nodes
  const begin = held('orders.record')
  owner.watched.intercept = async call => {
    const stored = await call.go()
    if (call.name === 'orders.record') await begin.intercept({ ...call, go: async () => stored })
    return stored
  }
  const answer = nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  await begin.reached()
  asked.areOthersLiving = false
  asked.ownership.toThis()
  const placed = await read(await answer)
  assert.deepEqual([placed.status, placed.normalized_status], [201, 'pending'])
  assert.equal(nodes.broker.commands.length, 0)
  begin.open()
})

test('an order that a living node sends although it has lost the user is answered as it is stored', async () => {
  await using nodes = await opened()
  const { asked, owner } = nodes
  nodes.broker.plans.submit.push({ effect: 'none', reply: 'never' })
  const answer = nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  await until(() => nodes.broker.commands.length === 1, 'the order is sent')
  asked.ownership.toThis()
  owner.ownership.set({ kind: 'none' })
  const placed = await read(await answer)
  assert.deepEqual([placed.status, placed.normalized_status, placed.cl_order_id], [201, 'pending', 'c-1'])
  assert.equal(asked.suspected.length, 1)
  assert.equal(nodes.broker.commands.length, 1)
})

test('an owner that dies before the order is stored: the next one executes it', async () => {
  await using nodes = await opened({ forwarder: { resultMs: 60_000 } })
  const { asked, owner } = nodes
  const passedOn = nextPassedOn(owner)
  const answer = nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  const [request] = await passedOn
  owner.onPassedOn = () => undefined
  request.socket.destroy()
  await until(() => asked.suspected.length === 1, 'the owner is suspected')
  asked.ownership.toThis()
  assert.equal((await answer).status, 201)
  // A busy machine answers that it is pending before it is sent.
  await until(() => nodes.broker.commands.length > 0, 'the order is sent')
  assert.equal(nodes.broker.commands.length, 1)
})

/** A cancel of one order and a modification of another, both through the asked node. */
async function twoChanges(nodes: Nodes) {
  const { asked, owner, accountId } = nodes
  const [first, second] = [
    await read(await nodes.ask(owner, 'POST', '/orders', { body: nodes.ticket('c-1') })),
    await read(await nodes.ask(owner, 'POST', '/orders', { body: nodes.ticket('c-2') }))
  ]
  const at = (order: { readonly order_id: string }) => `/accounts/${accountId}/orders/${order.order_id}`
  const begin = () => {
    const cancel = nodes.ask(asked, 'DELETE', at(first))
    const { broker } = second
    const modify = nodes.ask(asked, 'PATCH', at(second), { body: { new_cl_order_id: 'c-3', broker, order_qty: '11' } })
    return async () => ({ cancelled: await read(await cancel), modified: await read(await modify) })
  }
  const sent = () => nodes.broker.commands.map(({ kind }) => kind).filter(kind => kind !== 'submit')
  return { begin, sent, replaces: second.order_id }
}

test('a cancel and a modification that a frozen node has stored are answered with, and not executed again', async () => {
  await using nodes = await opened()
  const { begin, sent, replaces } = await twoChanges(nodes)
  for (const plans of [nodes.broker.plans.cancel, nodes.broker.plans.replace]) plans.push({ effect: 'none', reply: 'never' })
  const answers = begin()
  await until(() => sent().length === 2, 'both are sent')
  nodes.asked.areOthersLiving = false
  nodes.asked.ownership.toThis()
  const { cancelled, modified } = await answers()
  assert.deepEqual([cancelled.status, cancelled.normalized_status], [200, 'pending_cancel'])
  assert.deepEqual([modified.status, modified.normalized_status, modified.order_qty], [200, 'pending', '11'])
  assert.deepEqual([modified.cl_order_id, modified.replaces_order_id], ['c-3', replaces])
  assert.deepEqual(sent().sort(), ['cancel', 'replace'])
})

test('a cancel and a modification that a frozen node has not stored are executed by the next owner', async () => {
  await using nodes = await opened()
  const { begin, sent, replaces } = await twoChanges(nodes)
  const record = held('orders.record')
  nodes.owner.watched.intercept = record.intercept
  const answers = begin()
  await record.reached(2)
  nodes.asked.areOthersLiving = false
  nodes.asked.ownership.toThis()
  const { cancelled, modified } = await answers()
  assert.deepEqual([cancelled.status, cancelled.normalized_status], [200, 'cancelled'])
  assert.deepEqual([modified.status, modified.normalized_status, modified.replaces_order_id], [200, 'working', replaces])
  assert.deepEqual(sent().sort(), ['cancel', 'replace'])
  record.open()
})

test('an answer that breaks off, or is too long, counts as none', async () => {
  await using nodes = await opened({ clients: { answerMax: 200 } })
  const long = await read(await nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') }))
  assert.deepEqual([long.status, long.cl_order_id], [201, 'c-1'])
  const passedOn = nextPassedOn(nodes.owner)
  const asked = nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-2') })
  const [request, response] = await passedOn
  response.end = () => {
    response.write('{"cl_order_id":')
    setImmediate(() => request.socket.destroy())
    return response
  }
  const broken = await read(await asked)
  assert.deepEqual([broken.status, broken.cl_order_id, nodes.broker.commands.length], [201, 'c-2', 2])
})
