// What the listener between nodes takes: requests that a node signed for this node, once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { describe, test } from 'node:test'
import type { NodeId } from '@trunkline/core/domain/ids'
import * as make from '@trunkline/testkit/store-contract/records'
import { REPLAY_WINDOW, ReplayWindow } from '../../../src/cluster/forward/replay-window.ts'
import { SIGNATURE, type SignedRequest, Signer, signatureKey, Verifier } from '../../../src/cluster/forward/signature.ts'
import { Sha256Hasher } from '../../../src/vault/hasher.ts'
import { HASHER, MESSAGES, Nodes, type TestNode } from './nodes.ts'

const KEY = signatureKey(HASHER)
const ALLOWANCE = { limit: 100, remaining: 99, resetSeconds: 1, retryAfterSeconds: null }
const SESSION = 'a-session-of-this-process'

function signed(receiver: NodeId, { key = KEY, session = SESSION, body = '', address = '192.0.2.44' } = {}): SignedRequest {
  const headers: Record<string, string> = { host: 'h', 'client-id': 'pk', 'content-length': String(body.length) }
  const request = { method: 'POST', url: '/orders?a=1', headers }
  const vouched = { address, platformAllowance: ALLOWANCE, body: Buffer.from(body) }
  headers[SIGNATURE] = new Signer(key, session).sign(receiver, request, vouched)
  return request
}

describe('a signature', () => {
  const nodeId = make.uuid<NodeId>()

  test('vouches for the address, the platform’s allowance and the body', () => {
    for (const address of ['192.0.2.44', '::ffff:192.0.2.44', '2001:db8::1', 'fe80::1%eth0', '']) {
      const passedOn = new Verifier(KEY, nodeId).verify(signed(nodeId, { body: '{}', address }))
      assert.deepEqual([passedOn?.address, passedOn?.platformAllowance], [address, ALLOWANCE])
      assert.deepEqual([passedOn?.isBody('{}'), passedOn?.isBody('{ }')], [true, false])
    }
  })

  test('holds once, for one node, and only for what was signed', () => {
    const verifier = new Verifier(KEY, nodeId)
    const request = signed(nodeId)
    const given = String(request.headers[SIGNATURE])
    const forged: readonly SignedRequest[] = [
      { ...request, method: 'GET' },
      { ...request, url: '/orders?a=2' },
      { ...request, headers: { ...request.headers, 'client-id': 'other' } },
      { ...request, headers: { ...request.headers, 'user-id': 'added' } },
      { ...request, headers: { ...request.headers, 'content-length': '1' } },
      { ...request, headers: { ...request.headers, 'transfer-encoding': 'chunked' } },
      { ...request, headers: { ...request.headers, [SIGNATURE]: given.replace('192.0.2.44', '192.0.2.45') } },
      { ...request, headers: { ...request.headers, [SIGNATURE]: given.replace(' 0 100 ', ' 1 100 ') } },
      { ...request, headers: { ...request.headers, [SIGNATURE]: `${given.slice(0, -1)}x` } },
      { ...request, headers: { ...request.headers, [SIGNATURE]: '' } },
      { ...request, headers: {} },
      signed(nodeId, { key: signatureKey(new Sha256Hasher(Buffer.alloc(32, 8))) }),
      signed(make.uuid<NodeId>())
    ]
    for (const [index, one] of forged.entries()) assert.equal(verifier.verify(one), null, `${index}`)
    assert.ok(verifier.verify(request) !== null)
    assert.equal(verifier.verify(request), null, 'a second time')
    assert.ok(verifier.verify(signed(nodeId, { session: 'another-session-of-a-node' })) !== null)
    assert.equal(new Verifier(KEY, make.uuid<NodeId>()).verify(request), null, 'after a restart')
  })
})

describe('the window of numbers', () => {
  test('accepts each number once, in any order within its length', () => {
    const window = new ReplayWindow()
    const numbers = [0, 5, 3, 4, 1, 2, 70, 69, 31, 32, 33, 64, 63]
    for (const count of numbers) assert.equal(window.accept(count), true, `${count}`)
    for (const count of numbers) assert.equal(window.accept(count), false, `${count}`)
  })

  test('takes older numbers than it holds for repeated ones, and forgets none of those it holds', () => {
    const window = new ReplayWindow()
    window.accept(10)
    assert.equal(window.accept(REPLAY_WINDOW + 9), true)
    assert.equal(window.accept(10), false)
    assert.equal(window.accept(9), false, 'too old')
    assert.equal(window.accept(11), true)
    assert.equal(window.accept(5 * REPLAY_WINDOW), true)
    assert.equal(window.accept(4 * REPLAY_WINDOW), false, 'too old')
    assert.equal(window.accept(4 * REPLAY_WINDOW + 1), true)
    assert.equal(window.accept(5 * REPLAY_WINDOW), false)
    for (const count of [-1, 1.5, Number.NaN, 2 ** 53]) assert.equal(window.accept(count), false)
  })
})

/** Sends bytes to the listener between nodes, and returns what comes until it closes the connection. */
async function raw({ nodeUrl }: Pick<TestNode, 'nodeUrl'>, bytes: string | Buffer): Promise<string> {
  const socket = connect(Number(new URL(nodeUrl).port), '127.0.0.1')
  socket.write(bytes)
  let received = ''
  socket.setEncoding('utf8').on('data', text => {
    received += text
  })
  await new Promise<void>(resolve => socket.once('close', () => resolve()).on('error', () => undefined))
  return received
}

