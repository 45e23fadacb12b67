// Market data sessions at a node that does not own their user.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { quote } from '@trunkline/testkit/market-stage'
import { ScriptedMarket } from '@trunkline/testkit/scripted-broker/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'
import { WebSocket, WebSocketServer } from 'ws'
import { MARKET, Nodes, type TestNode } from './nodes.ts'

interface Message {
  readonly type?: string
  readonly error_code?: string
  readonly sub_id?: string
}

const open = new Set<WebSocket>()
after(() => {
  for (const socket of open) socket.terminate()
})

let shared: Nodes
before(async () => {
  shared = await Nodes.open({ market: { formerOwnerMs: 10, ownerMs: 300 } })
})
after(() => shared[Symbol.asyncDispose]())

function scene(nodes = shared) {
  nodes.asked.ownership.to(nodes.owner)
  nodes.owner.ownership.toThis()
  const market = new ScriptedMarket(Date.now())
  market.list('SPY')
  nodes.broker.market = market
  const token = async (node: TestNode): Promise<string> => {
    const response = await nodes.ask(node, 'GET', `/connections/${nodes.connectionId}/token`)
    return JSON.parse(await response.text()).access_token
  }
  return { nodes, market, token }
}

async function client(node: TestNode, address = '192.0.2.50') {
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}${MARKET}`, { headers: { 'x-forwarded-for': address } })
  open.add(socket)
  const messages: Message[] = []
  const texts: string[] = []
  socket.on('message', data => {
    texts.push(String(data))
    messages.push(JSON.parse(String(data)))
  })
  const closed = once(socket, 'close')
  await once(socket, 'open')
  const send = (message: object) => socket.send(JSON.stringify({ request_id: 'r', ...message }))
  const received = (type: string) => until(() => messages.some(message => message.type === type), `${type} is received`)
  return { socket, messages, texts, send, received, closed }
}

const SUBSCRIBE = { action: 'subscribe', channel: 'quotes', symbol: 'SPY' }

test('a session through another node receives the same messages, and is one of the owner’s', async () => {
  const { nodes, market, token } = scene()
  const access_token = await token(nodes.asked)
  const sessions = [await client(nodes.owner), await client(nodes.asked)]
  for (const { send, received } of sessions) {
    send({ action: 'subscribe', channel: 'quotes', symbol: 'SPY' })
    await received('error')
    send({ action: 'authenticate', access_token })
    await received('auth_success')
    send(SUBSCRIBE)
    await received('subscription_success')
    send({ action: 'subscribe', channel: 'bars', symbol: 'SPY', interval: '1x' })
    send({ action: 'list_subscriptions' })
    await received('subscriptions_list')
  }
  for (let price = 1; price <= 50; price += 1) {
    market.topic('quotes', 'SPY').quote(quote(String(price)))
    await new Promise(resolve => setImmediate(resolve))
  }
  const last = sessions.map(
    ({ texts }) =>
      () =>
        texts.at(-1)?.includes('"50"') === true
  )
  await until(() => last.every(isReceived => isReceived()), 'both have the last quote')
  const [direct, passed] = sessions.map(({ texts }) => texts.map(text => text.replace(/"session_id":"[^"]+"/, '')))
  assert.deepEqual(passed, direct)
  assert.deepEqual([nodes.owner.market.authenticated, nodes.asked.market.authenticated, nodes.asked.marketSessions.count], [2, 0, 1])
  assert.equal(market.topics('quotes', 'SPY').length, 1, 'the broker streams it once')

  sessions[1]?.socket.close()
  await until(() => nodes.owner.market.authenticated === 1 && nodes.asked.marketSessions.count === 0, 'the owner’s session ends too')
})

test('the client’s address counts: a session from another address ends it, with the owner’s code', async () => {
  const { nodes, token } = scene()
  const access_token = await token(nodes.owner)
  const first = await client(nodes.asked, '192.0.2.50')
  first.send({ action: 'authenticate', access_token })
  await first.received('auth_success')
  const second = await client(nodes.asked, '192.0.2.51')
  second.send({ action: 'authenticate', access_token })
  await second.received('auth_success')
  const [code] = await first.closed
  assert.equal(code, 4003)
  assert.equal(first.messages.at(-1)?.error_code, 'auth_error')
})

test('sessions of one token stay open together, however a proxy writes their address', async () => {
  const { nodes, token } = scene()
  const access_token = await token(nodes.owner)
  const spellings = ['192.0.2.52', '192.0.2.52:4711', '::ffff:192.0.2.52', '[::ffff:c000:234]:4712']
  const sessions = await Promise.all(spellings.map(address => client(nodes.asked, address)))
  for (const { send, received } of sessions) {
    send({ action: 'authenticate', access_token })
    await received('auth_success')
  }
  for (const { send, received } of sessions) {
    send({ action: 'list_subscriptions' })
    await received('subscriptions_list')
  }
})

test('a wrong token is refused by the node that was asked', async () => {
  const { nodes } = scene()
  const { count } = nodes.asked.marketSessions
  const { send, received, messages } = await client(nodes.asked)
  send({ action: 'authenticate', access_token: 'wrong' })
  await received('error')
  assert.equal(messages.at(-1)?.error_code, 'auth_error')
  assert.ok(nodes.asked.marketSessions.count <= count)
})

test('an owner that dies ends the session with the code to connect again', async () => {
  await using nodes = await Nodes.open()
  const { token } = scene(nodes)
  const session = await client(nodes.asked)
  session.send({ action: 'authenticate', access_token: await token(nodes.owner) })
  await session.received('auth_success')
  nodes.owner.kill()
  const [code, reason] = await session.closed
  assert.deepEqual([code, String(reason)], [1001, 'the node that served this session is gone; connect again'])
})

test('a session whose node has lost the user and closes nothing is closed', async () => {
  const { nodes, token } = scene()
  const session = await client(nodes.asked)
  session.send({ action: 'authenticate', access_token: await token(nodes.owner) })
  await session.received('auth_success')
  nodes.asked.ownership.toThis()
  const [code] = await session.closed
  assert.equal(code, 1001)
})

test('a session waits while its user is moved, and is then opened at the owner, or here', async () => {
  const { nodes, token } = scene()
  const { asked, owner } = nodes
  const access_token = await token(owner)
  for (const to of [() => asked.ownership.to(owner), () => asked.ownership.toThis()]) {
    asked.ownership.set({ kind: 'none' })
    asked.ownership.onWait = () => {
      asked.ownership.onWait = () => undefined
      to()
    }
    const session = await client(asked)
    session.send({ action: 'authenticate', access_token })
    await session.received('auth_success')
    session.socket.terminate()
  }
  assert.equal(asked.market.authenticated + owner.market.authenticated > 0, true)
})

test('a node that takes no connection ends no session: it is opened at the next owner', async () => {
  const { nodes, token } = scene()
  const { asked, owner } = nodes
  const access_token = await token(owner)
  asked.ownership.to({ nodeId: owner.nodeId, nodeUrl: 'http://127.0.0.1:1' })
  asked.ownership.onWait = () => {
    asked.ownership.onWait = () => undefined
    asked.ownership.to(owner)
  }
  const session = await client(asked)
  session.send({ action: 'authenticate', access_token })
  const outcome = await Promise.race([session.received('auth_success').then(() => 'opened'), session.closed.then(([code]) => code)])
  assert.equal(outcome, 'opened')
})

test('a session is never passed through twice', async () => {
  const { nodes, token } = scene()
  const access_token = await token(nodes.owner)
  nodes.owner.ownership.to(nodes.asked)
  const session = await client(nodes.asked)
  session.send({ action: 'authenticate', access_token })
  const [code] = await session.closed
  assert.deepEqual([code, nodes.owner.marketSessions.count], [1001, 0])
})

test('without an owner a session is refused, and may try again', async () => {
  const { nodes, token } = scene()
  const access_token = await token(nodes.owner)
  nodes.asked.ownership.set({ kind: 'none' })
  const session = await client(nodes.asked)
  session.send({ action: 'authenticate', access_token })
  await session.received('error')
  assert.equal(session.messages.at(-1)?.error_code, 'internal_error')
  nodes.asked.ownership.to(nodes.owner)
  session.send({ action: 'authenticate', access_token })
  await session.received('auth_success')
})

test('a user who is disabled without a message of it receives no market data after two seconds, at any node', async () => {
  const { nodes, token } = scene()
  const access_token = await token(nodes.asked)
  const { send, received, closed } = await client(nodes.asked)
  send({ action: 'authenticate', access_token })
  await received('auth_success')
  await nodes.store.users.setDisabled(parseUuid<UserKey>(nodes.userKey, 'user'), make.at(1), make.audit())
  const [code] = await closed
  assert.equal(code, 4003)
  await nodes.store.users.setDisabled(parseUuid<UserKey>(nodes.userKey, 'user'), null, make.audit())
})

test('a token is not sent to an address that does not prove to be a node’s', async () => {
  const { nodes, token } = scene()
  const access_token = await token(nodes.owner)
  await using impostor = await Impostor.listen()
  nodes.asked.ownership.to({ nodeId: nodes.owner.nodeId, nodeUrl: impostor.url })
  const session = await client(nodes.asked)
  session.send({ action: 'authenticate', access_token })
  const [code] = await session.closed
  assert.deepEqual([code, impostor.messages, impostor.opened > 0], [1001, [], true])
})

/** Answers as a node does, without the key. */
class Impostor implements AsyncDisposable {
  readonly messages: string[] = []
  opened = 0
  readonly #server: WebSocketServer

  private constructor(server: WebSocketServer) {
    this.#server = server
    server.on('headers', lines => void lines.push(`trunkline-proof: ${'ab'.repeat(32)}`))
    server.on('connection', socket => {
      this.opened += 1
      socket.on('message', data => void this.messages.push(String(data)))
    })
  }

  static async listen(): Promise<Impostor> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    const impostor = new Impostor(server)
    await once(server, 'listening')
    return impostor
  }

  get url(): string {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#server.clients) client.terminate()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
