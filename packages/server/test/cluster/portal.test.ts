// The portal at three nodes: each step of linking an account may reach another one, and so may the second click of a step.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { application } from '@trunkline/core/app/application'
import type { Deps } from '@trunkline/core/app/deps'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { DEFAULT_TIMING } from '@trunkline/core/app/timing'
import { createUser } from '@trunkline/core/app/users/users'
import type { Platform } from '@trunkline/core/domain/account'
import { type NodeId, parseUserId } from '@trunkline/core/domain/ids'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { PlainVault } from '@trunkline/testkit/plain-vault'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { ScriptedBroker } from '@trunkline/testkit/scripted-broker/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { until } from '@trunkline/testkit/until'
import type { FastifyInstance } from 'fastify'
import { Client } from 'pg'
import { CredentialCache } from '../../src/auth/credential-cache.ts'
import { buildHttp, DEFAULT_OPTIONS } from '../../src/http/index.ts'
import { problemOf } from '../../src/http/problems.ts'
import { SystemClock } from '../../src/ops/clock.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { portal } from '../../src/portal/portal.ts'
import { SharedSubmissions, type Submissions } from '../../src/portal/shared-submissions.ts'
import { openStore, type SqlStore } from '../../src/store/index.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { buildWebhooks } from '../../src/webhooks/index.ts'

const PUBLIC = 'https://trunkline.example'
const BROKER = 'https://scripted.example/log-in'
const LINKED = 'https://platform.example/linked'
const [clock, ids, vault] = [new SystemClock(), new RandomIds(), new PlainVault()]
const hasher = new Sha256Hasher(Buffer.alloc(32, 7))
const log = { debug() {}, info() {}, warn() {}, error() {} }

const undone = new AsyncDisposableStack()
let store: SqlStore
let client: Client
let nodes: readonly PortalNode[]
let platform: Platform
/** Logins that were completed at the broker, and what each waits for. */
let completed: string[] = []
let atBroker: () => Promise<void> = async () => undefined
/** How often a node has looked who handles a form, and what the beginning of a login waits for. */
let looks = 0
let beginning: () => Promise<void> = async () => undefined
after(() => undone.disposeAsync())

before(async () => {
  const cluster = undone.use(await sharedPostgres())
  const database = undone.use(await createDatabase(cluster.url))
  store = undone.use(await openStore({ kind: 'postgres', url: database.url, poolMax: 8 }, { clock, ids, log }))
  client = new Client(database.url)
  await client.connect()
  undone.defer(() => client.end())
  platform = { ...make.platform(), redirectAllowList: [LINKED] }
  await store.platforms.create(platform, hasher.hash('secret'), make.audit())
  nodes = [await open(), await open(), await open()]
})

interface PortalNode {
  readonly http: FastifyInstance
  die(): Promise<void>
}

async function open(): Promise<PortalNode> {
  const scripted = new ScriptedBroker(clock)
  const login: BrokerDefinition['login'] = {
    kind: 'oauth',
    origin: 'https://scripted.example',
    begin: async ({ state }) => {
      await beginning()
      return { authorizationUrl: `${BROKER}?state=${state}`, verifier: 'v' }
    },
    complete: async ({ callbackUrl }) => {
      completed.push(callbackUrl)
      await atBroker()
      return { token: 't-1' }
    },
    revoke: async () => undefined
  }
  const definition = { ...scripted.definition, login }
  const bus = new LocalBus(log)
  const deps: Deps = {
    ...{ clock, ids, log, bus, store, hasher, vault, ownership: soleOwnership, timing: DEFAULT_TIMING },
    brokers: new Map([[definition.capabilities.id, definition]]),
    meter: { count() {}, observe() {} }
  }
  const parts = undone.use(application(deps, new CredentialCache(store, bus, clock)))
  const webhooks = buildWebhooks({ webhookNetworks: [] }, deps, { add() {} }).ports
  const http = buildHttp(parts.app, { ...DEFAULT_OPTIONS, publicUrl: () => PUBLIC, accessLog: 'none', webhooks })
  undone.defer(() => http.close())
  const nodeId = ids.uuid<NodeId>()
  await client.query(`select join_members($1, 'http://node', 'node', interval '1 hour')`, [nodeId])
  const watched: Submissions = {
    look: form => store.submissions.look(form),
    begin: async (form, as) => {
      const known = await store.submissions.begin(form, as)
      looks += 1
      return known
    },
    answered: (...answer) => store.submissions.answered(...answer),
    drop: (...run) => store.submissions.drop(...run)
  }
  const submissions = new SharedSubmissions({ ...deps, store: watched, nodeId })
  await portal(http, parts.app, { publicUrl: () => PUBLIC, demo: () => null, problemOf, submissions })
  await http.ready()
  const die = async () => void (await client.query('select leave_members($1)', [nodeId]))
  return { http, die }
}

const node = (index: number) => nodes[index] ?? assert.fail()

/** One browser, whose requests reach any node. */
class Browser {
  readonly #cookies = new Map<string, string>()

