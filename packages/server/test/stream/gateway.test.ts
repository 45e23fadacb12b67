// Which WebSockets are accepted, which are evicted, and how hostile ones are closed, over real sockets of several loopback addresses.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { WebSocket } from 'ws'
import { CLOSE, type ClientConnection, type Listener } from '../../src/stream/client-connection.ts'
import { GATEWAY_LIMITS, type GatewayLimits, type StreamEndpoint, StreamGateway } from '../../src/stream/gateway.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** Sessions that are known once they have sent "known", and echo everything. */
class Echoes implements StreamEndpoint {
  open(client: ClientConnection, _address: string, known: () => void): Listener {
    const listener: Listener = {
      text: message => {
        if (message === 'known') known()
        client.sendText(message)
      },
      binary: () => client.sendText('binary'),
      caughtUp() {},
      gone() {}
    }
    return listener
  }

  finish(): void {}
}

interface Served extends AsyncDisposable {
  readonly clock: VirtualClock
  readonly gateway: StreamGateway
  readonly port: number
  readonly open: (localAddress: string, headers?: Readonly<Record<string, string>>) => Promise<WebSocket>
  /** Sends a handshake as it is, and gives the answer's first line. */
  readonly shake: (lines: readonly string[]) => Promise<string>
  /** The same for one that is refused: the whole answer. */
  readonly refused: (lines: readonly string[]) => Promise<string>
}

async function serve(limits: Partial<GatewayLimits> = {}): Promise<Served> {
  const clock = new VirtualClock()
  const endpoints = { '/platform': new Echoes(), '/market': new Echoes() }
  const gateway = new StreamGateway(
    { clock, log: quiet },
    {
      endpoints,
      trustedProxies: [],
      mayOpen: (endpoint, origin) => endpoint === endpoints['/market'] || origin === 'https://own.example',
      limits: { ...limits },
      closed: () => undefined
    }
  )
  const server = createServer()
  gateway.guard(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const clients: (WebSocket | Socket)[] = []
  return {
    clock,
    gateway,
    port,
    async open(localAddress, headers = {}) {
      const client = new WebSocket(`ws://127.0.0.1:${port}/platform`, { localAddress, headers, perMessageDeflate: true })
      clients.push(client)
      client.on('error', () => undefined)
      await once(client, 'open')
      return client
    },
    async shake(lines) {
      const socket = connect(port, '127.0.0.1')
      clients.push(socket)
      socket.on('error', () => undefined)
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      const [data] = await once(socket.setEncoding('latin1'), 'data')
      return String(data).split('\r\n', 1)[0] ?? ''
    },
    async refused(lines) {
      const socket = connect(port, '127.0.0.1')
      clients.push(socket)
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      return await text(socket)
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients)
        if (client instanceof WebSocket) client.terminate()
        else client.destroy()
      const stopped = gateway.stop(CLOSE.goingAway, 'the test is over')
      await clock.advance(10_000)
      await stopped
      server.closeAllConnections()
      server.close()
    }
  }
}

const SHAKE = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: BwcHBwcHBwcHBwcHBwcHBw==',
  'host: x'
]
const UNAUTHENTICATED = { ...GATEWAY_LIMITS.unauthenticated, total: 30, perAddress: 4, perNetwork: 8 }

async function closed(client: WebSocket): Promise<number> {
  const [code] = await once(client, 'close')
  return Number(code)
}

async function echoed(client: WebSocket, message: string): Promise<void> {
  const reply = once(client, 'message')
  client.send(message)
  assert.equal(String((await reply)[0]), message)
}

