// Who may do what: every operation of the reference against every kind of credentials. A new operation without a row fails.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { metricsPage } from '@trunkline/testkit/metrics'
import { type Answer, Api, type Body, type Operation, type User } from './api.ts'
import { type RunningService, startService } from './harness.ts'
import { link } from './linking.ts'

const RANDOM = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'

/** Every operation, with what another user of the same platform gets for the owner's ids. */
const ROWS: Readonly<
  Record<string, { readonly scope: 'platform' | 'user'; readonly body?: unknown; readonly query?: string; readonly foreign?: 404 | 'own' }>
> = {
  createUser: { scope: 'platform', body: { user_id: 'made' } },
  listUsers: { scope: 'platform' },
  deleteUser: { scope: 'platform' },
  rotateUserSecret: { scope: 'platform' },
  createConnection: { scope: 'user', body: { connection_type: 'trade' } },
  listConnections: { scope: 'user', foreign: 'own' },
  listPlatformConnections: { scope: 'platform' },
  deleteConnection: { scope: 'user', foreign: 404 },
  claimConnection: { scope: 'user', body: { claim_code: 'x'.repeat(43) }, foreign: 404 },
  issueMarketDataToken: { scope: 'user', foreign: 404 },
  listAccounts: { scope: 'user', foreign: 'own' },
  listBalances: { scope: 'user', foreign: 'own' },
  listPositions: { scope: 'user', foreign: 'own' },
  listTransactions: { scope: 'user', foreign: 'own' },
  placeOrder: { scope: 'user', foreign: 404 },
  previewOrder: { scope: 'user', foreign: 404 },
  listOrders: { scope: 'user', foreign: 'own' },
  readOrder: { scope: 'user', foreign: 404 },
  readOrderOfAccount: { scope: 'user', foreign: 404 },
  modifyOrder: { scope: 'user', foreign: 404 },
  cancelOrder: { scope: 'user', foreign: 404 },
  cancelOrders: { scope: 'user', foreign: 404 },
  listEvents: { scope: 'platform' },
  createWebhookEndpoint: { scope: 'platform', body: { url: 'https://hooks.example.com/' } },
  listWebhookEndpoints: { scope: 'platform' },
  readWebhookEndpoint: { scope: 'platform' },
  changeWebhookEndpoint: { scope: 'platform', body: { enabled: false } },
  deleteWebhookEndpoint: { scope: 'platform' },
  rotateWebhookKeys: { scope: 'platform' },
  testWebhookEndpoint: { scope: 'platform' },
  listWebhookDeliveries: { scope: 'platform' },
  readWebhookDelivery: { scope: 'platform' },
  replayWebhooks: { scope: 'platform', body: { user_id: 'ada', from_seq: 1, to_seq: 2 } },
  listBrokers: { scope: 'platform' },
  searchSymbols: { scope: 'user', query: '?search=apple', foreign: 404 },
  readExpirations: { scope: 'user', query: '?symbol=SPY', foreign: 404 },
  readChain: { scope: 'user', query: '?symbol=SPY&expiration=2026-12-18', foreign: 404 },
  readQuote: { scope: 'user', query: '?symbol=SPY', foreign: 404 },
  readBars: {
    scope: 'user',
    query: '?symbol=SPY&interval=1h&start=2026-01-05T15:00:00Z&end=2026-01-05T17:00:00Z',
    foreign: 404
  }
}

/** Credentials that must not open anything, made from good ones. */
const SPOILT: Readonly<Record<string, (good: Readonly<Record<string, string>>) => Readonly<Record<string, string>>>> = {
  'none at all': () => ({}),
  'no client secret': ({ 'client-secret': _, ...rest }) => rest,
  'no client id': ({ 'client-id': _, ...rest }) => rest,
  'an unknown client': good => ({ ...good, 'client-id': 'pk_unknown' }),
  'a wrong client secret': good => ({ ...good, 'client-secret': spoilt(good['client-secret'] ?? '') }),
  'id and secret swapped': good => ({ ...good, 'client-id': good['client-secret'] ?? '', 'client-secret': good['client-id'] ?? '' }),
  'the client secret in a query': ({ 'client-secret': _, ...rest }) => rest,
  'a client secret of 9,000 characters': good => ({ ...good, 'client-secret': 'x'.repeat(9_000) })
}

