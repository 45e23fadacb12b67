// Several nodes are one service: any of them takes any request and any session, and losing one loses nothing.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { metricsPage } from '@trunkline/testkit/metrics'
import { until } from '@trunkline/testkit/until'
import { type Answer, Api, type Body, type User } from './api.ts'
import { type ClusterNode, startCluster } from './cluster-stage.ts'
import { link } from './linking.ts'
import { MarketClient } from './market-client.ts'
import { StreamClient } from './stream-client.ts'

const cluster = await startCluster()
after(() => cluster[Symbol.asyncDispose]())
const [a, b, c] = cluster.nodes

const apis = new Map<string, Promise<Api>>()

/** Made once for each run of a node: reading the schemas of its answers costs more than the answers. */
function apiOf(node: ClusterNode): Promise<Api> {
  const api = apis.get(node.url) ?? Api.of(node.service)
  apis.set(node.url, api)
  return api
}

/** A user with an account, made through different nodes. */
async function connected(name: string, login: number): Promise<{ readonly user: User; readonly accountId: string }> {
  const user = await (await apiOf(a)).user(name)
  await link(await apiOf(b), user, 'trade', login)
  const { body } = await (await apiOf(c)).call('GET', '/accounts', { headers: (await apiOf(c)).as(user) })
  return { user, accountId: body.find((row: Body) => row.account_type === 'margin').account_id }
}

const ada = await connected('ada', 0)
const ben = await connected('ben', 1)

async function place(node: ClusterNode, { user, accountId }: typeof ada, id = `order-${crypto.randomUUID()}`): Promise<Answer> {
  const api = await apiOf(node)
  const body = {
    ...{ account_id: accountId, cl_order_id: id, broker: 'SANDBOX', side: 'BUY', order_type: 'MKT' },
    ...{ order_tif: 'DAY', symbol: 'AAPL', order_qty: '1' }
  }
  return api.call('POST', '/orders', { headers: api.as(user), body })
}

async function ordersAt(node: ClusterNode, { user }: typeof ada): Promise<readonly Body[]> {
  const api = await apiOf(node)
  const { body } = await api.call('GET', '/orders?limit=200', { headers: api.as(user) })
  return body.data ?? body
}

/** How many shares of AAPL the node shows. */
async function sharesOf(node: ClusterNode, { user, accountId }: typeof ada): Promise<number> {
  const api = await apiOf(node)
  const { body, text } = await api.call('GET', `/positions?account_id=${accountId}&symbols=AAPL`, { headers: api.as(user) })
  return Number(body[0]?.quantity ?? assert.fail(text))
}

async function marketToken(node: ClusterNode, { user }: typeof ada): Promise<string> {
  const api = await apiOf(node)
  const { body } = await api.call('GET', '/connections', { headers: api.as(user) })
  const { body: token } = await api.call('GET', `/connections/${body[0].connection_id}/token`, { headers: api.as(user) })
  return token.access_token
}

/** Places orders until one is taken, as a client does while a node is lost; gives the accepted one. */
async function placedSoon(node: ClusterNode, who: typeof ada): Promise<Answer> {
  let answer: Answer | null = null
  await until(async () => {
    answer = await place(node, who)
    return answer.status === 201
  }, 'an order is taken')
  return answer ?? assert.fail()
}

async function session(node: ClusterNode, users: readonly User[]): Promise<StreamClient> {
  const client = StreamClient.connect(node.service.demo.stream_url, null)
  await client.welcomed()
  await client.authenticate(cluster.demo, { extensions: ['stream_status'] })
  await client.subscribe('orders')
  for (const { userId } of users) await client.follow(userId)
  return client
}

/** How many of the 256 partitions of users the node owns. */
async function owned(node: ClusterNode): Promise<number> {
  const [, count = ''] = /^trunkline_owned_partitions (\d+)$/m.exec(await metricsPage(node.url)) ?? []
  return Number(count)
}

/** Fails if updates of a user are missing or repeated. */
function assertGapless(client: StreamClient, { user }: typeof ada): void {
  const seqs = client.of(user.userId).map(({ message }) => message.seq)
  for (const [index, seq] of seqs.entries()) if (index > 0) assert.ok(seq > (seqs[index - 1] ?? 0), `${seq} after ${seqs[index - 1]}`)
}

test('an order placed through any node is the same at every node', async () => {
  for (const node of cluster.nodes) {
    const answer = await place(node, ada)
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.normalized_status, 'filled', answer.text)
  }
  const [here, there, elsewhere] = await Promise.all(cluster.nodes.map(node => ordersAt(node, ada)))
  assert.equal(here?.length, 3)
  assert.deepEqual(there, here)
  assert.deepEqual(elsewhere, here)
})

test('one cl_order_id sent through three nodes at once is one order', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => place(cluster.nodes[index % 3] ?? a, ben, 'only-once')))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 11 }, () => 409)])
  const placed = answers.find(({ status }) => status === 201)
  assert.equal((await ordersAt(c, ben)).length, 1)
  for (const { status, body } of answers) if (status === 409) assert.equal(body.order_id, placed?.body.order_id)
})

