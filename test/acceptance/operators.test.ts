// The API for operators, from outside: who gets in, what each scope opens, and what it shows of an order.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Body } from './api.ts'
import { passesLinter } from './linter.ts'
import { Stage, type Trader } from './stream-stage.ts'

const SCOPES = ['read', 'manage', 'sandbox'] as const
const MARKET = { order_type: 'MKT', order_tif: 'DAY', order_qty: '1' }
const ABSENT = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'

/** What makes an operator of somebody unknown. */
const OPEN = new Set(['createOperatorSession', 'readOperatorLoginOptions', 'beginProviderLogin', 'createProviderSession'])

interface Given {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

describe('the API for operators', () => {
  let stage: Stage
  let trader: Trader
  let document: Body
  before(async () => {
    stage = await Stage.open('embedded')
    trader = await stage.trader()
    document = (await call('/openapi.json')).body
  })
  after(() => stage[Symbol.asyncDispose]())

  async function call(path: string, { method = 'GET', body, headers = {} }: Given = {}) {
    const response = await fetch(`${stage.service.url}/admin/v1${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }

  const own = () => ({ origin: stage.service.url, 'x-trunkline-operator': '1' })
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const keyWith = async (...scopes: readonly string[]): Promise<string> =>
    (await stage.operate('operator', 'key', 'create', '--name', scopes.join(), ...scopes.flatMap(scope => ['--scope', scope]))).key

  /** Logs in as a browser does; the cookie. */
  async function login(): Promise<string> {
    const { code } = await stage.operate('operator', 'link')
    const { status, headers } = await call('/sessions', { method: 'POST', body: { code }, headers: own() })
    assert.equal(status, 201)
    return (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  }

  test('a code becomes a session once, whose cookie no script reads and no other site sends [S86] [S87]', async () => {
    const { code } = await stage.operate('operator', 'link')
    const enter = () => call('/sessions', { method: 'POST', body: { code }, headers: own() })
    const first = await enter()
    assert.equal(first.status, 201)
    assert.match(
      first.headers.get('set-cookie') ?? '',
      /^trunkline-operator-\d+=os_[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/
    )
    assert.ok(!JSON.stringify(first.body).includes('os_'))
    assert.deepEqual([(await enter()).status, (await enter()).body.code], [401, 'credentials_invalid'])
  })

  test('a page of another site neither exchanges a code nor ends a session [S86]', async () => {
    const { code } = await stage.operate('operator', 'link')
    const cookie = await login()
    for (const headers of [
      {},
      { ...own(), origin: 'https://evil.example' },
      { origin: stage.service.url },
      { 'x-trunkline-operator': '1' }
    ]) {
      assert.equal((await call('/sessions', { method: 'POST', body: { code }, headers })).body.code, 'header_invalid')
      assert.equal((await call('/session', { method: 'DELETE', headers: { ...headers, cookie } })).body.code, 'header_invalid')
    }
    assert.equal((await call('/session', { headers: { cookie } })).status, 200)
  })

  test('a session ends when its operator logs out, and when another operator ends it', async () => {
    const [mine, theirs] = [await login(), await login()]
    assert.equal((await call('/session', { method: 'DELETE', headers: { ...own(), cookie: mine } })).status, 200)
    assert.equal((await call('/session', { headers: { cookie: mine } })).body.code, 'credentials_invalid')
    const { session_id } = (await call('/session', { headers: { cookie: theirs } })).body
    const listed: readonly Body[] = await stage.operate('operator', 'sessions')
    assert.ok(listed.some(session => session.session_id === session_id))
    await stage.operate('operator', 'end-session', session_id)
    assert.equal((await call('/session', { headers: { cookie: theirs } })).body.code, 'credentials_invalid')
  })

  test('a session that has ended counts once, is cleared, and keeps no new code out', async () => {
    const cookie = await login()
    await call('/session', { method: 'DELETE', headers: { ...own(), cookie } })
    for (let request = 0; request < 40; request += 1) {
      const { status, headers } = await call('/overview', { headers: { cookie } })
      assert.equal(status, 401)
      if (request === 0) assert.match(headers.get('set-cookie') ?? '', /; Max-Age=0;/)
    }
    const living = await login()
    // As a browser sends them when a page at another port has set one of the same name.
    const [name] = living.split('=', 1)
    assert.equal((await call('/session', { headers: { cookie: `${name}=planted; ${living}` } })).status, 200)
  })

  test('each operation needs its scope, and nothing is open without credentials [S85]', async () => {
    const keys = new Map(await Promise.all(SCOPES.map(async scope => [scope, await keyWith(scope)] as const)))
    for (const [path, methods] of Object.entries<Body>(document.paths)) {
      for (const [method, { operationId, description, security }] of Object.entries<Body>(methods)) {
        if (security.length === 0) {
          assert.ok(OPEN.has(operationId), operationId)
          continue
        }
        const url = path.replaceAll(/\{\w+\}/g, ABSENT)
        const ask = (headers: Readonly<Record<string, string>>) => call(url, { method: method.toUpperCase(), headers })
        assert.equal((await ask({})).body.code, 'credentials_invalid', operationId)
        const [, needed = 'any'] = /Needs the scope `(\w+)`/.exec(description) ?? []
        for (const [scope, key] of keys) {
          const isAllowed = needed === 'any' || needed === scope
          const { body } = await ask(bearer(key))
          assert.equal(body.code === 'scope_missing', !isAllowed, `${operationId} with ${scope}`)
        }
      }
    }
  })

  test('credentials of platforms open nothing here, and those of operators nothing elsewhere [S85]', async () => {
    const key = await keyWith('read')
    const platform = stage.api.as(trader.user)
    assert.equal((await call('/overview', { headers: platform })).body.code, 'credentials_invalid')
    const cookie = await login()
    for (const headers of [bearer(key), { cookie }]) {
      const response = await fetch(`${stage.service.url}/orders`, { headers })
      assert.equal(response.status, 401)
    }
    assert.equal((await call('/overview', { headers: { ...bearer(key), cookie } })).body.code, 'header_invalid')
  })

  test('a revoked key, a wrong one and hostile credentials are refused alike', async () => {
    const made = await stage.operate('operator', 'key', 'create', '--name', 'gone', '--scope', 'read')
    assert.equal((await call('/overview', { headers: bearer(made.key) })).status, 200)
    await stage.operate('operator', 'key', 'revoke', made.key_id)
    const refused = [
      bearer(made.key),
      bearer(`ok_${'a'.repeat(43)}`),
      bearer('x'.repeat(200)),
      { authorization: 'Basic eDp5' },
      { cookie: 'trunkline-operator=x' }
    ]
    for (const headers of refused) assert.equal((await call('/overview', { headers })).body.code, 'credentials_invalid')
  })

  test('an order is shown step by step, as it is stored', async () => {
    const headers = bearer(await keyWith('read'))
    const placed = await trader.place({ ...MARKET, cl_order_id: 'steps-1' })
    const { status, body } = await call(`/orders/${placed.order_id}/steps`, { headers })
    assert.equal(status, 200)
    assert.equal(body.incomplete, null)
    const kinds: readonly string[] = body.data.map(({ step }: Body) => step)
    assert.deepEqual(kinds.slice(0, 5), ['request', 'recorded', 'sent', 'answer', 'change'])
    const [request, recorded, sent, answer] = body.data
    assert.equal(request.action, 'order.place')
    assert.ok(request.request_id !== null)
    assert.equal(recorded.cl_order_id, 'steps-1')
    assert.ok(recorded.seq > 0 && recorded.event_id !== null)
    assert.deepEqual([sent.at, sent.attempts], [null, 1])
    assert.ok(answer.broker_order_id !== null)
    assert.equal(body.data.at(-1).status, 'filled')
    assert.equal((await call(`/orders/${ABSENT}/steps`, { headers })).body.code, 'order_not_found')
    const { user_key } = (await call(`/orders/${placed.order_id}`, { headers })).body
    const named = async (filter: string) => (await call(`/orders?${filter}`, { headers })).body
    const byName = await named(`user=${user_key}&cl_order_id=steps-1`)
    assert.deepEqual(
      byName.data.map(({ order_id }: Body) => order_id),
      [placed.order_id]
    )
    assert.deepEqual((await named(`user=${user_key}&cl_order_id=steps-2`)).data, [])
    assert.equal((await named('cl_order_id=steps-1')).code, 'query_invalid')
    const found = await call(`/search?q=${placed.order_id}`, { headers })
    assert.deepEqual(
      found.body.data.map(({ kind, id }: Body) => [kind, id]),
      [['order', placed.order_id]]
    )
  })

  test('a successor has the request that made it, a cancel of all orders is one of each, and an answer stays as it was', async () => {
    const headers = bearer(await keyWith('read'))
    const stepsOf = async ({ order_id }: Body): Promise<readonly Body[]> => (await call(`/orders/${order_id}/steps`, { headers })).body.data
    const answerOf = async (order: Body) => (await stepsOf(order)).find(({ step }) => step === 'answer')
    const rest = await trader.rest()
    const answer = await answerOf(rest)
    assert.equal(answer?.source, 'event')
    const next = await trader.modify(rest, { order_limit_price: '1.05' })
    const [request] = await stepsOf(next)
    assert.deepEqual(
      [request?.step, request?.action, request?.target, request?.detail_successor],
      ['request', 'order.modify', rest.order_id, next.order_id]
    )
    await trader.call('POST', '/orders/cancel', { account_id: trader.accountId })
    await until(async () => (await stepsOf(next)).at(-1)?.status === 'cancelled', 'the successor is cancelled')
    assert.ok((await stepsOf(next)).some(({ step, action }) => step === 'request' && action === 'order.cancel'))
    assert.deepEqual(await answerOf(rest), answer)
  })

  test('lists, searches and records answer as their schemas say', async () => {
    const headers = bearer(await keyWith('read'))
    await fetch(`${stage.service.url}/orders?api_secret=hidden-in-a-query`, { headers: { 'x-request-id': 'looked-for-1' } })
    const { body: users } = await call(`/users?platform=${await platformId(headers)}`, { headers })
    const user_key: string = users.data[0].user_key
    const paths = [
      ...['/overview', '/platforms', '/audit?limit=5', '/requests?failed=true', '/orders', '/session'],
      ...[`/users/${user_key}`, `/connections?user=${user_key}`, `/events?user=${user_key}`, `/orders?user=${user_key}`],
      ...[`/connections?platform=${await platformId(headers)}`, `/search?q=looked-for-1`, `/search?q=${trader.user.userId}`],
      ...[`/webhook-deliveries?user=${user_key}`, `/webhook-endpoints?platform=${await platformId(headers)}`]
    ]
    const { body: own } = await call(`/users?platform=${await platformId(headers)}&user_id=${trader.user.userId}`, { headers })
    const traderKey: string = own.data[0].user_key
    const ajv = new Ajv({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addSchema({ $id: 'api', components: document.components })
    for (const path of paths) {
      const { status, body } = await call(path, { headers })
      assert.equal(status, 200, path)
      const { $ref } = schemaOf(path.split('?', 1)[0]?.replaceAll(user_key, '{user_key}') ?? '')
      const fits = ajv.compile({ $ref: `api${$ref}` })
      const isFit: boolean = fits(body)
      assert.ok(isFit, `${path}: ${JSON.stringify(fits.errors)}`)
      if (path.startsWith('/search')) assert.equal(body.data.length, 1, path)
    }
    const { body: connections } = await call(`/connections?user=${traderKey}`, { headers })
    const [{ account_id, account_number }] = connections.data[0].accounts
    for (const q of [account_id, account_number]) {
      const hits: readonly Body[] = (await call(`/search?q=${q}`, { headers })).body.data
      assert.ok(
        hits.some(({ kind, id }) => kind === 'account' && id === account_id),
        q
      )
    }
    const { body: failed } = await call('/requests?failed=true&request_id=looked-for-1', { headers })
    assert.deepEqual([failed.data[0].code, failed.data[0].route], ['credentials_invalid', '/orders'])
    assert.ok(!JSON.stringify(failed).includes('hidden-in-a-query'))
  })

  test('a cursor is of the list and the filters that it was made for', async () => {
    const headers = bearer(await keyWith('read'))
    const platform = await platformId(headers)
    const { body: users } = await call(`/users?platform=${platform}&user_id=${trader.user.userId}`, { headers })
    const { user_key } = users.data[0]
    await stage.trader()
    for (let order = 0; order < 2; order++) await trader.buy()
    const lists = [`/users?platform=${platform}`, `/orders?user=${user_key}`, '/audit?']
    for (const [index, list] of lists.entries()) {
      const { next_cursor: cursor } = (await call(`${list}&limit=1`, { headers })).body
      assert.ok(typeof cursor === 'string', list)
      for (const other of [...lists, `/users?platform=${ABSENT}`, `/orders?user=${ABSENT}`, '/orders?', `/connections?user=${user_key}`]) {
        const { status, body } = await call(`${other}&cursor=${cursor}`, { headers })
        assert.deepEqual([status, body.code], other === lists[index] ? [200, undefined] : [422, 'query_invalid'], `${list} at ${other}`)
      }
    }
  })

  test('a session that ends while its request waits is sent nothing more', async () => {
    const cookie = await login()
    const headers = bearer(await keyWith('read'))
    const { body: users } = await call(`/users?platform=${await platformId(headers)}&user_id=${trader.user.userId}`, { headers })
    const { last_seq } = (await call(`/events?user=${users.data[0].user_key}`, { headers })).body
    const waiting = call(`/events?user=${users.data[0].user_key}&after=${last_seq}&wait=25`, { headers: { cookie } })
    await call('/session', { method: 'DELETE', headers: { ...own(), cookie } })
    await trader.buy()
    assert.equal((await waiting).body.code, 'credentials_invalid')
  })

  test('a wait ends with the next event, or after its time', async () => {
    const headers = bearer(await keyWith('read'))
    const { body: users } = await call(`/users?platform=${await platformId(headers)}&user_id=${trader.user.userId}`, { headers })
    const events = (after: number, wait: number) => call(`/events?user=${users.data[0].user_key}&after=${after}&wait=${wait}`, { headers })
    const { last_seq } = (await events(0, 25)).body
    const next = events(last_seq, 25)
    await trader.buy()
    assert.equal((await next).body.data[0].seq, last_seq + 1)
    assert.deepEqual((await events(1_000_000, 1)).body.data, [])
    // More than may work at once: who waits takes nothing from others.
    const patient = Promise.all(Array.from({ length: 40 }, () => events(1_000_000, 3)))
    await Promise.race([patient, events(1_000_000, 1)])
    assert.equal((await call('/overview', { headers })).status, 200)
    for (const { status } of await patient) assert.ok(status === 200 || status === 429)
  })

  const platformId = async (headers: Readonly<Record<string, string>>): Promise<string> =>
    (await call('/platforms', { headers })).body.data.find(({ client_id }: Body) => client_id === stage.credentials.client_id).platform_id

  function schemaOf(path: string): Body {
    const { responses } = document.paths[path]?.get ?? assert.fail(`${path} is not described`)
    return responses['200'].content['application/json'].schema
  }

  test('logins, keys and refusals are in the audit log, with the operator’s name and no secret', async () => {
    const headers = bearer(await keyWith('read'))
    const chained = () => until(async () => (await call('/audit?limit=1', { headers })).body.waiting === 0, 'all entries are chained')
    await chained()
    const failures = async () =>
      (await call('/audit?limit=100', { headers })).body.data.filter(({ action }: Body) => action === 'access.failed').length
    const before = await failures()
    for (let visit = 0; visit < 3; visit += 1) assert.equal((await call('/session')).status, 401)
    await chained()
    assert.equal(await failures(), before, 'a visitor who has not logged in is no failed attempt')
    await login()
    await chained()
    const entries: Body[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await call(`/audit?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`, { headers })
      entries.push(...body.data)
      cursor = body.next_cursor
    }
    const positions: readonly number[] = entries.map(({ position }) => position)
    assert.deepEqual(
      positions,
      Array.from(positions, (_, index) => positions.length - index),
      'every entry of the chain once'
    )
    const actions = new Set(entries.map(({ action }) => action))
    for (const action of ['operator.link', 'operator.login', 'operator.key_create', 'access.failed', 'access.denied'])
      assert.ok(actions.has(action), action)
    assert.ok(!/\bo[cks]_[\w-]{20}/.test(JSON.stringify(entries)))
  })

  test('its description passes an independent linter', () => passesLinter(document))
})
