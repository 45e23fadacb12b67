// Market data tokens: which let in, and whose sessions end when another comes in, over every order of events; and what else ends a session.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import type { Engine } from './harness.ts'
import type { MarketClient } from './market-client.ts'
import { MarketStage, type Viewer } from './market-stage.ts'
import { type Address, type Connection, described, type Row, rows, TokenModel, walk } from './market-tokens-model.ts'

const ENDED = 4003
const AT_ONCE = 6
const SEED = 20_261
const WALKS = 20
const WALK_EVENTS = 24

/** Ended because somebody else came in. */
async function superseded(client: MarketClient): Promise<void> {
  const notice = await client.notice()
  assert.deepEqual([notice.type, notice.error_code, notice.request_id], ['error', 'auth_error', null])
  assert.equal((await client.ended()).code, ENDED)
}

/** Ended because there is nothing to connect to any more. */
async function cutOff(client: MarketClient): Promise<void> {
  const { error_code, request_id, message } = await client.notice()
  assert.deepEqual([error_code, request_id], ['connection_broken', null], message)
  assert.equal((await client.ended()).code, ENDED)
}

describe('market data tokens', () => tokenTests('postgres'))

function tokenTests(engine: Engine): void {
  let stage: MarketStage
  before(async () => {
    stage = await MarketStage.open({}, engine)
  })
  after(() => stage[Symbol.asyncDispose]())

  const shown = async (token: string, address: string): Promise<{ readonly client: MarketClient; readonly code: string | null }> => {
    const client = await stage.knock({ address })
    const reply = await client.ask({ action: 'authenticate', access_token: token })
    return { client, code: reply.type === 'auth_success' ? null : reply.error_code }
  }

  /** Plays one row in a user's name. */
  async function play(row: Row, viewer: Viewer, connections: Readonly<Record<Connection, string>>): Promise<void> {
    await using resources = new AsyncDisposableStack()
    const model = new TokenModel()
    const addresses: Readonly<Record<Address, string>> = { X: stage.address(), Y: stage.address() }
    const tokens = new Map<number, string>()
    const sockets = new Map<number, MarketClient>()
    const socket = (number: number): MarketClient => sockets.get(number) ?? assert.fail(`no socket ${number}`)
    for (const event of row) {
      const { letsIn, ends, up } = model.apply(event)
      if (event.do === 'issue') tokens.set(event.token, await viewer.token(connections[event.connection]))
      else {
        const { client, code } = await shown(tokens.get(event.token) ?? '', addresses[event.from])
        resources.use(client)
        sockets.set(event.socket, client)
        assert.equal(code, letsIn ? null : 'auth_error', `socket ${event.socket} shows ${event.token}`)
        if (!letsIn) assert.equal((await client.ask({ action: 'list_subscriptions' })).error_code, 'not_authenticated')
      }
      for (const number of ends) await superseded(socket(number))
      for (const number of up) await socket(number).quiet()
    }
  }

  test('two tokens, two sockets and a third, two addresses, in every order; and long courses by chance [S55]', async t => {
    const table = rows()
    assert.equal(table.length, 112)
    const all = [...table, ...Array.from({ length: WALKS }, (_, index) => walk(WALK_EVENTS, new SeededChance(SEED + index)))]
    t.diagnostic(`${table.length} rows and ${WALKS} walks of seed ${SEED}`)
    const left = [...all.entries()]
    const faults: string[] = []
    // Each worker plays its rows one after the other with a user of its own, beside the others, who must not be disturbed.
    const worker = async (): Promise<void> => {
      const viewer = await stage.viewer('worker')
      const connections = { 1: viewer.connectionId, 2: await viewer.connect() }
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [index, row] = next
        await play(row, viewer, connections).catch(cause => faults.push(`row ${index} (seed ${SEED}), ${described(row)}: ${cause}`))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    assert.equal(faults.length, 0, `${faults.length} of ${all.length}:\n${faults.slice(0, 10).join('\n')}`)
  })

  test('a token has the form and the life it is said to have, and can be had for every kind of connection', async () => {
    const viewer = await stage.viewer()
    for (const connectionType of ['readonly', 'market_data', 'trade']) {
      const connectionId = await viewer.connect(connectionType)
      const { status, body } = await viewer.call('GET', `/connections/${connectionId}/token`)
      assert.equal(status, 200)
      assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_at', 'expires_in'])
      assert.match(body.access_token, /^mdt_[A-Za-z0-9_-]{43}$/)
      assert.equal(body.expires_in, 24 * 3600)
      assert.ok(Math.abs(Date.parse(body.expires_at) - Date.now() - 24 * 3600 * 1000) < 60_000)
      const { client, code } = await shown(body.access_token, stage.address())
      assert.equal(code, null)
      await client.close()
    }
  })

  test('many sockets of one user, from one address with one token, live beside each other; then one from elsewhere ends them all [S55]', async () => {
    const viewer = await stage.viewer()
    const token = await viewer.token()
    await using resources = new AsyncDisposableStack()
    const clients = await Promise.all(Array.from({ length: 25 }, () => viewer.session()))
    for (const client of clients) resources.use(client)
    for (const client of clients) await client.subscribe('quotes', 'AAPL')
    for (const client of clients) await client.quiet()
    const { client: late, code } = await shown(token, stage.address())
    resources.use(late)
    assert.equal(code, null)
    await Promise.all(clients.map(superseded))
    await late.quiet()
  })

  test('users do not disturb each other, whatever addresses they share', async () => {
    const [ada, bob] = [await stage.viewer('ada'), await stage.viewer('bob')]
    const address = stage.address()
    await using one = await ada.session({ address })
    const subId = await one.subscribe('quotes', 'AAPL')
    for (const from of [address, stage.address(), address]) {
      const { client, code } = await shown(await bob.token(), from)
      assert.equal(code, null)
      await client.close()
    }
    const count = one.updates(subId).length
    await one.updated(subId, count + 1)
    await one.quiet()
  })

  test('of those who come in at once from two addresses, one address is left', async () => {
    const viewer = await stage.viewer()
    const token = await viewer.token()
    const addresses = [stage.address(), stage.address()]
    for (let round = 0; round < 10; round++) {
      await using resources = new AsyncDisposableStack()
      const clients = await Promise.all(Array.from({ length: 8 }, (_, index) => stage.knock({ address: addresses[index % 2] ?? '' })))
      for (const client of clients) resources.use(client)
      for (const [index, client] of clients.entries())
        client.begin({ action: 'authenticate', access_token: token, request_id: `in-${index}` })
      for (const [index, client] of clients.entries()) assert.equal((await client.answer(`in-${index}`)).type, 'auth_success')
      const last = await stage.knock({ address: addresses[round % 2] ?? '' })
      resources.use(last)
      await last.authenticate(token)
      for (const [index, client] of clients.entries()) if (index % 2 !== round % 2) await superseded(client)
      await last.quiet()
    }
  })

  test('a new user secret ends the user’s tokens and sessions, of every connection, and no others [S30]', async () => {
    const [viewer, other] = [await stage.viewer(), await stage.viewer()]
    const second = await viewer.connect()
    const tokens = [await viewer.token(), await viewer.token(second)]
    await using bystander = await other.session()
    await using client = await viewer.session()
    const { api } = stage
    const { status, body } = await api.call('POST', `/users/${viewer.userId}/rotate-secret`, { headers: api.platform })
    assert.equal(status, 200)
    await superseded(client)
    for (const token of tokens) {
      const { client: late, code } = await shown(token, stage.address())
      assert.equal(code, 'auth_error')
      await late.close()
    }
    const path = `/connections/${viewer.connectionId}/token`
    assert.equal((await viewer.call('GET', path)).status, 401, 'the old secret gives no token')
    const headers = api.as({ userId: viewer.userId, secret: body['user-secret'] })
    const { client: again, code } = await shown((await api.call('GET', path, { headers })).body.access_token, stage.address())
    assert.equal(code, null)
    await again.close()
    await bystander.quiet()
  })

  test('deleting a connection ends its sessions and tokens, and no others [S37]', async () => {
    const viewer = await stage.viewer()
    const other = await stage.viewer()
    const second = await viewer.connect()
    const secondToken = await viewer.token(second)
    await using bystander = await other.session()
    const subId = await bystander.subscribe('quotes', 'AAPL')
    const token = await viewer.token()
    await using one = await viewer.session()
    await using two = await viewer.session()
    await one.subscribe('quotes', 'AAPL')
    assert.equal((await viewer.call('DELETE', `/connections/${viewer.connectionId}`)).status, 200)
    for (const client of [one, two]) await cutOff(client)
    const { client, code } = await shown(token, stage.address())
    assert.equal(code, 'auth_error')
    await client.close()
    const { client: kept, code: keepCode } = await shown(secondToken, stage.address())
    assert.equal(keepCode, null, 'the user’s other connection has its own token')
    await kept.quiet()
    await kept.close()
    const count = bystander.updates(subId).length
    await bystander.updated(subId, count + 1)
    assert.equal((await viewer.call('GET', `/connections/${viewer.connectionId}/token`)).status, 404)
  })

  test('deleting a user ends the user’s sessions [S31]', async () => {
    const viewer = await stage.viewer()
    const token = await viewer.token()
    await using client = await viewer.session()
    await client.subscribe('trades', 'AAPL')
    const { api } = stage
    assert.equal((await api.call('DELETE', `/users/${viewer.userId}`, { headers: api.platform })).status, 200)
    await cutOff(client)
    const { client: late, code } = await shown(token, stage.address())
    assert.equal(code, 'auth_error')
    await late.close()
  })

  test('a login that the broker ends breaks the connection and ends its sessions', async () => {
    const viewer = await stage.viewer()
    const token = await viewer.token()
    await using client = await viewer.session()
    await client.updated(await client.subscribe('quotes', 'AAPL'))
    await stage.control('POST', `/logins/${viewer.userId}/revoke`, {})
    await client.ended()
    const lastNotice = client.notices.at(-1)
    assert.deepEqual([lastNotice?.error_code, lastNotice?.request_id], ['connection_broken', null])
    assert.equal((await client.ended()).code, ENDED)
    const { body } = await viewer.call('GET', '/connections')
    assert.equal(body[0].status, 'BROKEN', 'what a session receives can be read already')
    const { client: late, code } = await shown(token, stage.address())
    assert.ok(code === 'connection_broken' || code === 'auth_error', `${code}`)
    await late.close()
    assert.equal((await viewer.call('GET', `/connections/${viewer.connectionId}/token`)).status, 401)
  })
}

test('without a trusted proxy the forwarded address is not believed', async () => {
  await using stage = await MarketStage.open({ TRUNKLINE_TRUSTED_PROXIES: '' })
  const viewer = await stage.viewer()
  await using one = await viewer.session({ address: '10.1.1.1' })
  await using two = await viewer.session({ address: '10.2.2.2' })
  for (const client of [one, two]) await client.quiet()
})
