import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { test } from 'node:test'
import { carryOut, change, fieldsOf, get, isOutcomeUnknown, isSignedOut, Refusal, send } from '../src/api.ts'
import type { ApiRequest } from '../src/snippets.ts'

/** A service on a real socket that answers as it is given. */
async function answering(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

const GET_X: ApiRequest = { method: 'GET', path: '/admin/v1/x' }

/** Below an origin, as the page's own address is in a browser. */
const at = (origin: string, request: ApiRequest): ApiRequest => ({ ...request, path: origin + request.path })

async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause
  )
  assert.ok(error instanceof Refusal, `expected a refusal, got ${error}`)
  return error
}

test('an answer is read as it is, and one without a body is null', async () => {
  await using service = await answering(({ url }, response) => {
    if (url?.startsWith('/admin/v1/empty') === true) response.writeHead(204).end()
    else response.end('{"price":"1.10","seq":7,"none":null}')
  })
  assert.deepEqual(await send(at(service.origin, GET_X)), { price: '1.10', seq: 7, none: null })
  assert.equal(await send(at(service.origin, { ...GET_X, path: '/admin/v1/empty' })), null)
})

test('a refusal has the code, message and request id of the service, and the time to wait', async () => {
  await using service = await answering((_request, response) => {
    const headers = { 'content-type': 'application/problem+json', 'retry-after': '7', 'x-request-id': 'of the header' }
    response.writeHead(429, headers).end('{"code":"rate_limited","message":"Wait 7 s.","request_id":"r-1"}')
  })
  const refusal = await refusalOf(send(at(service.origin, GET_X)))
  assert.deepEqual(
    [refusal.status, refusal.code, refusal.message, refusal.requestId, refusal.retryAfterSeconds],
    [429, 'rate_limited', 'Wait 7 s.', 'r-1', 7]
  )
  assert.equal(isSignedOut(refusal), false)
})

test('a refusal of something between the service and the page is no success and no code of the service', async () => {
  await using service = await answering(({ url }, response) => {
    const isPage = url?.endsWith('/page') === true
    response.writeHead(isPage ? 200 : 502, { 'content-type': 'text/html', 'x-request-id': 'r-2' }).end('<h1>Bad gateway</h1>')
  })
  const gateway = await refusalOf(send(at(service.origin, GET_X)))
  assert.deepEqual([gateway.status, gateway.code, gateway.requestId], [502, 'status_502', 'r-2'])
  const page = await refusalOf(send(at(service.origin, { ...GET_X, path: '/admin/v1/page' })))
  assert.deepEqual([page.status, page.code], [200, 'answer_unreadable'])
  assert.match(page.message, /text\/html/)
})

test('a session has ended only where the service says so: a scope that it lacks has the same status, and so may an answer of a proxy', async () => {
  await using service = await answering(({ url }, response) => {
    const [code, status = '401'] = url?.split('/').slice(-2) ?? []
    response.writeHead(Number(status)).end(code === 'none' ? '<h1>Unauthorized</h1>' : JSON.stringify({ code, message: 'No.' }))
  })
  const after = async (code: string) => isSignedOut(await refusalOf(send(at(service.origin, { ...GET_X, path: `/admin/v1/${code}/401` }))))
  assert.deepEqual(await Promise.all(['credentials_invalid', 'scope_missing', 'none'].map(after)), [true, false, false])
  assert.equal(isSignedOut(new Error('401')), false)
})

test('a service that does not answer, or breaks off, is unreachable, with what to do', async () => {
  await using service = await answering(({ url }, response) => {
    if (url?.endsWith('/half') === true) {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"half":', () => response.destroy())
    } else response.destroy()
  })
  for (const path of ['/none', '/half']) {
    const refusal = await refusalOf(send(at(service.origin, { ...GET_X, path: `/admin/v1${path}` })))
    assert.deepEqual([refusal.status, refusal.code, refusal.requestId], [0, 'unreachable', null], path)
    assert.match(refusal.message, /try again/)
  }
})

