import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { selfSigned } from '@trunkline/testkit/certificate'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { type ExchangeDeps, HttpExchange } from '../../src/webhooks/exchange.ts'
import { PublicAddresses } from '../../src/webhooks/public-addresses.ts'

const BODY = new TextEncoder().encode('{"type":"test","data":[]}')
const LOOPBACK = new PublicAddresses(['127.0.0.1'])

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function') server.closeAllConnections()
  })
  const address = server.address()
  return isBound(address) ? address.port : 0
}

function isBound(address: ReturnType<Server['address']>): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

function exchangeOf(t: TestContext, deps: Partial<ExchangeDeps> = {}): HttpExchange {
  const clock = new VirtualClock()
  const exchange = new HttpExchange({ clock, addresses: LOOPBACK, resolve: async () => [{ address: '127.0.0.1' }], ...deps })
  t.after(() => exchange[Symbol.dispose]())
  return exchange
}

const requestTo = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: BODY })
const answering = (t: TestContext, listener: RequestListener) => listening(t, createServer(listener))

test('the body and the name arrive at the resolved address, and the beginning of the answer is kept', async t => {
  const received: { host: string | undefined; body: string; encoding: unknown }[] = []
  const port = await answering(t, async (request, response) => {
    const chunks = await Array.fromAsync(request)
    received.push({ host: request.headers.host, body: Buffer.concat(chunks).toString(), encoding: request.headers['accept-encoding'] })
    response.writeHead(202, { 'retry-after': '7' }).end(`${'x'.repeat(4_095)}éy`)
  })
  const outcome = await exchangeOf(t).send(requestTo(`http://hooks.example:${port}/a?b=c`))
  assert.deepEqual(received, [{ host: `hooks.example:${port}`, body: '{"type":"test","data":[]}', encoding: undefined }])
  assert.deepEqual([outcome.failure, outcome.answer?.status, outcome.answer?.isCut, outcome.retryAfter], [null, 202, true, '7'])
  assert.equal(outcome.answer?.body, `${'x'.repeat(4_095)}\ufffd`)
})

test('a name is resolved once per attempt: what it resolves to later is not used, and judged again by the next attempt [S75]', async t => {
  let requests = 0
  const port = await answering(t, (_, response) => {
    requests += 1
    response.end()
  })
  const answers = ['127.0.0.1', '169.254.169.254']
  const asked: string[] = []
  const exchange = exchangeOf(t, {
    async resolve(name) {
      asked.push(name)
      return [{ address: answers[asked.length - 1] ?? '10.0.0.1' }]
    }
  })
  const url = `http://rebinding.example:${port}/`
  assert.equal((await exchange.send(requestTo(url))).failure, null)
  assert.equal(asked.length, 1)
  assert.equal((await exchange.send(requestTo(url))).failure, 'address_refused')
  assert.deepEqual([asked.length, requests], [2, 1])
})

test('a name with one internal address among others is refused, and nothing is connected [S75]', async t => {
  let connections = 0
  const port = await listening(
    t,
    createTcpServer(() => (connections += 1))
  )
  const exchange = exchangeOf(t, { resolve: async () => [{ address: '127.0.0.1' }, { address: '127.0.0.2' }] })
  assert.equal((await exchange.send(requestTo(`http://mixed.example:${port}/`))).failure, 'address_refused')
  assert.equal((await exchange.send(requestTo(`http://127.0.0.2:${port}/`))).failure, 'address_refused')
  assert.equal(connections, 0)
})

test('http to a public address is refused although a network is allowed', async t => {
  const exchange = exchangeOf(t, { resolve: async () => [{ address: '8.8.8.8' }] })
  assert.equal((await exchange.send(requestTo('http://public.example/'))).failure, 'address_refused')
})

