// Idle connections are evicted for busy ones, over real sockets of several loopback addresses.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { ConnectionGate, type ConnectionLimits } from '../../src/http/connection-gate.ts'

const LIMITS: ConnectionLimits = { total: 40, unprovenPerAddress: 10, unprovenPerNetwork: 20, stalledMs: 10_000 }
const GRACE_MS = 5_000

interface Served extends AsyncDisposable {
  readonly clock: VirtualClock
  readonly gate: ConnectionGate
  /** Connects from a loopback address and says nothing, or `text`. */
  readonly open: (localAddress: string, text?: string) => Promise<Socket>
  /** What a new client gets. */
  readonly status: (localAddress: string) => Promise<number | undefined>
}

async function serve(limits: ConnectionLimits, answer: RequestListener): Promise<Served> {
  const clock = new VirtualClock()
  const gate = new ConnectionGate(clock, limits, ip => ip.endsWith('127.0.0.99'))
  const server = createServer((request, response) => {
    if (request.headers['client-secret'] === 'right') gate.proved(request)
    answer(request, response)
  })
  gate.guard(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  return {
    clock,
    gate,
    async open(localAddress, text = '') {
      const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
      sockets.push(socket)
      await once(socket, 'connect')
      if (text !== '') socket.write(text)
      return socket
    },
    async status(localAddress) {
      const requested = get({ port, host: '127.0.0.1', localAddress, agent: false })
      const [response]: IncomingMessage[] = await once(requested, 'response')
      response?.resume()
      return response?.statusCode
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      const closed = once(server, 'close')
      server.close()
      await closed
    }
  }
}

const isOpen = (socket: Socket): boolean => !socket.destroyed && !socket.readableEnded

test('silent connections of an address are evicted after the grace period for its new ones, and no others [S47, S71]', async () => {
  await using served = await serve(LIMITS, (_request, response) => response.end('ok'))
  const beside = await served.open('127.0.1.1')
  const flood: Socket[] = []
  for (let index = 0; index < LIMITS.unprovenPerAddress; index++) flood.push((await served.open('127.0.0.2')).resume())
  assert.equal(await served.status('127.0.1.1'), 200)
  await served.clock.advance(GRACE_MS)
  for (let index = 0; index < 60; index++) {
    const socket = await served.open('127.0.0.2')
    socket.resume()
    if (index < LIMITS.unprovenPerAddress - 1) flood.push(socket)
  }
  const [oldest, ...younger] = flood
  await until(() => younger.slice(0, LIMITS.unprovenPerAddress - 1).every(socket => !isOpen(socket)), 'those past their grace are gone')
  assert.ok(oldest !== undefined && !isOpen(oldest))
  assert.ok(isOpen(beside.resume()))
  assert.equal(await served.status('127.0.1.1'), 200)
})

test('above the limit of an address, earlier connections are served and later ones are refused with retry-after', async () => {
  await using served = await serve(LIMITS, (_request, response) => response.end('ok'))
  const first: Socket[] = []
  for (let index = 0; index < LIMITS.unprovenPerAddress; index++) first.push(await served.open('127.0.0.2'))
  await until(() => served.gate.connections === LIMITS.unprovenPerAddress, 'all have come')
  for (let index = 0; index < 30; index++) {
    const [answer] = await once(await served.open('127.0.0.2'), 'data')
    assert.match(String(answer), /^HTTP\/1\.1 429 [\s\S]*retry-after: 1\r\n/)
  }
  for (const socket of first) {
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    assert.match(String((await once(socket, 'data'))[0]), /200 OK/)
  }
  assert.equal(await served.status('127.0.0.2'), 200, 'a connection that is kept alive is evicted at once')
})

test('a connection counts for its address until a complete request has had valid credentials', async () => {
  await using served = await serve(LIMITS, (request, response) => {
    request.resume().once('end', () => response.end('ok'))
  })
  const asking = 'POST / HTTP/1.1\r\nhost: x\r\nclient-secret: right\r\ncontent-length: 2\r\n\r\n'
  const slow: Socket[] = []
  for (let index = 0; index < LIMITS.unprovenPerAddress; index++) slow.push(await served.open('127.0.0.2', `${asking}{`))
  await until(() => served.gate.connections === LIMITS.unprovenPerAddress, 'all have come')
  const [refusal] = await once(await served.open('127.0.0.2'), 'data')
  assert.match(String(refusal), / 429 /)
  for (const socket of slow) {
    const answered = once(socket, 'data')
    socket.write('}')
    assert.match(String((await answered)[0]), /200 OK/)
  }
  for (let index = 0; index < LIMITS.unprovenPerAddress; index++) slow.push(await served.open('127.0.0.2', `${asking}{}`))
  for (const socket of slow.slice(LIMITS.unprovenPerAddress)) assert.match(String((await once(socket, 'data'))[0]), /200 OK/)
  assert.ok(slow.every(isOpen))
})

test('a connection with a slow body is evicted after the grace period like a silent one, and is not silent once the body is complete', async () => {
  await using served = await serve({ ...LIMITS, total: 2 }, (request, response) => {
    request.resume().once('end', () => response.end('ok'))
  })
  const slow = (await served.open('127.0.1.2', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{')).resume()
  const idle = await served.open('127.0.2.2', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(idle, 'data')
  assert.equal(await served.status('127.0.3.2'), 200)
  await until(() => !isOpen(idle.resume()), 'within the grace the idle connection goes first')
  await served.open('127.0.4.2', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.ok(isOpen(slow))
  await served.clock.advance(GRACE_MS)
  assert.equal(await served.status('127.0.5.2'), 200)
  await until(() => !isOpen(slow), 'past the grace it goes first')
})

test('a new silent connection stays while an idle one can be evicted', async () => {
  await using served = await serve({ ...LIMITS, total: 3 }, (_request, response) => response.end('ok'))
  const asking = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
  const alone = await served.open('127.0.1.2', asking)
  await once(alone, 'data')
  const crowded = [await served.open('127.0.2.2', asking), await served.open('127.0.2.2', asking)]
  for (const socket of crowded) await once(socket, 'data')
  const newcomer = (await served.open('127.0.3.2')).resume()
  await until(() => !isOpen((crowded[0] ?? alone).resume()), 'the longest idle of the most crowded address goes')
  assert.equal(await served.status('127.0.4.2'), 200)
  assert.ok(isOpen(newcomer))
})

test('if all connections are silent, a new client is served at once [S47]', async () => {
  await using served = await serve(LIMITS, (_request, response) => response.end('ok'))
  const flood: Socket[] = []
  for (let index = 0; index < 200; index++) flood.push((await served.open(`127.${1 + (index % 50)}.0.1`)).resume())
  await until(() => served.gate.connections <= LIMITS.total, 'the bound holds')
  for (let index = 0; index < 5; index++) assert.equal(await served.status(`127.200.0.${1 + index}`), 200)
  await until(() => flood.filter(isOpen).length <= LIMITS.total, 'the others are gone')
})

test('a connection is busy until the last of its pipelined requests is answered', async () => {
  const held: (() => void)[] = []
  await using served = await serve({ ...LIMITS, total: 1 }, (request, response) => {
    if (request.url === '/slow') held.push(() => response.end('done'))
    else response.end('ok')
  })
  const pipelined = await served.open('127.0.0.2', 'GET / HTTP/1.1\r\nhost: x\r\n\r\nGET /slow HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(pipelined, 'data')
  await until(() => held.length === 1, 'the second request is under way')
  await served.clock.advance(GRACE_MS)
  const [refusal] = await once(await served.open('127.0.0.3'), 'data')
  assert.match(String(refusal), / 429 /)
  const answered = once(pipelined, 'data')
  for (const release of held) release()
  assert.match(String((await answered)[0]), /done/)
})

test('idle keep-alive connections are evicted if no silent one is left; busy ones never are', async () => {
  const held: (() => void)[] = []
  await using served = await serve({ ...LIMITS, total: 4 }, (request, response) => {
    if (request.url === '/slow') held.push(() => response.end('done'))
    else response.end('ok')
  })
  const [idle, ...working] = [
    await served.open('127.1.0.2', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
    await served.open('127.2.0.2', 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'),
    await served.open('127.3.0.2', 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'),
    await served.open('127.4.0.2', 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n')
  ]
  await until(() => held.length === 3, 'three requests are under way')
  await once(idle, 'data')
  await until(async () => (await served.status('127.0.0.3').catch(() => 0)) === 200, 'a new client is served')
  await until(() => !isOpen(idle.resume()), 'the idle connection was evicted')
  const answered = working.map(socket => once(socket, 'data'))
  for (const release of held) release()
  for (const [data] of await Promise.all(answered)) assert.match(String(data), /200 OK/)
})

test('a client that does not read its response is disconnected after a time limit; one that reads slowly is not [S53, S71]', async () => {
  const body = 'x'.repeat(32 * 1024 * 1024)
  await using served = await serve(LIMITS, (_request, response) => response.end(body))
  const asking = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
  const [deaf, slow] = [await served.open('127.0.0.2', asking), await served.open('127.0.0.3', asking)]
  deaf.pause()
  slow.pause()
  let taken = 0
  slow.on('data', chunk => (taken += chunk.length))
  const closed = once(deaf, 'close')
  // The bound is on taking nothing at all: as long as some is taken between two looks, the connection stays.
  for (let second = 0; second < 14; second++) {
    const before = taken
    slow.resume()
    await until(() => taken > before + 256 * 1024 || taken >= body.length, 'the slow reader has taken something')
    slow.pause()
    await served.clock.advance(1_000)
  }
  deaf.resume()
  await closed
  slow.resume()
  await until(() => taken >= body.length, 'the slow reader has everything')
})

test('a trusted proxy’s connections do not count for one address', async () => {
  await using served = await serve(LIMITS, (_request, response) => response.end('ok'))
  const flood: Socket[] = []
  for (let index = 0; index < 30; index++) flood.push((await served.open('127.0.0.99')).resume())
  assert.equal(await served.status('127.0.0.2'), 200)
  assert.equal(flood.filter(isOpen).length, 30)
})

test('a connection that has had valid credentials is not evicted for its address, however slow its next request is', async () => {
  await using served = await serve(LIMITS, (request, response) => {
    request.resume().once('end', () => response.end('ok'))
  })
  const asking = 'POST / HTTP/1.1\r\nhost: x\r\nclient-secret: right\r\ncontent-length: 2\r\n\r\n'
  const proven = await served.open('127.0.0.2', `${asking}{}`)
  await once(proven, 'data')
  proven.resume().write(`${asking}{`)
  const silent: Socket[] = []
  for (let index = 0; index < LIMITS.unprovenPerAddress; index++) silent.push((await served.open('127.0.0.2')).resume())
  await until(() => served.gate.connections === LIMITS.unprovenPerAddress + 1, 'all have come')
  await served.clock.advance(GRACE_MS)
  assert.equal(await served.status('127.0.0.2'), 200)
  await until(() => silent.some(socket => !isOpen(socket)), 'a silent one was evicted')
  assert.ok(isOpen(proven))
})