/** Stands between two nodes, and sees and can alter what is sent to the second one. */
class Wire implements AsyncDisposable {
  readonly nodeId: NodeId
  readonly nodeUrl: string
  readonly sent: Buffer[] = []
  isAltering = false
  readonly #server: Server

  private constructor(server: Server, nodeId: NodeId) {
    this.#server = server
    this.nodeId = nodeId
    const address = server.address()
    this.nodeUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }

  static async to({ nodeId, nodeUrl }: Pick<TestNode, 'nodeId' | 'nodeUrl'>): Promise<Wire> {
    const server = createServer(client => {
      const there = connect(Number(new URL(nodeUrl).port), '127.0.0.1')
      for (const [one, other] of [
        [client, there],
        [there, client]
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy())
      there.on('data', bytes => void client.write(bytes))
      client.on('data', (bytes: Buffer) => {
        wire.sent.push(Buffer.from(bytes))
        if (wire.isAltering) bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
        there.write(bytes)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const wire = new Wire(server, nodeId)
    return wire
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
  }
}

test('the listener between nodes closes everything else without an answer', async () => {
  await using nodes = await Nodes.open()
  const credentials = Object.entries(nodes.credentials).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = (line: string, more = '') => `${line} HTTP/1.1\r\nhost: h\r\n${credentials.join('')}${more}\r\n`
  const forged = `${SIGNATURE}: ${'x'.repeat(20)} 0 1 1 1 0 ${'0'.repeat(64)} 192.0.2.1 ${'0'.repeat(64)}\r\n`
  let executed = 0
  nodes.owner.onPassedOn = () => {
    executed += 1
  }
  for (const bytes of [
    head('GET /orders'),
    head('GET /healthz'),
    head('GET /orders', forged),
    head('POST /orders', 'expect: 100-continue\r\ncontent-length: 2\r\n'),
    head('POST /orders', 'expect: other\r\n'),
    head('GET /stream', 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n'),
    head('GET /nodes/requests', 'connection: upgrade\r\nupgrade: trunkline-requests-1\r\n'),
    head('GET /nodes/requests', `connection: upgrade\r\nupgrade: trunkline-requests-1\r\n${forged}`),
    head('CONNECT h:80'),
    head('GET /orders', `long: ${'x'.repeat(40_000)}\r\n`),
    'GET /orders HTTP/1.1\r\n\r\n',
    'no http\r\n\r\n'
  ]) {
    assert.equal(await raw(nodes.owner, bytes), '', bytes.slice(0, 60))
  }
  assert.equal(executed, 0)
})

test('a message between nodes that somebody recorded is taken once, and an altered one not at all', async () => {
  await using nodes = await Nodes.open()
  const { nodeId, messages } = nodes.owner
  const sent = (body: string, session: string) => {
    const headers: Record<string, string> = { host: 'h', 'content-type': 'application/json' }
    const vouched = { address: '', platformAllowance: ALLOWANCE, body: Buffer.from('{"a":1}') }
    const signature = new Signer(KEY, session).sign(nodeId, { method: 'POST', url: MESSAGES, headers }, vouched)
    const lines = Object.entries({ ...headers, 'content-length': body.length, [SIGNATURE]: signature, connection: 'close' })
    return `POST ${MESSAGES} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  }
  assert.match(await raw(nodes.owner, sent('{"a":2}', 'session-of-the-altered')), /^HTTP\/1.1 400 /)
  const recorded = sent('{"a":1}', SESSION)
  assert.match(await raw(nodes.owner, recorded), /^HTTP\/1.1 204 /)
  assert.equal(await raw(nodes.owner, recorded), '')
  assert.deepEqual(messages, [{ a: 1 }])
})

test('a recorded link with an order is not taken again, an altered one ends, and nobody can read what is on it', async () => {
  await using nodes = await Nodes.open()
  const { asked, owner, broker } = nodes
  await using wire = await Wire.to(owner)
  asked.ownership.to(wire)
  assert.equal((await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-1') })).status, 201)
  const recorded = Buffer.concat(wire.sent)
  for (const secret of ['c-1', nodes.credentials['user-secret'] ?? '', '/orders']) assert.ok(!recorded.includes(secret), secret)
  assert.equal(await raw(owner, recorded), '', 'the opening is refused')
  wire.isAltering = true
  assert.equal((await nodes.ask(asked, 'POST', '/orders', { body: nodes.ticket('c-2') })).status, 500)
  wire.isAltering = false
  assert.equal((await nodes.ask(asked, 'GET', '/orders')).status, 200, 'over a new link')
  assert.equal(broker.commands.length, 1)
})

test('headers between nodes that a client sends to the public server have no effect', async () => {
  await using nodes = await Nodes.open()
  const signature = signed(nodes.owner.nodeId).headers[SIGNATURE]
  const headers = { [SIGNATURE]: String(signature), 'trunkline-not-executed': '1', 'trunkline-user-limited': '1', 'x-request-id': 'r-1' }
  for (const node of [nodes.asked, nodes.owner]) {
    const placed = await nodes.ask(node, 'POST', '/orders', { body: nodes.ticket(node === nodes.asked ? 'c-1' : 'c-2'), headers })
    assert.equal(placed.status, 201)
    assert.ok(![...placed.headers.keys()].some(name => name.startsWith('trunkline-not') || name.startsWith('trunkline-user')))
  }
  const entries = await nodes.store.audit.list(100)
  assert.deepEqual(
    entries.filter(({ action }) => action === 'order.place').map(({ ip }) => ip),
    ['127.0.0.1', '127.0.0.1']
  )
})