test('a redirect is not followed, wherever it leads [S76]', async t => {
  let followed = 0
  const target = await answering(t, (_, response) => {
    followed += 1
    response.end()
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const port = await answering(t, (_, response) => response.writeHead(status, { location: `http://127.0.0.1:${target}/` }).end())
    const outcome = await exchangeOf(t).send(requestTo(`http://127.0.0.1:${port}/`))
    assert.deepEqual([outcome.failure, outcome.answer?.status], ['redirect', status])
  }
  assert.equal(followed, 0)
})

test('a proxy of the environment is not used', async t => {
  let proxied = 0
  const proxy = await answering(t, (_, response) => {
    proxied += 1
    response.end()
  })
  const port = await answering(t, (_, response) => response.end())
  const names = ['HTTP_PROXY', 'http_proxy', 'NODE_USE_ENV_PROXY']
  const before = names.map(name => process.env[name])
  t.after(() => {
    for (const [at, name] of names.entries()) {
      const value = before[at]
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy}`
  assert.equal((await exchangeOf(t).send(requestTo(`http://hooks.example:${port}/`))).failure, null)
  assert.equal(proxied, 0)
})

test('an endless answer and endless headers are given up at their bounds', async t => {
  let isClosed = false
  const endless = await answering(t, (_, response) => {
    response.on('close', () => (isClosed = true))
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
    }
    response.on('drain', write)
    write()
  })
  const outcome = await exchangeOf(t).send(requestTo(`http://127.0.0.1:${endless}/`))
  assert.deepEqual([outcome.failure, outcome.answer?.body.length], ['answer_too_large', 4_096])
  await until(() => isClosed, 'the connection is closed')
  const headers = await listening(
    t,
    createTcpServer(socket => socket.on('error', () => {}).write(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`))
  )
  assert.equal((await exchangeOf(t).send(requestTo(`http://127.0.0.1:${headers}/`))).failure, 'answer_too_large')
})

test('a compressed answer is kept as it came', async t => {
  const port = await answering(t, (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'))
  assert.equal((await exchangeOf(t).send(requestTo(`http://127.0.0.1:${port}/`))).answer?.body, 'not gzip')
})

test('an attempt ends after five seconds: without an answer, within one, and while the name is resolved', async t => {
  const clock = new VirtualClock()
  let silent = 0
  const port = await answering(t, (_, response) => {
    silent += 1
    if (silent === 2) response.write('some')
  })
  const exchange = exchangeOf(t, {
    clock,
    resolve: name => (name === 'slow.example' ? new Promise(() => {}) : Promise.resolve([{ address: '127.0.0.1' }]))
  })
  for (const expected of [1, 2]) {
    const outcome = exchange.send(requestTo(`http://127.0.0.1:${port}/`))
    await until(() => silent === expected, 'the request has arrived')
    await clock.advance(4_999)
    await clock.advance(1)
    assert.equal((await outcome).failure, 'timeout')
  }
  const unresolved = exchange.send(requestTo(`http://slow.example:${port}/`))
  await clock.advance(5_000)
  assert.deepEqual(await unresolved, { answer: null, retryAfter: null, failure: 'timeout' })
})

test('a connection that the endpoint closed while it was idle costs no attempt', async t => {
  let connections = 0
  const port = await listening(
    t,
    createTcpServer(socket => {
      connections += 1
      let requests = 0
      // The second request on a connection is not answered: the server had closed it.
      socket
        .on('error', () => {})
        .on('data', chunk => {
          if (!chunk.includes('POST')) return
          requests += 1
          if (requests > 1) socket.resetAndDestroy()
          else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        })
    })
  )
  const exchange = exchangeOf(t)
  for (const _ of [1, 2]) assert.equal((await exchange.send(requestTo(`http://127.0.0.1:${port}/`))).failure, null)
  assert.equal(connections, 2)
})

test('attempts that end together leave their connections to the next ones', async t => {
  let connections = 0
  const held: (() => void)[] = []
  const server = createServer((_, response) => {
    held.push(() => response.end())
    if (held.length === 20) for (const end of held.splice(0)) end()
  })
  server.on('connection', () => (connections += 1))
  const port = await listening(t, server)
  const exchange = exchangeOf(t)
  const together = () => Promise.all(Array.from({ length: 20 }, () => exchange.send(requestTo(`http://hooks.example:${port}/`))))
  for (const { failure } of [...(await together()), ...(await together())]) assert.equal(failure, null)
  assert.equal(connections, 20)
})

test('the certificate must be the name’s and in force', async t => {
  const good = selfSigned(30, undefined, ['hooks.example'])
  const port = await listening(
    t,
    createTlsServer(good, (_, response) => response.end())
  )
  const trusting = exchangeOf(t, { ca: good.cert })
  const failureAt = async (exchange: HttpExchange, host: string) => (await exchange.send(requestTo(`https://${host}:${port}/`))).failure
  assert.equal(await failureAt(trusting, 'hooks.example'), null)
  assert.equal(await failureAt(trusting, '127.0.0.1'), null)
  assert.equal(await failureAt(trusting, 'other.example'), 'tls')
  assert.equal(await failureAt(exchangeOf(t), 'hooks.example'), 'tls')
})

test('each kind of failure has its name', async t => {
  const closed = createTcpServer()
  const unused = await listening(t, closed)
  closed.close()
  await once(closed, 'close')
  const breaking = await listening(
    t,
    createTcpServer(socket => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')))
  )
  const failing = await answering(t, (_, response) => response.writeHead(503).end('down'))
  const exchange = exchangeOf(t)
  const failureAt = async (port: number) => (await exchange.send(requestTo(`http://127.0.0.1:${port}/`))).failure
  assert.deepEqual([await failureAt(unused), await failureAt(breaking), await failureAt(failing)], ['connect', 'broken_off', 'status'])
  for (const resolve of [async () => [], async () => Promise.reject(new Error('no such name'))])
    assert.equal((await exchangeOf(t, { resolve }).send(requestTo('http://none.example/'))).failure, 'dns')
})

test('interim answers are counted: a few go before an answer, a flood of them ends the attempt at once', async t => {
  const speaking = async (interim: number, after: string) => {
    const port = await listening(
      t,
      createTcpServer(socket => {
        socket.on('error', () => undefined)
        socket.once('data', () => {
          for (let each = 0; each < interim; each += 1) socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
          socket.write(after)
        })
      })
    )
    return (await exchangeOf(t).send(requestTo(`http://127.0.0.1:${port}/`))).failure
  }
  const answer = 'HTTP/1.1 204 No Content\r\n\r\n'
  assert.equal(await speaking(8, answer), null)
  // The clock stands still: only the count ends it.
  assert.equal(await speaking(9, ''), 'answer_too_large')
  assert.equal(await speaking(5_000, answer), 'answer_too_large')
})

test('an answer that changes the protocol is a status like others', async t => {
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chat\r\n\r\n'
  const port = await listening(
    t,
    createTcpServer(socket => socket.once('data', () => socket.write(switching)))
  )
  const { failure, answer } = await exchangeOf(t).send(requestTo(`http://127.0.0.1:${port}/`))
  assert.deepEqual([failure, answer?.status], ['status', 101])
})
