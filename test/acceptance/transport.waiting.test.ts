// HTTP itself: headers on every answer, limits in number, size and time, and an orderly end.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { Api, type Body, type User } from './api.ts'
import { type RunningService, startService } from './harness.ts'

describe('transport', () => {
  let service: RunningService
  let api: Api
  let ada: User
  before(async () => {
    service = await startService('embedded', {
      TRUNKLINE_RATE_LIMIT_USER: '5',
      TRUNKLINE_RATE_LIMIT_PLATFORM: '60',
      TRUNKLINE_TRUSTED_PROXIES: ''
    })
    api = await Api.of(service)
    ada = await api.user('ada')
  })
  after(() => service[Symbol.asyncDispose]())

  test('every answer carries the security headers, and none opens it to other origins', async () => {
    for (const [method, path] of [
      ['GET', '/users'],
      ['GET', '/nowhere'],
      ['GET', '/docs'],
      ['GET', '/openapi.json'],
      ['DELETE', '/connections/%']
    ] as const) {
      const { headers } = await fetch(service.url + path, { method, headers: { ...api.platform, origin: 'https://evil.example' } })
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
      assert.ok(headers.get('content-security-policy')?.includes("default-src 'none'"), path)
      assert.ok(headers.get('content-security-policy')?.includes("frame-ancestors 'none'"), path)
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path)
      assert.ok(headers.get('cache-control'), path)
      assert.equal(headers.get('access-control-allow-origin'), null, path)
      for (const talkative of ['server', 'x-powered-by']) assert.equal(headers.get(talkative), null, path)
    }
    assert.equal((await fetch(`${service.url}/users`, { headers: api.platform })).headers.get('cache-control'), 'no-store')
  })

  test('a sane request id comes back, any other is replaced', async () => {
    const sent = async (id: string) =>
      (await api.call('GET', '/users', { headers: { ...api.platform, 'x-request-id': id } })).headers.get('x-request-id')
    for (const id of ['abc', 'a1B2-c3.d4_e5:f6', 'x'.repeat(64)]) assert.equal(await sent(id), id)
    for (const id of ['', 'a b', 'x'.repeat(65), '<script>', '{"level":60}', '-x']) assert.notEqual(await sent(id), id)
    const { body } = await api.call('GET', '/nowhere', { headers: { 'x-request-id': 'mine' } })
    assert.equal(body.request_id, 'mine')
    const made = await Promise.all(Array.from({ length: 5 }, () => sent('')))
    assert.equal(new Set(made).size, 5)
  })

  test('a user over its limit must wait, and others are not disturbed', async () => {
    const [noisy, calm] = [await api.user('noisy'), await api.user('calm')]
    const first = await api.call('GET', '/accounts', { headers: api.as(noisy) })
    assert.deepEqual([first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')], ['10', '9'])
    assert.ok(Number(first.headers.get('ratelimit-reset')) >= 1)
    const answers = await Promise.all(Array.from({ length: 30 }, () => api.call('GET', '/accounts', { headers: api.as(noisy) })))
    const limited = answers.filter(({ status }) => status === 429)
    assert.ok(limited.length >= 15, String(limited.length))
    for (const { body, headers } of limited) {
      assert.equal(body.code, 'rate_limited')
      assert.ok(Number(headers.get('retry-after')) >= 1)
      assert.equal(headers.get('ratelimit-remaining'), '0')
    }
    assert.equal((await api.call('GET', '/accounts', { headers: api.as(calm) })).status, 200)
    await until(async () => (await api.call('GET', '/accounts', { headers: api.as(noisy) })).status === 200, 'the limit has passed')
  })

  test('an address with hundreds of failed authentications is slowed down, and its known client is not locked out [S29]', async () => {
    const wrong = { 'client-id': 'pk_nobody', 'client-secret': 'sk_nothing' }
    const statuses: number[] = []
    for (let at = 0; at < 50; at++) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => api.call('GET', '/users', { headers: wrong })))
      statuses.push(...answers.map(({ status }) => status))
    }
    assert.equal(statuses[0], 401)
    assert.ok(statuses.slice(-50).includes(429))
    assert.ok(statuses.filter(status => status === 401).length < 450)
    assert.equal((await api.call('GET', '/users', { headers: api.platform })).status, 200)
    const forwarded = { ...wrong, 'x-forwarded-for': '198.51.100.7' }
    const unauthenticated = await Promise.all(Array.from({ length: 10 }, () => api.call('GET', '/users', { headers: forwarded })))
    // One or two may be let through meanwhile; an address of its own would let through all of them.
    assert.ok(unauthenticated.filter(({ status }) => status === 429).length >= 5, 'a forwarded address counts only from a trusted proxy')
  })

  test('oversized and ill-formed heads are refused and closed [S35, S72]', async () => {
    const head = `GET /users HTTP/1.1\r\nhost: x\r\n`
    const { client_id, client_secret } = service.demo
    const chunked = (path: string) => {
      const type = path === '/users' ? 'application/json' : 'application/x-www-form-urlencoded'
      const credentials = `client-id: ${client_id}\r\nclient-secret: ${client_secret}\r\n`
      return `POST ${path} HTTP/1.1\r\nhost: ${new URL(service.url).host}\r\n${credentials}content-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`
    }
    const refused: readonly (readonly [what: string, text: string, status: number])[] = [
      ['17 KiB of headers', `${head}x: ${'a'.repeat(17 * 1024)}\r\n\r\n`, 431],
      ['2,000 headers', `${head}${'a:b\r\n'.repeat(2_000)}\r\n`, 431],
      [
        'length and chunks at once',
        'POST /users HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
        400
      ],
      ['two lengths', 'POST /users HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcd', 400],
      ['bare line feeds', 'GET /users HTTP/1.1\nhost: x\n\n', 400],
      ['a space before the colon', `${head}client-id : x\r\n\r\n`, 400],
      ['a folded header', `${head}client-id: x\r\n y\r\n\r\n`, 400],
      ['no host', 'GET /users HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
      ['an expectation', `POST /users HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 200-maybe\r\ncontent-length: 2\r\n\r\n{}`, 400],
      ['an ill-formed chunk', `${chunked('/users')}zz\r\nabc`, 400],
      ['an ill-formed second chunk', `${chunked('/users')}5\r\n{"use\r\nQQ\r\n`, 400],
      ['an ill-formed chunk of a form', `${chunked('/demo-session')}5\r\ncode=\r\nQQ\r\n`, 400],
      ['an ill-formed chunk of the portal', `${chunked(`/connect/${'x'.repeat(43)}`)}5\r\ncode=\r\nQQ\r\n`, 400],
      ['an unknown verb', 'BREW /users HTTP/1.1\r\nhost: x\r\n\r\n', 400],
      ['not HTTP', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', 400]
    ]
    for (const [what, text, status] of refused) {
      const answer = await raw(text)
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), `${what}: ${answer.slice(0, 200)}`)
      const body: Body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
      assert.deepEqual(Object.keys(body).sort(), ['code', 'message', 'request_id'], what)
    }
    const trace = await raw('TRACE /users HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    assert.match(trace, /^HTTP\/1\.1 405 /)
    assert.doesNotMatch(service.output(), /unexpectedly/)
  })

  test('what follows a valid request and is no HTTP does not take the place of its answer', async () => {
    const { client_id, client_secret } = service.demo
    const body = JSON.stringify({ user_id: 'followed-by-garbage' })
    const lines = ['POST /users HTTP/1.1', 'host: x', `client-id: ${client_id}`, `client-secret: ${client_secret}`]
    const whole = [...lines, 'content-type: application/json', `content-length: ${body.length}`, '', body].join('\r\n')
    const answer = await raw(`${whole}}\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.match(answer, /"user-secret":"us_/)
  })

  test('a header that says who is asked, or who asks, may be there once [S34]', async () => {
    const { client_id, client_secret } = service.demo
    const lines = ['host: x', `client-id: ${client_id}`, `client-secret: ${client_secret}`]
    const asked = (...more: readonly string[]) => raw(['GET /users HTTP/1.1', 'connection: close', ...lines, ...more, '', ''].join('\r\n'))
    for (const line of [...lines, 'HOST: y', 'Client-Id: pk_other', `client-secret: ${client_secret}x`]) {
      const answer = await asked(line)
      assert.match(answer, /^HTTP\/1\.1 400 /, line)
      assert.match(answer, /"code":"header_invalid"/, line)
    }
    assert.match(await asked(), /^HTTP\/1\.1 200 /)
    assert.match(await asked('x-forwarded-for: 192.0.2.1', 'x-forwarded-for: 192.0.2.2'), /^HTTP\/1\.1 200 /)
  })

  test('a body too large is refused before it has been sent [S73]', async () => {
    const { client_id, client_secret } = service.demo
    const outgoing = request(`${service.url}/users`, {
      method: 'POST',
      headers: {
        'client-id': client_id,
        'client-secret': client_secret,
        'content-type': 'application/json',
        'content-length': String(1_100_000)
      }
    })
    outgoing.on('error', () => {}) // the service closes while we still could write
    outgoing.flushHeaders()
    const [response] = await once(outgoing, 'response')
    assert.equal(response.statusCode, 413)
    outgoing.destroy()
  })

  test('another protocol that is offered is not taken up, and the request is served as it is', async () => {
    for (const offered of ['h2c', 'TLS/1.0', 'unknown']) {
      const answer = await raw(
        `GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings, close\r\nupgrade: ${offered}\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n`
      )
      assert.match(answer, /^HTTP\/1\.1 200 /, offered)
    }
  })

  test('heads and bodies that trickle are cut off in time [S71]', async () => {
    const { client_id, client_secret } = service.demo
    const body = `POST /users HTTP/1.1\r\nhost: x\r\nclient-id: ${client_id}\r\nclient-secret: ${client_secret}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`
    const [head, slow] = await Promise.all([trickle('GET /users HTTP/1.1\r\n', 'x'), trickle(body, ' ')])
    assert.match(head.answer, /^HTTP\/1\.1 408 /)
    assert.match(slow.answer, /^HTTP\/1\.1 408 /)
    assert.equal((await api.call('GET', '/connections', { headers: api.as(ada) })).status, 200)
  })

  test('a stop in the middle of requests leaves no answer half-sent', async () => {
    await using stopping = await startService('embedded')
    const client = await Api.of(stopping)
    const eve = await client.user('eve')
    const headers = client.as(eve)
    await until(() => stopping.output().includes('npm run demo'), 'the service has printed where it is')
    const asked: Promise<number | string>[] = []
    const ask = () =>
      client.call('GET', '/connections', { headers }).then(
        ({ status }) => status,
        cause => String(cause?.cause?.code ?? cause)
      )
    for (let at = 0; at < 200; at++) {
      if (at === 50) {
        await Promise.all(asked)
        stopping.interrupt()
      }
      asked.push(ask())
      if (at % 10 === 0) await asked.at(-1)
    }
    const ended = await Promise.all(asked)
    const decent = new Set<number | string>([200, 503, 'ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'])
    assert.deepEqual(
      ended.filter(one => !decent.has(one)),
      []
    )
    assert.ok(ended.slice(0, 50).every(one => one === 200))
    await until(() => !stopping.isRunning(), 'the service has ended')
  })

  /** Sends `text` as it is and gives all that comes back until the service closes. */
  async function raw(text: string): Promise<string> {
    const socket = open()
    socket.write(text)
    return (await collected(socket)).answer
  }

  /** Sends `text`, then one byte every half second for as long as the service takes it. */
  async function trickle(text: string, byte: string): Promise<{ readonly answer: string; readonly endedAt: number }> {
    const socket = open()
    socket.write(text)
    const timer = setInterval(() => socket.writable && socket.write(byte), 500)
    try {
      return await collected(socket)
    } finally {
      clearInterval(timer)
    }
  }

  function open(): Socket {
    const { hostname, port } = new URL(service.url)
    return connect(Number(port), hostname)
      .setEncoding('latin1')
      .on('error', () => {})
  }
})

async function collected(socket: Socket): Promise<{ readonly answer: string; readonly endedAt: number }> {
  let answer = ''
  socket.on('data', (text: string) => {
    answer += text
  })
  await once(socket, 'close', { signal: soon() })
  return { answer, endedAt: performance.now() }
}