test('unauthenticated sockets of one network are bounded; its oldest are evicted after their grace, and no others [S47]', async () => {
  await using served = await serve({ unauthenticated: UNAUTHENTICATED })
  const beside = await served.open('127.0.9.1')
  const known = await served.open('127.0.0.1')
  await echoed(known, 'known')
  const first: WebSocket[] = []
  for (let index = 0; index < UNAUTHENTICATED.perNetwork; index++) first.push(await served.open(`127.0.0.${1 + (index % 4)}`))
  for (let index = 0; index < 50; index++) await assert.rejects(served.open(`127.0.0.${1 + (index % 12)}`), / 429/)
  for (const client of first.slice(4)) await echoed(client, 'known')
  const codes: number[] = []
  for (const client of first.slice(0, 4)) client.on('close', code => codes.push(code))
  await served.clock.advance(UNAUTHENTICATED.graceMs)
  for (let index = 0; index < UNAUTHENTICATED.perNetwork; index++) await served.open(`127.0.0.${5 + (index % 4)}`)
  await until(() => codes.length === 4, 'those past their grace are closed')
  assert.deepEqual([...new Set(codes)], [CLOSE.unauthenticated])
  await echoed(beside, 'beside')
  await echoed(known, 'known')
  for (const client of first.slice(4)) await echoed(client, 'still here')
})

test('handshakes of one address are limited, and another address is not felt', async () => {
  await using served = await serve({ handshakes: { perSecond: 1, burst: 3 } })
  for (let index = 0; index < 3; index++) await echoed(await served.open('127.0.0.2'), 'known')
  await assert.rejects(served.open('127.0.0.2'), / 429/)
  await echoed(await served.open('127.0.0.3'), 'known')
  await served.clock.advance(1_000)
  await echoed(await served.open('127.0.0.2'), 'known')
})

test('when all sockets are taken, unauthenticated ones are evicted, and with none left the answer is 429 [S47]', async () => {
  await using served = await serve({ unauthenticated: UNAUTHENTICATED, socketsMax: 6 })
  for (let index = 0; index < 5; index++) await echoed(await served.open(`127.0.${index}.1`), 'known')
  const silent = await served.open('127.0.7.1')
  const gone = closed(silent)
  await echoed(await served.open('127.0.8.1'), 'known')
  assert.equal(await gone, CLOSE.unauthenticated)
  await until(() => served.gateway.sockets === 6, 'the silent one is gone')
  assert.match(await served.shake(['GET /platform HTTP/1.1', ...SHAKE]), / 429 /)
})

test('a foreign page is refused before the upgrade, by endpoint; a page without an origin always is [S46]', async () => {
  await using served = await serve()
  const answers: readonly (readonly [path: string, origin: readonly string[], answer: RegExp])[] = [
    ['/platform', [], / 101 /],
    ['/platform', ['origin: https://own.example'], / 101 /],
    ['/platform', ['origin: https://evil.example'], / 403 /],
    ['/platform', ['origin: null'], / 403 /],
    ['/platform', ['origin: https://own.example', 'origin: https://evil.example'], / 400 /],
    ['/market', ['origin: https://evil.example'], / 101 /],
    ['/market', ['origin: null'], / 403 /]
  ]
  for (const [path, origin, answer] of answers)
    assert.match(await served.shake([`GET ${path} HTTP/1.1`, ...SHAKE, ...origin]), answer, `${path} ${origin}`)
})

test('a handshake that is not one is refused [S34, S56]', async () => {
  await using served = await serve()
  const get = 'GET /platform HTTP/1.1'
  assert.match(await served.shake(['GET /nowhere HTTP/1.1', ...SHAKE]), / 404 /)
  assert.match(await served.shake([get, ...SHAKE, 'upgrade: websocket']), / 400 /)
  for (const header of ['host: y', 'authorization: a\r\nauthorization: b', 'client-id: a\r\nclient-id: b'])
    assert.match(await served.shake([get, ...SHAKE, header]), / 400 /, header)
  assert.match(await served.shake([get, ...SHAKE, 'content-length: 5']), / 400 /)
  assert.match(await served.shake([get, ...SHAKE, 'transfer-encoding: chunked']), / 400 /)
  assert.match(await served.shake(['POST /platform HTTP/1.1', ...SHAKE]), / 400 /)
  assert.match(await served.shake([get, ...SHAKE.map(header => header.replace('version: 13', 'version: 7'))]), / 4\d\d /)
})

