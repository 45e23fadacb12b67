import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { selfSigned } from '@trunkline/testkit/certificate'
import { until } from '@trunkline/testkit/until'
import { HttpClient, type HttpLimits, type HttpRequest, limitsIn, retryAfterMs, TransportFault } from '../../src/kit/http.ts'
import { json, ScriptedHost } from '../support/scripted-host.ts'

const GET: HttpRequest = { method: 'GET', path: '/x', headers: [] }
const POST: HttpRequest = { method: 'POST', path: '/orders', headers: ['content-type', 'application/json'], body: '{"a":"1"}' }
const never = new AbortController().signal

function client(origin: string, limits: Partial<HttpLimits> = {}): HttpClient {
  return new HttpClient({ origin, plain: true, limits })
}

function fault(expected: Partial<TransportFault>): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof TransportFault, String(error))
    assert.deepEqual({ sent: error.sent, reason: error.reason }, { sent: expected.sent, reason: expected.reason })
    return true
  }
}

test('any status is an answer, and a redirect is not followed', async () => {
  await using host = await ScriptedHost.start((_, response) => json(response, 302, { a: 1 }, { location: '/elsewhere' }))
  await using http = client(host.origin)
  const reply = await http.send(POST, never)
  assert.equal(reply.status, 302)
  assert.equal(reply.body, '{"a":1}')
  assert.deepEqual(
    host.seen.map(seen => [seen.method, seen.path, seen.body]),
    [['POST', '/orders', '{"a":"1"}']]
  )
})

test('a refused connection is proof that nothing was sent', async () => {
  const origin = await unusedOrigin()
  await using http = client(origin)
  await assert.rejects(http.send(POST, never), fault({ sent: 'none', reason: 'not_connected' }))
})

test('a reset before, during and after the headers may have been sent', async () => {
  for (const where of ['before', 'during', 'after'] as const) {
    await using host = await ScriptedHost.start((_, response, request) => {
      if (where === 'during') response.writeHead(200, { 'content-length': '100' }).write('half')
      if (where === 'after') response.writeHead(200).flushHeaders()
      setImmediate(() => request.socket.resetAndDestroy())
    })
    await using http = client(host.origin)
    await assert.rejects(http.send(POST, never), fault({ sent: 'maybe', reason: 'lost' }), where)
  }
})

