// Connections that do nothing make room for those that do, over real sockets of several loopback addresses.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { ConnectionGate, type ConnectionLimits } from '../../src/http/connection-gate.ts'

const LIMITS: ConnectionLimits = { total: 40, silentPerAddress: 10, silentPerNetwork: 20, stalledMs: 10_000 }

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
  const server = createServer(answer)
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
      const asked = get({ port, host: '127.0.0.1', localAddress, agent: false })
      const [response]: IncomingMessage[] = await once(asked, 'response')
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

test('silent connections of one address push out each other, and nobody else [S47, S71]', async () => {
  await using served = await serve(LIMITS, (_request, response) => response.end('ok'))
  const beside = await served.open('127.0.1.1')
  const flood: Socket[] = []
  for (let index = 0; index < 60; index++) flood.push((await served.open('127.0.0.2')).resume())
  await until(() => flood.filter(isOpen).length <= LIMITS.silentPerAddress, 'the oldest are gone')
  assert.ok(isOpen(beside.resume()))
  assert.equal(await served.status('127.0.0.2'), 200)
  assert.equal(await served.status('127.0.1.1'), 200)
})

test('when all places are taken by silent connections, a new client is served at once [S47]', async () => {
  await using served = await serve(LIMITS, (_request, response) => response.end('ok'))
  const flood: Socket[] = []
  for (let index = 0; index < 200; index++) flood.push((await served.open(`127.${1 + (index % 50)}.0.1`)).resume())
  await until(() => served.gate.connections <= LIMITS.total, 'the bound holds')
  for (let index = 0; index < 5; index++) assert.equal(await served.status(`127.200.0.${1 + index}`), 200)
  await until(() => flood.filter(isOpen).length <= LIMITS.total, 'the others are gone')
})

test('connections that are kept alive make room when no silent one is left; those at work never do', async () => {
  const held: (() => void)[] = []
  await using served = await serve({ ...LIMITS, total: 4 }, (request, response) => {
    if (request.url === '/slow') held.push(() => response.end('done'))
    else response.end('ok')
  })
  const [idle, ...working] = [
    await served.open('127.0.0.2', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
    await served.open('127.0.0.2', 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'),
    await served.open('127.0.0.2', 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'),
    await served.open('127.0.0.2', 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n')
  ]
  await until(() => held.length === 3, 'three requests are under way')
  await once(idle, 'data')
  await until(async () => (await served.status('127.0.0.3').catch(() => 0)) === 200, 'a new client is served')
  await until(() => !isOpen(idle.resume()), 'the idle connection has made room')
  const answered = working.map(socket => once(socket, 'data'))
  for (const release of held) release()
  for (const [data] of await Promise.all(answered)) assert.match(String(data), /200 OK/)
})

test('a reader that takes nothing of its answer is gone after a bound, and one that reads slowly is not [S53, S71]', async () => {
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

test('a trusted proxy’s connections are those of many clients', async () => {
  await using served = await serve(LIMITS, (_request, response) => response.end('ok'))
  const flood: Socket[] = []
  for (let index = 0; index < 30; index++) flood.push((await served.open('127.0.0.99')).resume())
  assert.equal(await served.status('127.0.0.2'), 200)
  assert.equal(flood.filter(isOpen).length, 30)
})