test('every refusal of a handshake is the JSON of any error, with a code and a request id', async () => {
  await using served = await serve({ handshakes: { perSecond: 1, burst: 9 } })
  const get = 'GET /platform HTTP/1.1'
  const without = (name: string) => SHAKE.filter(header => !header.startsWith(name))
  const [, ...more] = await Promise.all([
    served.refused(['GET /nowhere HTTP/1.1', ...SHAKE]),
    ...[
      [get, ...SHAKE, 'origin: null'],
      [get, ...SHAKE, 'content-length: 5'],
      [get, ...SHAKE.map(header => header.replace('version: 13', 'version: 7'))],
      [get, ...without('sec-websocket-key')],
      [get, ...without('sec-websocket-version')],
      [get, ...SHAKE.map(header => header.replace('upgrade: websocket', 'upgrade: h2c'))],
      [get, ...SHAKE, 'sec-websocket-protocol: ,,'],
      ['POST /platform HTTP/1.1', ...SHAKE]
    ].map(lines => served.refused(lines))
  ])
  for (const [index, answer] of [...more, await served.refused([get, ...SHAKE])].entries()) {
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    const { code, message, request_id: id } = JSON.parse(body)
    const expected = index === 0 ? ['403', 'origin_not_allowed'] : index < 8 ? ['400', 'upgrade_malformed'] : ['429', 'rate_limited']
    assert.deepEqual([head.split(' ', 2)[1], code], expected, answer)
    assert.match(head, /\r\ncontent-type: application\/json; charset=utf-8\r\n/)
    assert.match(head, new RegExp(`\r\nx-request-id: ${id}\r\n`))
    assert.ok(message.length > 20 && (code !== 'upgrade_malformed' || head.includes('\r\nsec-websocket-version: 13\r\n')), answer)
  }
})

test('compression is not negotiated, and frames against the protocol close their own socket [S49, S50, S51]', async () => {
  await using served = await serve()
  const neighbour = await served.open('127.0.0.2')
  assert.equal(neighbour.extensions, '')
  const masked = (first: number, payload: Buffer) => Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload])
  const frames: readonly (readonly [what: string, frame: Buffer, code: number])[] = [
    ['not UTF-8', masked(0x81, Buffer.from([0xff, 0xfe])), 1007],
    ['reserved bits', masked(0xf1, Buffer.from('x')), 1002],
    ['an unknown opcode', masked(0x83, Buffer.from('x')), 1002],
    ['no mask', Buffer.from([0x81, 0x01, 0x78]), 1002],
    ['too long', Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]), 1009],
    [
      '65 fragments',
      Buffer.concat([masked(0x01, Buffer.from('x')), ...Array.from({ length: 70 }, () => masked(0x00, Buffer.from('x')))]),
      1008
    ]
  ]
  for (const [what, frame, code] of frames) {
    const client = await served.open('127.0.0.3')
    const over = closed(client)
    const socket: unknown = Reflect.get(client, '_socket')
    assert.ok(socket instanceof Object && 'write' in socket && typeof socket.write === 'function')
    socket.write(frame)
    assert.equal(await over, code, what)
  }
  await echoed(neighbour, 'still here')
})

test('a flood of pings is ended, and no other client notices [S52]', async () => {
  await using served = await serve()
  const neighbour = await served.open('127.0.0.2')
  const flooder = await served.open('127.0.0.3')
  let pongs = 0
  flooder.on('pong', () => (pongs += 1))
  const over = closed(flooder)
  for (let count = 0; count < 5_000; count++) flooder.ping('x'.repeat(100))
  assert.equal(await over, CLOSE.tooManyFailures)
  assert.equal(pongs, 1_000)
  await echoed(neighbour, 'still here')
})