test('a redirect is not followed: the session goes to no other address', async () => {
  const asked: (string | undefined)[] = []
  await using service = await answering(({ url }, response) => {
    asked.push(url)
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  assert.equal((await refusalOf(send(at(service.origin, GET_X)))).code, 'unreachable')
  assert.deepEqual(asked, ['/admin/v1/x'])
})

test('methods that change something have the header that other sites cannot send, and bodies are JSON', async () => {
  const seen: unknown[] = []
  await using service = await answering(async (request, response) => {
    const body = (await request.toArray()).join('')
    const { 'x-trunkline-operator': operator, 'content-type': type } = request.headers
    seen.push([request.method, operator, type, body])
    response.writeHead(204).end()
  })
  await send(at(service.origin, GET_X))
  await send(at(service.origin, { method: 'POST', path: '/x', body: { code: 'abc' } }))
  await send(at(service.origin, { method: 'DELETE', path: '/x' }))
  assert.deepEqual(seen, [
    ['GET', undefined, undefined, ''],
    ['POST', '1', 'application/json', '{"code":"abc"}'],
    ['DELETE', '1', undefined, '']
  ])
})

test('a request that its page no longer needs ends with the reason, and is no failure of the service', async () => {
  const stop = new AbortController()
  const reason = new Error('the page was left')
  await using service = await answering(() => stop.abort(reason))
  await assert.rejects(send(at(service.origin, GET_X), stop.signal), error => error === reason)
})

test('what is no object has no members', () => {
  for (const value of [null, 7, 'text', ['a'], undefined]) assert.deepEqual(fieldsOf(value), {})
  assert.deepEqual(fieldsOf({ code: 'x' }), { code: 'x' })
})

test('the parts of a path are encoded, so that no id leads to another operation', () => {
  const { path, query } = get('/orders/{order_id}/steps', { order_id: '../users?x=1#y' })
  assert.equal(path, '/admin/v1/orders/..%2Fusers%3Fx%3D1%23y/steps')
  assert.deepEqual(query, {})
  assert.deepEqual(get('/orders', {}, { user: 'a', connection: undefined }).query, { user: 'a', connection: undefined })
})

test('a change is sent once, with its parts encoded and its body', async () => {
  const seen: unknown[] = []
  await using service = await answering(async (request, response) => {
    seen.push([request.method, request.url, (await request.toArray()).join('')])
    response.writeHead(503).end('{"code":"store_unavailable","message":"Later."}')
  })
  const parts = { platform_id: 'a/b', endpoint_id: 'c' }
  const request = change('PATCH /platforms/{platform_id}/webhook-endpoints/{endpoint_id}', parts, { description: 'x' })
  await refusalOf(carryOut(at(service.origin, request)))
  assert.deepEqual(seen, [['PATCH', '/admin/v1/platforms/a%2Fb/webhook-endpoints/c', '{"description":"x"}']])
})

test('a change is refused only where the service says so with a code that knows: else it is unknown whether it was made', () => {
  const refusal = (status: number, code: string) => new Refusal('', { status, code, requestId: null, retryAfterSeconds: null })
  const known = [
    refusal(409, 'order_not_settled'),
    refusal(503, 'store_unavailable'),
    refusal(401, 'scope_missing'),
    refusal(429, 'rate_limited')
  ]
  for (const error of known) assert.equal(isOutcomeUnknown(error), false, error.code)
  const unknown = [
    ...[refusal(0, 'unreachable'), refusal(200, 'answer_unreadable'), refusal(502, 'status_502'), refusal(500, 'internal')],
    ...[refusal(408, 'status_408'), refusal(503, 'sandbox_unavailable'), new Error('aborted')]
  ]
  for (const error of unknown) assert.equal(isOutcomeUnknown(error), true, error.message)
})