const SPOILT_USER: typeof SPOILT = {
  'no user id': ({ 'user-id': _, ...rest }) => rest,
  'no user secret': ({ 'user-secret': _, ...rest }) => rest,
  'an unknown user': good => ({ ...good, 'user-id': 'nobody' }),
  'a wrong user secret': good => ({ ...good, 'user-secret': spoilt(good['user-secret'] ?? '') }),
  'the client secret as the user secret': good => ({ ...good, 'user-secret': good['client-secret'] ?? '' })
}

function spoilt(secret: string): string {
  return secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A')
}

// What is refused does not depend on the database.
for (const engine of ['postgres'] as const) {
  describe(`credentials (${engine})`, () => {
    let service: RunningService
    let api: Api
    let owner: User
    let other: User
    let ids: { readonly connection_id: string; readonly account_id: string; readonly order_id: string; readonly user_id: string }
    before(async () => {
      service = await startService(engine, { TRUNKLINE_LOG_LEVEL: 'debug', TRUNKLINE_TRUSTED_PROXIES: 'loopback' })
      api = await Api.of(service)
      owner = await api.user('owner')
      other = await api.user('other')
      const connectionId = await link(api, owner)
      const headers = api.as(owner)
      const accounts = await api.call('GET', '/accounts', { headers })
      const accountId = accounts.body[0].account_id
      const order = await api.call('POST', '/orders', { headers, body: restingOrder(accountId, 'first') })
      assert.equal(order.status, 201, order.text)
      ids = { connection_id: connectionId, account_id: accountId, order_id: order.body.order_id, user_id: 'nobody' }
    })
    after(() => service[Symbol.asyncDispose]())

    // Each from an address of its own: one that fails hundreds of times would have to wait.
    let requests = 0
    const ask = (
      operation: Operation,
      headers: Readonly<Record<string, string>>,
      values: Readonly<Record<string, string>> = ids
    ): Promise<Answer> => {
      const body = bodyOf(operation.operationId, values)
      const address = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name)
      requests += 1
      const from = { 'x-forwarded-for': `10.0.${requests >> 8}.${requests & 255}` }
      return api.call(operation.method, `${address}${ROWS[operation.operationId]?.query ?? ''}`, {
        headers: { ...from, ...headers },
        ...(body !== undefined && { body })
      })
    }

    test('every operation has a row, and every row an operation [S25]', () => {
      assert.deepEqual(api.operations.map(({ operationId }) => operationId).sort(), Object.keys(ROWS).sort())
      for (const { operationId, isForUser } of api.operations)
        assert.equal(ROWS[operationId]?.scope, isForUser ? 'user' : 'platform', operationId)
    })

    test('nothing opens with spoilt credentials, and nothing reveals which part was wrong; a missing header is named [S25, S27]', async () => {
      const bodies = new Set<string>()
      for (const operation of api.operations) {
        const good = operation.isForUser ? api.as(owner) : api.platform
        const ways = operation.isForUser ? { ...SPOILT, ...SPOILT_USER } : SPOILT
        for (const [what, spoil] of Object.entries(ways)) {
          const { status, body, headers } = await ask(operation, spoil(good))
          assert.equal(status, 401, `${operation.operationId} with ${what}`)
          const absent = Object.keys(good).filter(name => (spoil(good)[name] ?? '') === '')
          if (absent.length === 0) bodies.add(JSON.stringify({ ...body, request_id: null }))
          else assert.deepEqual([body.details.map(({ path }: Body) => path), body.code], [absent, 'credentials_invalid'], what)
          assert.equal(headers.get('ratelimit-limit'), null, 'a limit would reveal that the platform is known')
        }
      }
      assert.equal(bodies.size, 1, [...bodies].join('\n'))
    })

    test('what was good once opens nothing: a user who was deleted, a secret that was replaced [S25, S30, S31]', async () => {
      const [gone, changed] = [await api.user('gone'), await api.user('changed')]
      for (const user of [gone, changed]) assert.equal((await api.call('GET', '/accounts', { headers: api.as(user) })).status, 200)
      assert.equal((await api.call('DELETE', '/users/gone', { headers: api.platform })).status, 200)
      assert.equal((await api.call('POST', '/users/changed/rotate-secret', { headers: api.platform })).status, 200)
      for (const operation of api.operations.filter(({ isForUser }) => isForUser)) {
        for (const user of [gone, changed])
          assert.equal((await ask(operation, api.as(user))).status, 401, `${operation.operationId} as ${user.userId}`)
      }
    })

    test('a HEAD asks for the credentials that its GET asks for [S25]', async () => {
      for (const { path, method, operationId } of api.operations.filter(({ method }) => method === 'GET')) {
        const address = service.url + path.replace(/\{\w+\}/g, RANDOM)
        const { status } = await fetch(address, { method: 'HEAD' })
        assert.equal(status, operationId === 'issueMarketDataToken' ? 405 : 401, `${method} ${path}`)
      }
    })

    test('secrets sent through every operation are in no answer, log line or metric [S80]', async () => {
      const canary = (name: string) => `us_${name}-canary-q7Zx2VnB4mKd9LpT6wRs`
      const sent = ['client-id', 'client-secret', 'user-id', 'user-secret'].map(name => [name, canary(name)] as const)
      const answers: string[] = []
      for (const operation of api.operations) {
        const address = operation.path.replace(/\{\w+\}/g, RANDOM)
        const good = operation.isForUser ? api.as(owner) : api.platform
        const query = new URLSearchParams([
          ['access_token', canary('token')],
          ['client_secret', canary('query')]
        ])
        const more = {
          authorization: `Bearer ${canary('bearer')}`,
          cookie: `session=${canary('cookie')}`,
          referer: `http://x/?code=${canary('code')}`
        }
        answers.push((await api.call(operation.method, address, { headers: { ...Object.fromEntries(sent), ...more } })).text)
        answers.push((await api.call(operation.method, `${address}?${query}`, { headers: { ...good, ...more } })).text)
      }
      const metrics = await metricsPage(service.url)
      for (const [where, text] of [
        ['answers', answers.join('\n')],
        ['log', service.output()],
        ['metrics', metrics]
      ] as const)
        assert.ok(!text.includes('canary-q7Zx2VnB4mKd9LpT6wRs'), where)
    })

    test('a user is asked for where a user is needed, and ignored elsewhere [S33]', async () => {
      for (const operation of api.operations.filter(({ isForUser }) => isForUser)) {
        assert.equal((await ask(operation, api.platform)).status, 401, operation.operationId)
      }
      assert.equal((await api.call('GET', '/users', { headers: { ...api.platform, 'user-id': 'x', 'user-secret': 'y' } })).status, 200)
    })

    test('another user’s ids are as unknown as ids that never were [S26]', async () => {
      for (const operation of api.operations) {
        const { foreign } = ROWS[operation.operationId] ?? {}
        if (foreign === undefined) continue
        const answer = await ask(operation, api.as(other))
        if (foreign === 'own') {
          assert.equal(answer.status, 200, operation.operationId)
          assert.deepEqual(Array.isArray(answer.body) ? answer.body : answer.body.data, [], operation.operationId)
          continue
        }
        assert.equal(answer.status, 404, operation.operationId)
        const random = await ask(operation, api.as(other), { connection_id: RANDOM, account_id: RANDOM, order_id: RANDOM })
        assert.deepEqual({ ...answer.body, request_id: null }, { ...random.body, request_id: null }, operation.operationId)
      }
      const queries = [
        '/accounts?connection_id',
        '/balances?connection_id',
        '/positions?connection_id',
        '/transactions?connection_id',
        '/orders?connection_id'
      ]
      for (const query of queries)
        assert.equal((await api.call('GET', `${query}=${ids.connection_id}`, { headers: api.as(other) })).status, 404)
      for (const list of ['/balances', '/positions', '/transactions', '/orders']) {
        assert.equal((await api.call('GET', `${list}?account_id=${ids.account_id}`, { headers: api.as(other) })).status, 404)
      }
    })

    test('a cursor of one user opens nothing of another', async () => {
      const headers = api.as(owner)
      for (const id of ['second', 'third']) await api.call('POST', '/orders', { headers, body: restingOrder(ids.account_id, id) })
      const page = await api.call('GET', '/orders?limit=1', { headers })
      const cursor = page.body.next_cursor
      assert.equal(typeof cursor, 'string')
      assert.equal((await api.call('GET', `/orders?next_cursor=${cursor}`, { headers })).status, 200)
      assert.equal((await api.call('GET', `/orders?next_cursor=${cursor}`, { headers: api.as(other) })).status, 422)
      assert.equal((await api.call('GET', `/orders?next_cursor=${cursor}&side=BUY`, { headers })).status, 422)
      assert.equal((await api.call('GET', `/orders?next_cursor=${cursor}&sort=entry_time:asc`, { headers })).status, 422)
      assert.equal((await api.call('GET', `/orders?prev_cursor=${cursor}`, { headers })).status, 422)
      assert.equal((await api.call('GET', `/users?next_cursor=${cursor}`, { headers: api.platform })).status, 422)
      assert.equal((await api.call('GET', `/orders?next_cursor=${cursor}&limit=2`, { headers })).status, 200, 'the size of a page is free')
    })

    test('a read-only connection takes no orders, and says why [S36]', async () => {
      const reader = await api.user('reader')
      await link(api, reader, 'readonly', 1)
      const accounts = await api.call('GET', '/accounts', { headers: api.as(reader) })
      const order = restingOrder(accounts.body[0].account_id, 'refused')
      const { status, body } = await api.call('POST', '/orders', { headers: api.as(reader), body: order })
      assert.deepEqual([status, body.code], [401, 'entitlement_missing'])
      const preview = await api.call('POST', '/orders/preview', { headers: api.as(reader), body: { ...order, cl_order_id: undefined } })
      assert.deepEqual([preview.status, preview.body.code], [401, 'entitlement_missing'])
      assert.deepEqual((await api.call('GET', '/orders', { headers: api.as(reader) })).body.data, [])
    })

    test('both addresses of an endpoint ask for credentials', async () => {
      for (const { method, path } of api.operations) {
        const { status } = await api.call(method, `/v1${path.replace(/\{\w+\}/g, RANDOM)}`)
        assert.equal(status, 401, path)
      }
      assert.equal((await api.call('GET', '/v1/users', { headers: api.platform })).status, 200)
    })
  })
}

function restingOrder(accountId: string, clOrderId: string): Readonly<Record<string, unknown>> {
  return {
    account_id: accountId,
    cl_order_id: clOrderId,
    broker: 'SANDBOX',
    side: 'BUY',
    order_type: 'LMT',
    order_tif: 'GTC',
    symbol: 'AAPL',
    order_qty: '1',
    order_limit_price: '1.00'
  }
}

function bodyOf(operationId: string, values: Readonly<Record<string, string>>): unknown {
  if (operationId === 'placeOrder') return restingOrder(values.account_id ?? RANDOM, 'foreign')
  if (operationId === 'previewOrder') return { ...restingOrder(values.account_id ?? RANDOM, ''), cl_order_id: undefined }
  if (operationId === 'modifyOrder') return { new_cl_order_id: 'changed', broker: 'SANDBOX', order_qty: '2' }
  if (operationId === 'cancelOrders') return { account_id: values.account_id ?? RANDOM }
  return ROWS[operationId]?.body
}
