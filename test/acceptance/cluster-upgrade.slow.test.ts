// A rolling upgrade: nodes of two versions are one service, and what breaks the older one waits until none of it lives.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { metricsPage } from '@trunkline/testkit/metrics'
import { until } from '@trunkline/testkit/until'
import { Api, type Body, type User } from './api.ts'
import { type ClusterNode, startCluster } from './cluster-stage.ts'
import { link } from './linking.ts'
import { StreamClient } from './stream-client.ts'

const NEXT = 'packages/server/test/cluster/next-version.ts'
const OWN = 'packages/server/src/main.ts'

const cluster = await startCluster()
after(() => cluster[Symbol.asyncDispose]())
const [a, b, c] = cluster.nodes
/** The nodes that clients are sent to, as a balancer does it. */
let serving: readonly ClusterNode[] = cluster.nodes

interface Client {
  readonly login: number
  readonly user: User
  readonly accountId: string
}

async function connected(name: string, login: number): Promise<Client> {
  const api = await Api.of(a.service)
  const user = await api.user(name)
  await link(api, user, 'trade', login)
  const { body } = await api.call('GET', '/accounts', { headers: api.as(user) })
  return { login, user, accountId: body.find((row: Body) => row.account_type === 'margin').account_id }
}

/** Between two orders of a client: a fast machine would else reach the user's rate limit, and spend the money of the account. */
const PACE_MS = 100

const clients = [await connected('ada', 0), await connected('ben', 1)]

/** Requests under way, by node. */
const underWay = new Map<ClusterNode, number>(cluster.nodes.map(node => [node, 0]))
let turn = 0

/** Sends a request to the next node, as a balancer does it that finishes what it has at a node before that is stopped. */
async function send(user: User, path: string, init: RequestInit = {}): Promise<Response> {
  const node = serving[turn++ % serving.length] ?? assert.fail('no node serves')
  const platform = { 'client-id': cluster.demo.client_id, 'client-secret': cluster.demo.client_secret }
  const headers = { ...platform, 'user-id': user.userId, 'user-secret': user.secret, 'content-type': 'application/json' }
  const count = (change: number) => underWay.set(node, (underWay.get(node) ?? 0) + change)
  count(1)
  try {
    const response = await fetch(`${node.url}${path}`, { ...init, headers })
    await response.clone().arrayBuffer()
    return response
  } finally {
    count(-1)
  }
}

/** Orders and reads of all clients, through all nodes in turn, until it is disposed of. An order waits for the fill of the one before. */
class Load implements AsyncDisposable {
  /** Answers that were no success. */
  readonly failures: string[] = []
  readonly orderIds: string[] = []
  readonly #session: LastingSession
  readonly #working: Promise<unknown>
  #isOver = false

  constructor(session: LastingSession) {
    this.#session = session
    this.#working = Promise.all(clients.map(client => this.#work(client)))
    this.#working.catch(() => undefined) // it is reported by the end
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#working
  }

  async #work({ user, accountId }: Client): Promise<void> {
    for (let count = 1; !this.#isOver; count += 1) {
      await delay(PACE_MS)
      const order = {
        ...{ account_id: accountId, cl_order_id: `order-${count}`, broker: 'SANDBOX', side: 'BUY', order_type: 'MKT' },
        ...{ order_tif: 'DAY', symbol: 'AAPL', order_qty: '1' }
      }
      const placed = await this.#succeeded(send(user, '/orders', { method: 'POST', body: JSON.stringify(order) }))
      await this.#succeeded(send(user, '/accounts'))
      if (placed === null) continue
      this.orderIds.push(placed.order_id)
      await until(() => this.#session.filled.has(placed.order_id), 'the session has the fill')
    }
  }

  async #succeeded(answer: Promise<Response>): Promise<Body | null> {
    const response = await answer
    const text = await response.text()
    if (response.ok) return JSON.parse(text)
    this.failures.push(text)
    return null
  }
}

/** A session that connects again at another node when its own ends, and resumes. */
class LastingSession implements AsyncDisposable {
  readonly seqs = new Map(clients.map(({ user }) => [user.userId, [] as number[]]))
  readonly filled = new Set<string>()
  resumed = 0
  #client: StreamClient | null = null
  #isOver = false
  #running: Promise<void> = Promise.resolve()

  async start(): Promise<this> {
    await this.#connect()
    this.#running = this.#run()
    this.#running.catch(() => undefined) // it is reported by the end
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#client?.close()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const { code } = (await this.#client?.ended()) ?? assert.fail()
      if (this.#isOver) return
      assert.equal(code, 1001)
      this.resumed += 1
      await this.#connect()
    }
  }

