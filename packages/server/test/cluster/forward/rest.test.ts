// What a client sees of a request that a node passes on to the owner: nothing.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, before, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { BODY_BYTES_MAX } from '../../../src/http/body.ts'
import { Nodes } from './nodes.ts'

let nodes: Nodes
before(async () => {
  // However long a busy machine takes between two requests, the second reads what the first has read.
  nodes = await Nodes.open({ timing: { freshMs: 600_000 }, http: { trustedProxies: ['loopback'], accessLog: 'all' } })
})
after(() => nodes[Symbol.asyncDispose]())

/** Headers that differ from request to request. */
const OWN = ['date', 'ratelimit-remaining', 'ratelimit-reset']

async function seen(response: Response) {
  const headers = [...response.headers].filter(([name]) => !OWN.includes(name))
  return { status: response.status, headers, body: await response.text() }
}

const READS = [
  ['GET', '/orders'],
  ['GET', '/v1/orders?status=open&limit=5'],
  ['HEAD', '/orders'],
  ['GET', '/accounts'],
  ['GET', '/positions'],
  ['GET', '/connections'],
  ['GET', '/orders/0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'],
  ['GET', '/orders?limit=zero'],
  ['GET', '/orders/not-an-id']
] as const

const BODIES = ['{"account_id":', '{"a":1,"a":2}', '', '[]', '{"surprise":true}', JSON.stringify({ all: true })]

async function sameThrough(method: string, path: string, more: { readonly headers?: object; readonly body?: string } = {}) {
  const asked = { ...more, headers: { ...more.headers, 'x-request-id': 'same-1' } }
  const direct = await seen(await nodes.ask(nodes.owner, method, path, asked))
  const passed = await seen(await nodes.ask(nodes.asked, method, path, asked))
  assert.deepEqual(passed, direct, `${method} ${path} ${more.body ?? ''}`)
  return direct
}

test('bytes and headers are those of the owner, for results and for refusals', async () => {
  for (const [method, path] of READS) await sameThrough(method, path)
  for (const body of BODIES) for (const path of ['/orders', '/orders/cancel']) await sameThrough('POST', path, { body })
  const notJson = await sameThrough('POST', '/orders', { body: 'x', headers: { 'content-type': 'text/plain' } })
  assert.equal(notJson.status, 400)
  assert.equal((await sameThrough('POST', '/orders', { body: '{}', headers: { 'content-encoding': 'gzip' } })).status, 400)
})

test('an order through another node is placed once, with the client’s address and request id in the audit log', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.44', 'x-request-id': 'order-1' }
  const before = nodes.broker.commands.length
  const response = await nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1'), headers })
  const order = JSON.parse(await response.text())
  assert.deepEqual([response.status, order.normalized_status, response.headers.get('x-request-id')], [201, 'working', 'order-1'])
  assert.equal(nodes.broker.commands.length - before, 1)
  const entry = (await nodes.store.audit.list(100)).find(({ action, target }) => action === 'order.place' && target === order.order_id)
  assert.deepEqual([entry?.ip, entry?.requestId, entry?.actor], ['192.0.2.44', 'order-1', `user:${nodes.userKey}`])
  for (const { logged } of [nodes.asked, nodes.owner]) {
    assert.ok(logged.some(({ message, fields }) => message === 'request' && fields.requestId === 'order-1' && fields.status === 201))
  }
  assert.ok(nodes.asked.observed.some(({ route, status }) => route === '/orders' && status === 201))
  assert.ok(!nodes.owner.observed.some(({ route, status }) => route === '/orders' && status === 201), 'it counts once in the metrics')

  const again = await nodes.ask(nodes.asked, 'POST', '/orders', { body: nodes.ticket('c-1') })
  assert.deepEqual([again.status, JSON.parse(await again.text()).order_id], [409, order.order_id])
  const cancelled = await nodes.ask(nodes.asked, 'DELETE', `/accounts/${nodes.accountId}/orders/${order.order_id}`)
  assert.deepEqual([cancelled.status, JSON.parse(await cancelled.text()).normalized_status], [200, 'cancelled'])
})

