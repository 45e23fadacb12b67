// What operators change by their API, from outside: it happens, it is on record, a repetition and two at once do what the description says.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Body, User } from './api.ts'
import { link } from './linking.ts'
import { Stage, type Trader } from './stream-stage.ts'
import { WebhookReceiver } from './webhook-receiver.ts'

/** An order may be on its way for five times the seconds of absence. */
const SETTINGS = { TRUNKLINE_ABSENCE_SECONDS: '3', TRUNKLINE_WEBHOOK_NETWORKS: '127.0.0.0/8' }
const ABSENT = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
const RETRY_MS = 1_000
const BECAUSE = 'the broker confirmed it by telephone'

interface Given {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

describe('changes by the API for operators', () => {
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { decimal: /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/ } })
  let stage: Stage
  let trader: Trader
  let document: Body
  let manage: Readonly<Record<string, string>>
  let read: Readonly<Record<string, string>>
  let platform: string
  let userKey: string
  let lost: readonly [Body, Body]
  let loser: User
  before(async () => {
    stage = await Stage.open('embedded', SETTINGS)
    trader = await stage.trader()
    const keyWith = async (scope: string) => ({
      authorization: `Bearer ${(await stage.operate('operator', 'key', 'create', '--name', scope, '--scope', scope)).key}`
    })
    ;[manage, read] = [await keyWith('manage'), await keyWith('read')]
    document = (await call('/openapi.json')).body
    addFormats.default(ajv)
    ajv.addSchema({ $id: 'api', components: document.components })
    platform = (await shown('/platforms')).data[0].platform_id
    userKey = (await shown(`/users?platform=${platform}&user_id=${trader.userId}`)).data[0].user_key
    loser = await stage.api.user('loser')
    lost = await loseOrders(loser)
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

  /** What is read. */
  async function shown(path: string): Promise<Body> {
    const { status, body } = await call(path, { headers: read })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  /** A change, whose answer fits its schema. `path` has the values of its parts in braces: `/users/{user_key:01a1…}/disable`. */
  async function change(method: string, path: string, body?: unknown): Promise<Body> {
    const url = path.replaceAll(/\{\w+:([^}]*)\}/g, '$1')
    const answer = await call(url, { method, body, headers: manage })
    assert.ok(answer.status === 200 || answer.status === 201, `${method} ${url}: ${JSON.stringify(answer.body)}`)
    const described = document.paths[path.replaceAll(/\{(\w+):[^}]*\}/g, '{$1}')]?.[method.toLowerCase()]
    assert.ok(described !== undefined, `${method} ${path} is described`)
    const { $ref } = described.responses[String(answer.status)].content['application/json'].schema
    const fits = ajv.compile({ $ref: `api${$ref}` })
    const isFit: boolean = fits(answer.body)
    assert.ok(isFit, `${method} ${path}: ${JSON.stringify(fits.errors)}`)
    return answer.body
  }

  async function refused(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await call(path, { method, body, headers: manage })
    assert.ok(answer.status >= 400, `${method} ${path} was done`)
    return answer.body
  }

  /** Entries about the target, the newest first, once all that were written are in the chain. */
  async function entriesOf(target: string): Promise<readonly Body[]> {
    let page: Body = null
    const isChained = async () => {
      page = await shown('/audit?limit=100')
      return page.waiting === 0
    }
    await until(isChained, 'the entries are chained')
    return page.data.filter((entry: Body) => entry.target === target)
  }
  const newestOf = async (target: string): Promise<Body> => (await entriesOf(target))[0]
  const ofPlatform = (id = platform) => `/platforms/{platform_id:${id}}`
  const ofUser = () => `/users/{user_key:${userKey}}`

  /** Two orders at a broker that knows no id of ours, whose requests were lost on their way. */
  async function loseOrders(user: User): Promise<readonly [Body, Body]> {
    const { login } = await stage.control('POST', '/logins', { username: 'loser', accounts: [{ kind: 'margin', cash: '10000000' }] })
    await link(stage.api, user, 'trade', login, 'TRADESTATION')
    const headers = stage.api.as(user)
    const { body: accounts } = await stage.api.call('GET', '/accounts', { headers })
    const lose = async (name: string, price: string): Promise<Body> => {
      await stage.control('POST', '/faults', { on: 'orders.submit', do: 'reset', times: 1 })
      const ticket = {
        ...{ account_id: accounts[0].account_id, broker: 'TRADESTATION', cl_order_id: name, symbol: 'AAPL', side: 'BUY' },
        ...{ order_type: 'LMT', order_tif: 'DAY', order_qty: '3', order_limit_price: price }
      }
      const { body } = await stage.api.call('POST', '/orders', { headers, body: ticket })
      assert.deepEqual([body.normalized_status, body.submission.state], ['pending', 'unknown'])
      return body
    }
    return [await lose('lost-1', '41.25'), await lose('lost-2', '42.50')]
  }

  test('a platform is locked out and let in again, as often as it is asked, and each change names its operator', async () => {
    const asPlatform = () => stage.api.call('GET', '/users', { headers: stage.api.platform })
    const session = await stage.session()
    const disabled = await change('POST', `${ofPlatform()}/disable`)
    assert.ok(disabled.disabled_at !== null)
    await session.ended()
    await until(async () => (await asPlatform()).status === 401, 'the platform is locked out')
    const again = await change('POST', `${ofPlatform()}/disable`)
    assert.ok(again.disabled_at > disabled.disabled_at)
    const endpoint = await refused('POST', `/platforms/${platform}/webhook-endpoints`, { url: 'https://hooks.example.com/' })
    assert.equal(endpoint.code, 'platform_disabled')
    const enabled = await Promise.all([change('POST', `${ofPlatform()}/enable`), change('POST', `${ofPlatform()}/enable`)])
    assert.deepEqual(
      enabled.map(({ disabled_at: at }) => at),
      [null, null]
    )
    await until(async () => (await asPlatform()).status === 200, 'the platform works')
    const entries = await entriesOf(platform)
    assert.deepEqual(
      entries.slice(0, 4).map(({ action }) => action),
      ['platform.enable', 'platform.enable', 'platform.disable', 'platform.disable']
    )
    for (const { actor, detail, address, request_id: id, result } of entries.slice(0, 4)) {
      assert.deepEqual([actor, result, address], ['operator', 'ok', '127.0.0.1'])
      assert.match(detail.by, /\(key manage\)$/)
      assert.ok(id !== null)
    }
  })

  test('of two who disable and enable at once, the answer and the record agree with what is so', async () => {
    for (let round = 0; round < 4; round += 1) {
      await Promise.all([change('POST', `${ofUser()}/disable`), change('POST', `${ofUser()}/enable`)])
      const { is_disabled: isDisabled } = await shown(`/users/${userKey}`)
      assert.equal((await newestOf(userKey)).action, isDisabled ? 'user.disable' : 'user.enable')
    }
    assert.equal((await change('POST', `${ofUser()}/enable`)).is_disabled, false)
  })

  test('a disabled user is refused, and let in again', async () => {
    const asUser = () => trader.call('GET', '/accounts')
    assert.equal((await change('POST', `${ofUser()}/disable`)).is_disabled, true)
    await until(async () => (await asUser()).status === 401, 'the user is refused')
    assert.equal((await change('POST', `${ofUser()}/enable`)).is_disabled, false)
    await until(async () => (await asUser()).status === 200, 'the user is served')
  })

  test('what is not there is not found, and nothing is written about it', async () => {
    for (const [path, code] of [
      [`/platforms/${ABSENT}/disable`, 'platform_not_found'],
      [`/users/${ABSENT}/enable`, 'user_not_found'],
      [`/connections/${ABSENT}/read-again`, 'connection_not_found'],
      [`/platforms/${ABSENT}/webhook-endpoints/${ABSENT}/test`, 'platform_not_found'],
      [`/platforms/${platform}/webhook-endpoints/${ABSENT}/disable`, 'webhook_endpoint_not_found']
    ] as const)
      assert.equal((await refused('POST', path)).code, code, path)
    assert.equal((await refused('POST', `/orders/${ABSENT}/never-received`, { because: BECAUSE })).code, 'order_not_found')
    assert.deepEqual(await entriesOf(ABSENT), [])
  })

  test('a page of another site changes nothing with the cookie of a session [S86]', async () => {
    const { code } = await stage.operate('operator', 'link')
    const own = { origin: stage.service.url, 'x-trunkline-operator': '1' }
    const entered = await call('/sessions', { method: 'POST', body: { code }, headers: own })
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
    const disable = (headers: Readonly<Record<string, string>>) =>
      call(`/users/${userKey}/disable`, { method: 'POST', headers: { cookie, ...headers } })
    for (const headers of [{}, { ...own, origin: 'https://evil.example' }, { origin: stage.service.url }])
      assert.equal((await disable(headers)).body.code, 'header_invalid')
    assert.equal((await shown(`/users/${userKey}`)).is_disabled, false)
    assert.equal((await disable(own)).status, 200)
    assert.match((await newestOf(userKey)).detail.by, /@/)
    await change('POST', `${ofUser()}/enable`)
  })

  test('an endpoint is made, changed, tried, rotated, disabled and deleted, and its secrets are nowhere else [S95]', async () => {
    await using receiver = await WebhookReceiver.open()
    const made = await change('POST', `${ofPlatform()}/webhook-endpoints`, { url: receiver.url, topics: ['orders'] })
    const { endpoint_id: id, secret, public_keys: keys } = made
    receiver.secrets = [secret]
    receiver.publicKeys = keys
    const endpoint = `${ofPlatform()}/webhook-endpoints/{endpoint_id:${id}}`
    assert.equal((await change('POST', `${endpoint}/test`)).failure, null)
    assert.ok(receiver.received.some(({ type }) => type === 'test'))
    const changes = await Promise.all([
      change('PATCH', endpoint, { description: 'books' }),
      change('PATCH', endpoint, { order_statuses: ['filled'] })
    ])
    assert.equal(changes.length, 2)
    const { description, order_statuses: statuses, lag } = await shown(`/platforms/${platform}/webhook-endpoints/${id}`)
    assert.deepEqual([description, statuses, lag.users], ['books', ['filled'], 0])
    const rotated = await change('POST', `${endpoint}/rotate-keys`, { overlap_hours: 1 })
    assert.notEqual(rotated.secret, secret)
    assert.deepEqual(rotated.public_keys.slice(1), keys)
    receiver.secrets = [secret, rotated.secret]
    receiver.publicKeys = rotated.public_keys
    await trader.buy()
    await until(() => receiver.events.some(({ data }) => data.normalized_status === 'filled'), 'the fill is received')
    const [event] = receiver.events
    const range = { user_id: trader.userId, from_seq: event.seq, to_seq: event.seq }
    const isSentAgain = async (body: unknown, times: number) => {
      await change('POST', `${endpoint}/replay`, body)
      await until(() => receiver.events.filter(({ seq }) => seq === event.seq).length === times, `it is received ${times} times`)
    }
    await isSentAgain(range, 2)
    await isSentAgain({ message_id: receiver.received.find(({ type }) => type === 'events')?.id }, 3)
    assert.ok((await change('POST', `${endpoint}/disable`)).disabled_at !== null)
    assert.ok((await change('POST', `${endpoint}/disable`)).disabled_at !== null)
    assert.equal((await refused('POST', `/platforms/${platform}/webhook-endpoints/${id}/replay`, range)).code, 'webhook_endpoint_disabled')
    assert.equal((await change('POST', `${endpoint}/enable`)).disabled_at, null)
    const list = () => shown(`/webhook-endpoints?platform=${platform}`)
    await until(async () => (await list()).data[0].lag.users === 0, 'it has caught up')
    const listed = await list()
    assert.deepEqual(
      listed.data.map((row: Body) => [row.endpoint_id, row.platform_id]),
      [[id, platform]]
    )
    const actions = (await entriesOf(id)).map(({ action }) => action.replace('webhook_endpoint.', ''))
    const expected = ['enable', 'disable', 'replay', 'replay', 'rotate_keys', 'edit', 'edit', 'test', 'create']
    assert.deepEqual(actions, expected, 'a repetition that changes nothing is no entry')
    const everything = [listed, await shown(`/platforms/${platform}/webhook-endpoints/${id}`), await shown('/audit?limit=100')]
    const written = JSON.stringify(everything) + stage.service.output()
    for (const each of [secret, rotated.secret]) assert.ok(!written.includes(each))
    await Promise.all([0, 1].map(() => call(`/platforms/${platform}/webhook-endpoints/${id}`, { method: 'DELETE', headers: manage })))
    assert.equal((await refused('DELETE', `/platforms/${platform}/webhook-endpoints/${id}`)).code, 'webhook_endpoint_not_found')
    assert.equal((await entriesOf(id)).filter(({ action }) => action === 'webhook_endpoint.delete').length, 1)
  })

  test('an endpoint is found under its own platform and no other [S96]', async () => {
    const other = await stage.otherPlatform('Other')
    const { data: platforms } = await shown('/platforms')
    const { platform_id: otherId } = platforms.find(({ client_id: id }: Body) => id === other.client_id)
    const { endpoint_id: id } = await change('POST', `${ofPlatform()}/webhook-endpoints`, { url: 'https://hooks.example.com/in' })
    const path = `/platforms/${otherId}/webhook-endpoints/${id}`
    for (const [method, more, body] of [
      ['POST', '/disable'],
      ['POST', '/enable'],
      ['POST', '/test'],
      ['POST', '/rotate-keys', {}],
      ['POST', '/replay', { message_id: 'msg_x' }],
      ['PATCH', '', { description: 'stolen' }],
      ['DELETE', '']
    ] as const)
      assert.equal((await refused(method, path + more, body)).code, 'webhook_endpoint_not_found', `${method} ${more}`)
    assert.equal((await call(path, { headers: read })).body.code, 'webhook_endpoint_not_found')
    const { disabled_at: at, description } = await shown(`/platforms/${platform}/webhook-endpoints/${id}`)
    assert.deepEqual([at, description], [null, ''])
    assert.deepEqual((await shown(`/webhook-endpoints?platform=${otherId}`)).data, [])
  })

  test('a connection is read again, and the answer says how current each record is', async () => {
    const path = `/connections/{connection_id:${trader.connectionId}}/read-again`
    const [one, other] = await Promise.all([change('POST', path), change('POST', path)])
    for (const { data } of [one, other])
      assert.deepEqual(
        data.map(({ account_id: account, records, reason }: Body) => [account, records, reason]),
        ['balances', 'positions', 'orders'].map(records => [trader.accountId, records, null])
      )
    assert.equal((await newestOf(trader.connectionId)).action, 'connection.read_again')
  })

  test('an order that a broker never received is ended once, when it can be true, and others are listed before they are', async () => {
    const [first, second] = lost
    const endOne = (body: unknown) => call(`/orders/${first.order_id}/never-received`, { method: 'POST', body, headers: manage })
    assert.equal((await endOne({})).body.code, 'field_invalid')
    assert.equal((await endOne({ because: 'line\nbreak' })).body.code, 'field_invalid')
    const filter = { connection_id: first.connection_id, because: BECAUSE }
    const set = '/unresolved-orders/never-received'
    assert.equal((await refused('POST', set, { because: BECAUSE })).code, 'field_invalid')
    const isOld = async () => (await change('POST', set, filter)).orders.length === 2
    await until(isOld, 'the orders can no longer be on their way', PATIENCE_MS, RETRY_MS)
    const trial = await change('POST', set, filter)
    assert.deepEqual([trial.is_trial, trial.fitting, trial.kept], [true, 2, []])
    const both = await Promise.all([endOne({ because: BECAUSE }), endOne({ because: BECAUSE })])
    assert.deepEqual(
      both.map(({ status, body }) => [status, body.normalized_status]),
      Array(2).fill([200, 'rejected'])
    )
    assert.equal((await endOne({ because: BECAUSE, unseen: true })).body.code, 'order_not_settled')
    const changed = await refused('POST', set, { ...filter, set: trial.set })
    assert.deepEqual([changed.code, /have changed/.test(changed.message)], ['order_not_settled', true])
    const { set: now } = await change('POST', set, filter)
    const ended = await change('POST', set, { ...filter, set: now })
    assert.deepEqual(
      [ended.is_trial, ended.orders.map(({ order_id: id, normalized_status: status }: Body) => [id, status])],
      [false, [[second.order_id, 'rejected']]]
    )
    const [entry, ...others] = (await entriesOf(first.order_id)).filter(({ action }) => action === 'order.never_received')
    assert.deepEqual(others, [])
    assert.deepEqual([entry.action, entry.detail.because, entry.address], ['order.never_received', BECAUSE, '127.0.0.1'])
    assert.match(entry.detail.by, /\(key manage\)$/)
    assert.equal((await entriesOf(first.connection_id)).filter(({ action }) => action === 'orders.never_received').length, 1)
    assert.deepEqual((await shown('/orders')).data, [])
  })

  test('orders of a removed connection are listed as abandoned', async () => {
    assert.deepEqual((await shown('/abandoned-orders')).data, [])
    await stage.control('POST', '/faults', { on: 'orders.submit', do: 'reset', times: 1 })
    const headers = stage.api.as(loser)
    const { body: accounts } = await stage.api.call('GET', '/accounts', { headers })
    const ticket = {
      ...{ account_id: accounts[0].account_id, broker: 'TRADESTATION', cl_order_id: 'left-1', symbol: 'AAPL', side: 'BUY' },
      ...{ order_type: 'LMT', order_tif: 'DAY', order_qty: '3', order_limit_price: '43.00' }
    }
    const { body: placed } = await stage.api.call('POST', '/orders', { headers, body: ticket })
    assert.equal((await stage.api.call('DELETE', `/connections/${placed.connection_id}`, { headers })).status, 200)
    const { data } = await shown('/abandoned-orders')
    assert.deepEqual(
      data.map(({ order_id: id, detail }: Body) => [id, detail.cl_order_id, detail.broker]),
      [[placed.order_id, 'left-1', 'TRADESTATION']]
    )
    const refusal = await refused('POST', `/orders/${placed.order_id}/never-received`, { because: BECAUSE })
    assert.equal(refusal.code, 'order_not_found')
  })
})