  async #connect(): Promise<void> {
    const [node] = serving
    const client = StreamClient.connect(node?.service.demo.stream_url ?? assert.fail('no node serves'), null)
    this.#client = client
    client.onUpdate = ({ message }) => {
      this.seqs.get(message.user_id)?.push(message.seq)
      if (message.data.normalized_status === 'filled') this.filled.add(message.data.order_id)
    }
    await client.welcomed()
    await client.authenticate(cluster.demo)
    await client.subscribe('orders', 'positions', 'balances')
    for (const [userId, seqs] of this.seqs) await client.follow(userId, seqs.at(-1))
  }
}

/** Stops the node, and starts it as another version. Clients are not sent to it meanwhile. */
async function replace(node: ClusterNode, ...program: readonly [string, ...string[]]): Promise<void> {
  serving = cluster.nodes.filter(other => other !== node)
  await until(() => underWay.get(node) === 0, 'the node has answered everything')
  node.signal('SIGTERM')
  assert.equal(await node.ended(), 0, node.output.slice(-2_000))
  await node.start(...program)
  serving = cluster.nodes
}

async function dropped(node: ClusterNode, reason: string): Promise<number> {
  const line = new RegExp(`^trunkline_bus_dropped_total\\{reason="${reason}"\\} (\\d+)$`, 'm')
  return Number(line.exec(await metricsPage(node.url))?.[1] ?? Number.NaN)
}

/** Something happens at the node that owners elsewhere are sent directly, until one of the others was sent it. */
async function assertIgnored(newer: ClusterNode, older: readonly ClusterNode[]): Promise<void> {
  const api = await Api.of(newer.service)
  let count = 0
  await until(async () => {
    const { userId } = await api.user(`user-${++count}`)
    await api.call('POST', `/users/${userId}/rotate-secret`, { headers: api.platform })
    const unknown = await Promise.all(older.map(node => dropped(node, 'unknown')))
    return unknown.some(times => times > 0)
  }, 'a node of the older version was sent what it does not know')
  for (const node of older) assert.equal(await dropped(node, 'malformed'), 0)
  for (const node of older) assert.doesNotMatch(node.output, /was refused/)
}

test('nodes are replaced one by one by the next version and one goes back, under load: no request fails and no session misses anything', async () => {
  await using session = await new LastingSession().start()
  await using running = new Load(session)
  await replace(a, NEXT, 'compatible')
  assert.match(a.output, /migrated the database/)
  await assertIgnored(a, [b, c])
  await replace(b, OWN)
  await replace(b, NEXT, 'compatible')
  await replace(c, NEXT, 'compatible')
  await running[Symbol.asyncDispose]()
  assert.deepEqual(running.failures, [])
  await session[Symbol.asyncDispose]()
  assert.ok(session.resumed > 0)
  for (const seqs of session.seqs.values())
    assert.deepEqual(
      seqs,
      Array.from(seqs, (_, index) => (seqs[0] ?? 0) + index)
    )
  const atBroker = await Promise.all(clients.map(({ login }) => cluster.ordersAtBroker(login)))
  assert.equal(atBroker.flat().length, running.orderIds.length)
})

test('a breaking migration is refused while the version before lives, with the names of its nodes, and disturbs nothing', async () => {
  await assert.rejects(cluster.spare.start(NEXT, 'breaking'), /version-after/)
  assert.equal(await cluster.spare.ended(), 1)
  const [, schema = ''] = /Migration (\d+) \(version-after\) breaks nodes/.exec(cluster.spare.output) ?? []
  const named = cluster.spare.output.match(
    new RegExp(`trunkline/${Number(schema) - 1} \\S+ \\d+ \\w+ \\(schema ${Number(schema) - 1}\\)`, 'g')
  )
  assert.equal(named?.length, 3, cluster.spare.output)
  assert.equal((await fetch(`${a.url}/readyz`)).status, 200)
})

test('once they are stopped, nodes that start together migrate once; the version before cannot start any more', async () => {
  for (const node of cluster.nodes) node.signal('SIGTERM')
  assert.deepEqual(await Promise.all(cluster.nodes.map(node => node.ended())), [0, 0, 0])
  await Promise.all([a, b].map(node => node.start(NEXT, 'breaking')))
  const migrated = [a, b].filter(node => node.output.includes('migrated the database'))
  assert.equal(migrated.length, 1)
  await assert.rejects(c.start(OWN))
  assert.equal(await c.ended(), 1)
  assert.match(c.output, /trunkline did not start: The database has migration \d+ \(version-after\) of a newer version/)
})
