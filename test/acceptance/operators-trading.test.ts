// Trading in the console's way, from outside: operators place and cancel orders for users of the sandbox, and for nobody else.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { Client } from 'pg'
import type { Body } from './api.ts'
import { Stage, type Trader } from './stream-stage.ts'

const ABSENT = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'

describe('trading by the API for operators', () => {
  const ajv = new Ajv({ strict: false, allErrors: true })
  const resources = new AsyncDisposableStack()
  let database: Client
  let stage: Stage
  let trader: Trader
  let document: Body
  let keys: Readonly<Record<'read' | 'manage' | 'sandbox', string>>
  before(async () => {
    const cluster = resources.use(await sharedPostgres())
    const { url, [Symbol.asyncDispose]: drop } = await createDatabase(cluster.url)
    resources.defer(drop)
    database = new Client({ connectionString: url })
    await database.connect()
    resources.defer(() => database.end())
    stage = resources.use(await Stage.open('embedded', { TRUNKLINE_DATABASE_URL: url }))
    trader = await stage.trader()
    const keyWith = async (scope: string): Promise<string> =>
      (await stage.operate('operator', 'key', 'create', '--name', scope, '--scope', scope)).key
    keys = { read: await keyWith('read'), manage: await keyWith('manage'), sandbox: await keyWith('sandbox') }
    document = (await call('GET', '/openapi.json')).body
    addFormats.default(ajv)
    ajv.addFormat('decimal', /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/)
    ajv.addSchema({ $id: 'api', components: document.components })
  })
  after(() => resources.disposeAsync())

  async function call(method: string, path: string, body?: unknown, key: string = keys?.sandbox ?? '') {
    const response = await fetch(`${stage.service.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return { status: response.status, body: (await response.json()) as Body }
  }

  const keyOf = async (userId: string): Promise<string> =>
    (await call('GET', `/search?q=${userId}`, undefined, keys.read)).body.data[0].user_key
  const ticketOf = ({ accountId }: Trader, change: Body = {}) => ({
    ...{ account_id: accountId, broker: 'SANDBOX', symbol: 'AAPL', side: 'BUY' },
    ...{ order_type: 'LMT', order_tif: 'DAY', order_qty: '3', order_limit_price: '1.00', ...change }
  })

  /** An answer that fits its schema. `described` is the path in the document. */
  async function done(method: string, userKey: string, path: string, body?: unknown, described = path): Promise<Body> {
    const answer = await call(method, `/sandbox/users/${userKey}${path}`, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    const { responses } = document.paths[`/sandbox/users/{user_key}${described.split('?', 1)[0]}`][method.toLowerCase()]
    const { schema } = responses[String(answer.status)].content['application/json']
    const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')))
    const isFit: boolean = fits(answer.body)
    assert.ok(isFit, `${method} ${path}: ${JSON.stringify(fits.errors)}`)
    return answer.body
  }

  test('an order is previewed, placed, listed and cancelled as the platform’s own, and the audit log names the operator', async () => {
    const user = await keyOf(trader.userId)
    const accounts = await done('GET', user, '/accounts')
    assert.deepEqual([accounts.length, accounts[0].account_id], [1, trader.accountId])
    assert.equal((await done('POST', user, '/orders/preview', ticketOf(trader))).outcome, 'estimated')
    const placed = await done('POST', user, '/orders', ticketOf(trader, { cl_order_id: 'by-an-operator' }))
    assert.deepEqual([placed.normalized_status, placed.order_qty, placed.order_limit_price], ['working', '3', '1.00'])
    const listed = await done('GET', user, '/orders?cl_order_id=by-an-operator')
    assert.deepEqual(
      listed.data.map(({ order_id }: Body) => order_id),
      [placed.order_id]
    )
    const own = await trader.call('GET', `/orders/${placed.order_id}`)
    assert.deepEqual([own.status, own.body.cl_order_id], [200, 'by-an-operator'], 'the platform sees it')
    const path = `/accounts/${trader.accountId}/orders/${placed.order_id}`
    const cancelled = await done('DELETE', user, path, undefined, '/accounts/{account_id}/orders/{order_id}')
    assert.equal(cancelled.normalized_status, 'cancelled')
    const steps: readonly Body[] = (await call('GET', `/orders/${placed.order_id}/steps`, undefined, keys.read)).body.data
    for (const action of ['order.place', 'order.cancel']) {
      const step = steps.find(each => each.action === action)
      assert.deepEqual([step?.actor, /key sandbox/.test(step?.detail_by)], ['operator', true], action)
    }
  })

  test('what the account has is read as the platform reads it, with bars and a quote of its market', async () => {
    const user = await keyOf(trader.userId)
    await done('POST', user, '/orders', ticketOf(trader, { order_type: 'MKT', order_limit_price: undefined, cl_order_id: 'to-have' }))
    for (const path of ['/positions', '/balances']) {
      const { body } = await trader.call('GET', path)
      const read = await done('GET', user, path)
      const withoutTime = (rows: readonly Body[]) => rows.map(({ system_time: _, ...row }) => row)
      assert.deepEqual(withoutTime(read), withoutTime(body), path)
      assert.equal(read.length, 1)
    }
    const at = `/connections/${trader.connectionId}/market-data`
    const [start, end] = [Date.now() - 600_000, Date.now() + 60_000].map(ms => new Date(ms).toISOString())
    const { bars } = await done('GET', user, `${at}/bars?symbol=AAPL&interval=1m&start=${start}&end=${end}`, undefined, MARKET('bars'))
    assert.match(bars.at(-1).close, /^\d+(\.\d+)?$/)
    assert.equal((await done('GET', user, `${at}/quote?symbol=AAPL`, undefined, MARKET('quote'))).symbol, 'AAPL')
  })

  test('an id that is used again names its order, and nothing is placed twice', async () => {
    const user = await keyOf(trader.userId)
    const ticket = ticketOf(trader, { cl_order_id: 'sent-twice' })
    const { order_id } = await done('POST', user, '/orders', ticket)
    const again = await call('POST', `/sandbox/users/${user}/orders`, ticket)
    assert.deepEqual([again.status, again.body.code, again.body.order_id], [409, 'cl_order_id_duplicate', order_id])
    assert.equal((await trader.orders()).filter(order => order.cl_order_id === 'sent-twice').length, 1)
  })

  test('an account of another user is not found, whatever the user', async () => {
    const other = await stage.trader('other')
    const user = await keyOf(other.userId)
    const placed = await call('POST', `/sandbox/users/${user}/orders`, ticketOf(trader, { cl_order_id: 'foreign' }))
    assert.deepEqual([placed.status, placed.body.code], [404, 'account_not_found'])
    const order = await trader.rest()
    const cancelled = await call('DELETE', `/sandbox/users/${user}/accounts/${other.accountId}/orders/${order.order_id}`)
    assert.deepEqual([cancelled.status, cancelled.body.code], [404, 'order_not_found'])
    assert.equal((await call('GET', `/sandbox/users/${ABSENT}/orders`)).body.code, 'user_not_found')
  })

  test('nothing is placed, cancelled or read for a user with one connection elsewhere, or for one who is disabled [S98]', async () => {
    const mixed = await stage.trader('mixed')
    const user = await keyOf(mixed.userId)
    const order = await done('POST', user, '/orders', ticketOf(mixed, { cl_order_id: 'while-in-the-sandbox' }))
    const requests = [
      ['POST', '/orders', ticketOf(mixed, { cl_order_id: 'not-in-the-sandbox' })],
      ['POST', '/orders/preview', ticketOf(mixed)],
      ['DELETE', `/accounts/${mixed.accountId}/orders/${order.order_id}`],
      ['GET', `/orders/${order.order_id}`],
      ...['/orders', '/accounts', '/positions', '/balances'].map(path => ['GET', path] as const)
    ] as const
    const refused = async (why: RegExp) => {
      for (const [method, path, body] of requests) {
        const answer = await call(method, `/sandbox/users/${user}${path}`, body)
        assert.deepEqual([answer.status, answer.body.code], [409, 'user_not_tradable'], `${method} ${path}`)
        assert.match(answer.body.message, why)
      }
    }
    // As if the user had connected a real broker meanwhile, whose login no test can make. What the service remembers lasts two seconds.
    for (const environment of ['paper', 'live']) {
      await database.query('delete from connections where connection_id = $1', [ABSENT])
      await database.query(
        `insert into connections (connection_id, platform_id, user_key, user_id, broker, connection_type, status, created_at, updated_at, environment, host)
          select $1, platform_id, user_key, user_id, 'TRADIER', connection_type, status, created_at, updated_at, $3, 'api.tradier.example'
          from connections where connection_id = $2`,
        [ABSENT, mixed.connectionId, environment]
      )
      const why = new RegExp(`a connection to TRADIER, which is ${environment}: use another user`)
      await until(async () => why.test((await call('GET', `/sandbox/users/${user}/accounts`)).body.message), 'the connection is known')
      await refused(why)
    }
    await database.query('delete from connections where connection_id = $1', [ABSENT])
    assert.equal((await call('POST', `/users/${user}/disable`, undefined, keys.manage)).status, 200)
    await refused(/This one is disabled/)
    assert.equal((await call('POST', `/users/${user}/enable`, undefined, keys.manage)).status, 200)
    assert.deepEqual(
      (await mixed.orders()).map(each => [each.cl_order_id, each.normalized_status]),
      [['while-in-the-sandbox', 'working']]
    )
  })
})

const MARKET = (name: string) => `/connections/{connection_id}/market-data/${name}`