test('a socket that dies as the next request is written does not make it go twice', async () => {
  const received: string[] = []
  const server = createServer(socket => {
    let requests = 0
    socket.on('error', () => undefined)
    socket.on('data', data => {
      received.push(data.toString().split(' ')[1] ?? '')
      requests += 1
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      else socket.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using http = client(originOf(server.address()), { connections: 1 })
  assert.equal((await http.send({ ...POST, path: '/1' }, never)).body, 'ok')
  await assert.rejects(http.send({ ...POST, path: '/2' }, never), fault({ sent: 'maybe', reason: 'lost' }))
  // A GET is what HTTP libraries like to repeat on their own.
  assert.equal((await http.send({ ...GET, path: '/3' }, never)).body, 'ok')
  await assert.rejects(http.send({ ...GET, path: '/4' }, never), fault({ sent: 'maybe', reason: 'lost' }))
  assert.deepEqual(received, ['/1', '/2', '/3', '/4'])
  server.close()
})

test('given up while waiting for a socket: never written', async () => {
  const first = Promise.withResolvers<void>()
  await using host = await ScriptedHost.start(async (seen, response) => {
    if (seen.path === '/first') await first.promise
    json(response, 200, {})
  })
  await using http = client(host.origin, { connections: 1 })
  const holding = http.send({ ...GET, path: '/first' }, never)
  await until(() => host.seen.length === 1, 'the first request has arrived')
  const giveUp = new AbortController()
  const waiting = http.send({ ...POST, path: '/second' }, giveUp.signal)
  giveUp.abort()
  await assert.rejects(waiting, fault({ sent: 'none', reason: 'aborted' }))
  first.resolve()
  await holding
  await http.send({ ...GET, path: '/third' }, never)
  assert.deepEqual(
    host.seen.map(seen => seen.path),
    ['/first', '/third']
  )
})

test('given up before and after sending', async () => {
  await using host = await ScriptedHost.start(() => undefined)
  await using http = client(host.origin)
  await assert.rejects(http.send(POST, AbortSignal.abort()), fault({ sent: 'none', reason: 'aborted' }))
  const giveUp = new AbortController()
  const sent = http.send(POST, giveUp.signal)
  await until(() => host.seen.length === 1, 'the request has arrived')
  giveUp.abort()
  await assert.rejects(sent, fault({ sent: 'maybe', reason: 'aborted' }))
})

test('no answer in time may have been sent', async () => {
  await using host = await ScriptedHost.start(() => undefined)
  await using http = client(host.origin, { headersMs: 50 })
  await assert.rejects(http.send(POST, never), fault({ sent: 'maybe', reason: 'timeout' }))
})

test('an answer that is too long, compressed or not UTF-8 is refused [S77]', async () => {
  const bodies: readonly (readonly [Buffer, Record<string, string>])[] = [
    [Buffer.alloc(2_000, 'x'), {}],
    [gzipSync('{}'), { 'content-encoding': 'gzip' }],
    [Buffer.of(0x22, 0xff, 0x22), {}]
  ]
  const reasons: string[] = []
  for (const [body, headers] of bodies) {
    await using host = await ScriptedHost.start((_, response) => void response.writeHead(200, headers).end(body))
    await using http = client(host.origin, { bodyMax: 1_000 })
    await http.send(GET, never).catch((error: TransportFault) => reasons.push(`${error.sent} ${error.reason}`))
  }
  assert.deepEqual(reasons, ['maybe too_large', 'maybe unreadable', 'maybe unreadable'])
})

test('more requests than the bound are refused before sending, and capacity comes back', async () => {
  const held: (() => void)[] = []
  await using host = await ScriptedHost.start((_, response) => void held.push(() => json(response, 200, {})))
  await using http = client(host.origin, { connections: 2, requestsMax: 3 })
  const sent = [http.send(GET, never), http.send(GET, never), http.send(GET, never)]
  await assert.rejects(http.send(GET, never), fault({ sent: 'none', reason: 'busy' }))
  await until(() => held.length === 2, 'both sockets are taken')
  host.script((_, response) => json(response, 200, {}))
  for (const answer of held) answer()
  await Promise.all(sent)
  assert.equal((await http.send(GET, never)).status, 200)
})

test('a broker must be encrypted, and its certificate must hold, whatever the environment says [S78]', async context => {
  assert.throws(() => new HttpClient({ origin: 'http://broker.example' }), TypeError)
  const good = selfSigned(30)
  const expired = selfSigned(30, Date.now() - 90 * 86_400_000)
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  context.after(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  for (const [certificate, ca, works, host] of [
    [good, good.cert, true, '127.0.0.1'],
    [good, undefined, false, '127.0.0.1'],
    [expired, expired.cert, false, '127.0.0.1'],
    // The certificate is for 127.0.0.1 and for no other name of the same machine.
    [good, good.cert, false, 'localhost']
  ] as const) {
    let requests = 0
    const server = createTlsServer(certificate, (_, response) => {
      requests += 1
      response.end('ok')
    }).listen(0, '127.0.0.1')
    server.on('tlsClientError', () => undefined)
    await once(server, 'listening')
    const origin = originOf(server.address()).replace('http', 'https').replace('127.0.0.1', host)
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = works ? '1' : '0'
    await using http = new HttpClient({ origin, ...(ca === undefined ? {} : { ca }) })
    if (works) assert.equal((await http.send(POST, never)).body, 'ok')
    else await assert.rejects(http.send(POST, never), fault({ sent: 'none', reason: 'not_connected' }))
    assert.equal(requests, works ? 1 : 0)
    server.closeAllConnections()
    server.close()
  }
})

test('closing the client ends what is under way', async () => {
  await using host = await ScriptedHost.start(() => undefined)
  const http = client(host.origin)
  const sent = assert.rejects(http.send(GET, never), fault({ sent: 'maybe', reason: 'lost' }))
  await until(() => host.seen.length === 1, 'the request has arrived')
  await http[Symbol.asyncDispose]()
  await sent
})

test('Retry-After in both forms, and nonsense', () => {
  const now = Date.parse('2026-01-05T15:00:00Z')
  const read = (value: string | undefined) => retryAfterMs({ headers: { 'retry-after': value } }, now)
  assert.deepEqual(
    ['2', '0.5', 'Mon, 05 Jan 2026 15:00:30 GMT', 'Mon, 05 Jan 2026 14:00:30 GMT', '999999', 'soon', '-1', undefined].map(read),
    [2_000, 500, 30_000, 0, 3_600_000, null, null, null]
  )
})

async function unusedOrigin(): Promise<string> {
  const server = createServer((socket: Socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = originOf(server.address())
  server.close()
  await once(server, 'close')
  return origin
}

function originOf(address: unknown): string {
  assert.ok(typeof address === 'object' && address !== null && 'port' in address)
  return `http://127.0.0.1:${address.port}`
}

test('a reported quota: its headers, and a reset that is no later than an hour', () => {
  const names = ['left', 'reset', 'limit'] as const
  const limits = (headers: Record<string, string>) => limitsIn({ headers }, names, seconds => seconds * 1_000)
  assert.deepEqual(limits({ left: ' 12 ', reset: '30', limit: '60' }), { remaining: 12, resetInMs: 30_000, limit: 60 })
  assert.deepEqual(limits({ left: '0', reset: '30' }), { remaining: 0, resetInMs: 30_000 })
  // A pause of years would end the login.
  assert.equal(limits({ left: '0', reset: '99999999999' })?.resetInMs, 3_600_000)
  for (const headers of [{ left: '1' }, { reset: '1' }, { left: '-1', reset: '1' }, { left: '1', reset: 'soon' }])
    assert.equal(limits(headers), null)
})