test('a refused access is audited with the client’s address', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.45', 'x-request-id': 'denied-1' }
  assert.equal((await nodes.ask(nodes.asked, 'GET', `/orders/${nodes.userKey}`, { headers })).status, 404)
  await until(
    async () => (await nodes.store.audit.list(100)).some(({ ip, requestId }) => ip === '192.0.2.45' && requestId === 'denied-1'),
    'the refusal is audited'
  )
})

test('wrong credentials are refused by the node that was asked', async () => {
  let passed = 0
  nodes.owner.onPassedOn = () => {
    passed += 1
  }
  const response = await nodes.ask(nodes.asked, 'GET', '/orders', { headers: { 'user-secret': 'wrong' } })
  assert.deepEqual([response.status, passed], [401, 0])
})

test('a body that is too large is refused by the node that was asked', async () => {
  let passed = 0
  nodes.owner.onPassedOn = () => {
    passed += 1
  }
  const large = JSON.stringify({ note: 'x'.repeat(BODY_BYTES_MAX) })
  const whole = await nodes.ask(nodes.asked, 'POST', '/orders', { body: large })
  assert.deepEqual([whole.status, JSON.parse(await whole.text()).code], [413, 'body_too_large'])
  assert.equal(whole.headers.get('ratelimit-limit'), '4000', 'the platform’s: only the owner knows what the user has left')
  const chunked = request(`${nodes.asked.url}/orders`, {
    method: 'POST',
    headers: { ...nodes.credentials, 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  })
  chunked.on('error', () => undefined)
  chunked.end(large)
  const [answer]: IncomingMessage[] = await once(chunked, 'response')
  answer?.resume()
  assert.deepEqual([answer?.statusCode, passed], [413, 0])
})

test('a request in the absolute form is passed on, however its scheme is written', async () => {
  const { port } = new URL(nodes.asked.url)
  const sent = nodes.asked.suspected.length
  for (const scheme of ['http', 'HTTP', 'Https']) {
    const asked = request({ port, path: `${scheme}://another.example/accounts`, headers: nodes.credentials })
    asked.end()
    const [answer]: IncomingMessage[] = await once(asked, 'response')
    answer?.resume()
    assert.equal(answer?.statusCode, 200, scheme)
  }
  assert.equal(nodes.asked.suspected.length, sent, 'the owner answered at once')
})

test('a chunked body is passed on', async () => {
  const chunked = request(`${nodes.asked.url}/orders/cancel`, {
    method: 'POST',
    headers: { ...nodes.credentials, 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  })
  chunked.write('{"all"')
  chunked.end(':true}')
  const [answer]: IncomingMessage[] = await once(chunked, 'response')
  answer?.resume()
  assert.equal(answer?.statusCode, 200)
})

test('a user is deleted by its owner, although the request has the platform’s credentials only', async () => {
  const { 'user-id': _, 'user-secret': __, ...platform } = nodes.credentials
  const passed: string[] = []
  nodes.owner.onPassedOn = ({ method, url }) => {
    passed.push(`${method} ${url}`)
  }
  const asPlatform = async (method: string, path: string, body?: object) => {
    const json = { ...platform, 'x-forwarded-for': '192.0.2.46', 'content-type': 'application/json' }
    const response = await fetch(`${nodes.asked.url}${path}`, {
      method,
      headers: json,
      body: body === undefined ? null : JSON.stringify(body)
    })
    return [response.status, await response.text()] as const
  }
  assert.equal((await asPlatform('POST', '/users', { user_id: 'Zoë & co' }))[0], 200)
  const path = `/users/${encodeURIComponent('Zoë & co')}`
  const [status, text] = await asPlatform('DELETE', path)
  assert.deepEqual([status, JSON.parse(text)], [200, { user_id: 'Zoë & co' }])
  assert.equal((await asPlatform('DELETE', path))[0], 400)
  assert.deepEqual(passed, [`DELETE ${path}`])
  const entry = (await nodes.store.audit.list(200)).find(({ action }) => action === 'user.delete')
  assert.equal(entry?.ip, '192.0.2.46')
})