test('what one node has shown is never older at another', async () => {
  for (const round of [0, 1, 2]) {
    const at = cluster.nodes[round] ?? a
    const before = await sharesOf(at, ada)
    assert.equal((await place(at, ada)).status, 201)
    let shown = before + 1
    // The order's answer had its fill, so every later read at any node has its share.
    for (const node of [...cluster.nodes, ...cluster.nodes]) {
      const shares = await sharesOf(node, ada)
      assert.ok(shares >= shown, `${shares} after ${shown}`)
      shown = shares
    }
  }
})

test('an access token that is used at one node ends the sessions of an older one at another', async () => {
  const [older, newer] = [await marketToken(a, ben), await marketToken(b, ben)]
  const refused = await MarketClient.connect(b.service.demo.market_data_stream_url)
  assert.equal((await refused.ask({ action: 'authenticate', access_token: older })).error_code, 'auth_error')
  const session = await MarketClient.connect(c.service.demo.market_data_stream_url)
  assert.equal((await session.ask({ action: 'authenticate', access_token: newer })).type, 'auth_success')
  const newest = await marketToken(c, ben)
  const next = await MarketClient.connect(a.service.demo.market_data_stream_url)
  assert.equal((await next.ask({ action: 'authenticate', access_token: newest })).type, 'auth_success')
  assert.equal((await session.notice()).error_code, 'auth_error')
  assert.equal((await session.ended()).code, 4003)
  for (const client of [refused, next]) client.close()
})

test('a secret that was replaced through one node opens nothing at any other, and the new one opens everything', async () => {
  const [first, second] = [await apiOf(a), await apiOf(b)]
  const eve = await first.user('eve')
  const statuses = async (user: User) => {
    const asked = cluster.nodes.map(async node => {
      const api = await apiOf(node)
      return (await api.call('GET', '/connections', { headers: api.as(user) })).status
    })
    return await Promise.all(asked)
  }
  assert.deepEqual(await statuses(eve), [200, 200, 200])
  const { body } = await second.call('POST', '/users/eve/rotate-secret', { headers: second.platform })
  assert.deepEqual(await statuses({ ...eve, secret: body['user-secret'] }), [200, 200, 200])
  await until(async () => (await statuses(eve)).every(status => status === 401), 'the old secret is refused everywhere')
})

test('sessions at every node receive every update, in order and with the same bytes', async () => {
  const sessions = await Promise.all(cluster.nodes.map(node => session(node, [ada.user, ben.user])))
  for (const who of [ada, ben]) for (const node of cluster.nodes) assert.equal((await place(node, who)).status, 201)
  const isDone = (client: StreamClient) =>
    [ada, ben].every(({ user }) => client.of(user.userId).filter(({ message }) => message.data.normalized_status === 'filled').length === 3)
  await until(() => sessions.every(isDone), 'every session has every fill')
  const [first, ...others] = sessions
  for (const { user } of [ada, ben]) for (const other of others) assert.deepEqual(other.texts(user.userId), first?.texts(user.userId))
  for (const client of sessions) client.close()
})