  async go(at: PortalNode, url: string, fields?: Readonly<Record<string, string>>) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const { pathname, search } = new URL(url)
    const form = fields && { payload: new URLSearchParams(fields).toString() }
    const response = await at.http.inject({
      ...{ method: fields === undefined ? 'GET' : 'POST', url: `${pathname}${search}`, ...form },
      headers: { cookie, ...(fields && { 'content-type': 'application/x-www-form-urlencoded' }) }
    })
    for (const { name, value } of response.cookies) this.#cookies.set(name, value)
    return { status: response.statusCode, location: String(response.headers.location ?? ''), html: response.body }
  }
}

async function begin(name: string): Promise<{ readonly link: string; readonly browser: Browser; count(): Promise<number> }> {
  completed = []
  const caller = { platform, ip: null, requestId: null }
  const { user, userSecret } = await createUser({ store, ids, hasher, clock }, caller, parseUserId(name))
  const credentials = { 'client-id': platform.clientId, 'client-secret': 'secret', 'user-id': name, 'user-secret': userSecret }
  const body = { connection_type: 'trade', broker: 'SANDBOX', redirect_url: LINKED }
  const begun = await node(0).http.inject({ method: 'POST', url: '/connections', headers: credentials, payload: body })
  assert.equal(begun.statusCode, 201, begun.body)
  const count = async () => (await store.connections.listByUser(user.userKey, null)).length
  return { link: begun.json().authorization_url, browser: new Browser(), count }
}

/** Approves at one node, and returns the address to which the broker sends the browser back. */
async function loggedIn(browser: Browser, link: string, at: PortalNode): Promise<string> {
  assert.equal((await browser.go(at, link)).status, 200)
  const approved = await browser.go(at, link, { decision: 'approve', broker: 'SANDBOX' })
  assert.match(approved.location, /^https:\/\/scripted\.example/, approved.html)
  return back(approved.location)
}

const back = (location: string) => `${PUBLIC}/connect/callback/sandbox?code=c&state=${new URL(location).searchParams.get('state')}`

test('each step of a linking may reach another node', async () => {
  const { link, browser, count } = await begin('each')
  assert.equal((await browser.go(node(1), link)).status, 200)
  const approved = await browser.go(node(2), link, { decision: 'approve', broker: 'SANDBOX' })
  const linked = await browser.go(node(0), back(approved.location))
  assert.match(linked.location, /^https:\/\/platform\.example\/linked\?connection_id=/)
  assert.equal(await count(), 1)
  assert.equal(
    (await browser.go(node(1), link)).location,
    `${LINKED}?error=400&error_details=The%20link%20has%20been%20used.%20Create%20a%20new%20connection.`
  )
})

test('two clicks at three nodes at once: one login is begun, one is completed, and every page leads to the same place', async () => {
  const { link, browser, count } = await begin('clicks')
  assert.equal((await browser.go(node(0), link)).status, 200)
  looks = 0
  beginning = () => until(() => looks >= 3, 'every node has looked who begins the login')
  const approve = (at: PortalNode) => browser.go(at, link, { decision: 'approve', broker: 'SANDBOX' })
  const approved = await Promise.all([...nodes, ...nodes].map(approve))
  beginning = async () => undefined
  const [location, ...others] = new Set(approved.map(answer => answer.location))
  assert.deepEqual(others, [], 'one state')
  const address = back(location ?? '')
  atBroker = () => until(() => completed.length > 0, 'it is at the broker')
  const arrived = await Promise.all([...nodes, ...nodes].map(at => browser.go(at, address)))
  assert.equal(completed.length, 1)
  assert.deepEqual(arrived.map(({ status }) => status).sort(), [303, 400, 400, 400, 400, 400])
  const linked = arrived.find(({ status }) => status === 303)?.location ?? ''
  assert.match(linked, /\?connection_id=/)
  for (const { status, html } of arrived) if (status === 400) assert.ok(html.includes(linked.replaceAll('&', '&amp;')), html)
  assert.equal(await count(), 1)
  // Later, at a node that has not seen it.
  assert.ok((await browser.go(node(2), address)).html.includes(linked.replaceAll('&', '&amp;')))
})

test('a user who declines twice at two nodes is sent to the same place', async () => {
  const { link, browser, count } = await begin('declines')
  assert.equal((await browser.go(node(0), link)).status, 200)
  const answers = await Promise.all(nodes.map(at => browser.go(at, link, { decision: 'decline' })))
  for (const { location } of answers) assert.match(location, /\?error=401&error_details=The%20user%20declined/)
  assert.equal(await count(), 0)
})

test('if a node dies while it completes a login, a second click is answered, and the link can be used again', async () => {
  const dying = await open()
  const { link, browser, count } = await begin('dies')
  const address = await loggedIn(browser, link, node(0))
  const gate = Promise.withResolvers<void>()
  atBroker = () => gate.promise
  const lost = browser.go(dying, address)
  await until(() => completed.length === 1, 'the node completes it')
  const second = browser.go(node(1), address)
  await dying.die()
  const answer = await second
  assert.equal(answer.status, 400, 'this login is not the current one')
  atBroker = async () => undefined
  const again = await browser.go(node(2), await loggedIn(browser, link, node(1)))
  assert.match(again.location, /\?connection_id=/)
  gate.reject(new Error('the node is dead'))
  assert.equal((await lost).status, 500)
  assert.equal(await count(), 1)
})