test('an operator is shown the requests and the health of all nodes, whichever is asked', async () => {
  const { key } = await a.operate('operator', 'key', 'create', '--name', 'cluster', '--scope', 'read')
  const ask = async (node: ClusterNode, path: string): Promise<Body> => {
    const response = await fetch(`${node.url}/admin/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(response.status, 200, path)
    return await response.json()
  }
  const [overviewAtA, overviewAtB] = [await ask(a, '/overview'), await ask(b, '/overview')]
  for (const { nodes } of [overviewAtA, overviewAtB])
    assert.deepEqual(
      nodes.map(({ health }: Body) => health),
      ['ok', 'ok', 'ok']
    )
  assert.equal(overviewAtB.nodes.find(({ node }: Body) => node === overviewAtA.nodes[0].node)?.version, overviewAtA.nodes[0].version)
  await fetch(`${c.url}/orders`, { headers: { 'x-request-id': 'asked-of-c' } })
  const { data, unanswered_nodes: unanswered } = await ask(a, '/requests?request_id=asked-of-c')
  assert.deepEqual([data.length, data[0]?.code, unanswered], [1, 'credentials_invalid', []])
  const { data: platforms } = await ask(a, '/platforms')
  for (const node of cluster.nodes)
    for (const { platform_id } of platforms)
      for (const shown of (await ask(node, `/connections?platform=${platform_id}`)).data) {
        assert.equal(shown.health, 'live', JSON.stringify(shown))
        assert.ok(shown.confirmed_at.balances !== null, JSON.stringify(shown))
      }
})

test('operators have the owner of a user act, whichever node they ask, and it is on record once for each time', async () => {
  const { key } = await b.operate('operator', 'key', 'create', '--name', 'acts', '--scope', 'manage', '--scope', 'read')
  const call = async (node: ClusterNode, method: string, path: string, body?: object): Promise<{ status: number; body: Body }> => {
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(`${node.url}/admin/v1${path}`, init)
    return { status: response.status, body: await response.json() }
  }
  const [order] = await ordersAt(a, ada)
  for (const node of cluster.nodes) {
    const read = await call(node, 'POST', `/connections/${order.connection_id}/read-again`)
    assert.deepEqual([read.status, read.body.connection_id], [200, order.connection_id], JSON.stringify(read.body))
    const ended = await call(node, 'POST', `/orders/${order.order_id}/never-received`, { because: 'nobody' })
    assert.deepEqual([ended.status, ended.body.code], [409, 'order_not_settled'])
    assert.match(ended.body.message, /outcome .* is known/)
  }
  let entries: readonly Body[] = []
  await until(async () => {
    const { data, waiting } = (await call(c, 'GET', '/audit?limit=100')).body
    entries = data.filter(({ action }: Body) => action === 'connection.read_again')
    return waiting === 0
  }, 'the entries are chained')
  assert.deepEqual(
    entries.map(({ actor, target, address }) => [actor, target, address]),
    cluster.nodes.map(() => ['operator', order.connection_id, '127.0.0.1'])
  )
  for (const { detail } of entries) assert.match(detail.by, /\(key acts\)$/)
})

test('without NATS, sessions at other nodes are two seconds behind and miss nothing', async () => {
  const sessions = await Promise.all(cluster.nodes.map(node => session(node, [ada.user, ben.user])))
  await cluster.nats.kill()
  for (const who of [ada, ben]) assert.equal((await place(c, who)).status, 201)
  const isDone = (client: StreamClient) =>
    [ada, ben].every(({ user }) => client.of(user.userId).some(({ message }) => message.data.normalized_status === 'filled'))
  await until(() => sessions.every(isDone), 'every session has the fills')
  for (const client of sessions) for (const who of [ada, ben]) assertGapless(client, who)
  const late = await Promise.all(cluster.nodes.map(node => session(node, [ada.user, ben.user])))
  const last = (client: StreamClient) => [ada, ben].map(({ user }) => client.statuses.findLast(status => status.user_id === user.userId))
  const all = [...sessions, ...late]
  await until(
    () => all.every(client => last(client).every(status => status?.health === 'live')),
    'every session knows that both are followed'
  )
  for (const client of all) assert.deepEqual(last(client), last(sessions[0] ?? client), 'their owners have reported it')
  for (const client of all) client.close()
  await cluster.nats.restart()
})

test('a killed node is replaced by the others: orders go on, and a session elsewhere misses nothing', async () => {
  const follower = await session(b, [ada.user, ben.user])
  a.signal('SIGKILL')
  assert.equal(await a.ended(), 'SIGKILL')
  const accepted = [await placedSoon(b, ada), await placedSoon(c, ben)]
  for (const { body } of accepted) {
    await until(
      () => follower.updates.some(({ message }) => message.data.order_id === body.order_id && message.data.normalized_status === 'filled'),
      'the session has the fill'
    )
  }
  for (const who of [ada, ben]) assertGapless(follower, who)
  follower.close()
  await a.start()
  assert.deepEqual(await ordersAt(a, ada), await ordersAt(b, ada))
})

test('a node that is paused past its lease ends itself, and has sent nothing twice', async () => {
  b.signal('SIGSTOP')
  // Some are passed to the frozen node: they wait for the next owner.
  const asked = [ada, ben].flatMap(who => [place(a, who), place(c, who)])
  await until(async () => (await owned(a)) + (await owned(c)) === 256, 'the others own every user')
  for (const answer of await Promise.all(asked)) assert.equal(answer.status, 201, answer.text)
  await placedSoon(a, ada)
  await placedSoon(c, ben)
  b.signal('SIGCONT')
  assert.notEqual(await b.ended(), 0)
  assert.match(b.output, /lease/)
  await b.start()
})

test('a node that is stopped hands its users over, and no request fails meanwhile', async () => {
  const statuses: number[] = []
  let isOver = false
  const load = (async () => {
    while (!isOver) statuses.push((await place(a, ada)).status, (await place(c, ben)).status)
  })()
  b.signal('SIGTERM')
  assert.equal(await b.ended(), 0, b.output.slice(-2_000))
  isOver = true
  await load
  assert.deepEqual([...new Set(statuses)], [201])
})

test('every order is at the broker once, and no order is there that the service does not have', async () => {
  for (const [who, login] of [
    [ada, 0],
    [ben, 1]
  ] as const) {
    const placed = await ordersAt(a, who)
    const statuses = new Set(placed.map(({ normalized_status: status }) => status))
    assert.deepEqual([...statuses], ['filled'])
    assert.equal((await cluster.ordersAtBroker(login)).length, placed.length)
  }
})
