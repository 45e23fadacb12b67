// The sandbox's controls by the API for operators, from outside: what each does, who may, what is on record, and where there is no sandbox.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Body } from './api.ts'
import { Stage, type Trader } from './stream-stage.ts'

const MARKET = { order_type: 'MKT', order_tif: 'DAY', order_qty: '1' }

describe('the sandbox by the API for operators', () => {
  const ajv = new Ajv({ strict: false, allErrors: true })
  let stage: Stage
  let trader: Trader
  let document: Body
  let keys: Readonly<Record<'read' | 'sandbox', string>>
  before(async () => {
    stage = await Stage.open('embedded')
    trader = await stage.trader()
    const keyWith = async (scope: string): Promise<string> =>
      (await stage.operate('operator', 'key', 'create', '--name', scope, '--scope', scope)).key
    keys = { read: await keyWith('read'), sandbox: await keyWith('sandbox') }
    document = (await call('GET', '/openapi.json')).body
    addFormats.default(ajv)
    ajv.addFormat('decimal', /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/)
    ajv.addSchema({ $id: 'api', components: document.components })
  })
  after(() => stage[Symbol.asyncDispose]())

  async function call(method: string, path: string, body?: unknown, key: string = keys?.sandbox ?? '') {
    const response = await fetch(`${stage.service.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return { status: response.status, body: (await response.json()) as Body }
  }

  /** An answer that fits its schema. `described` is the path in the document, where it has parameters. */
  async function done(method: string, path: string, body?: unknown, described = path): Promise<Body> {
    const answer = await call(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    const { responses } =
      document.paths[described.split('?', 1)[0] ?? '']?.[method.toLowerCase()] ?? assert.fail(`${described} is described`)
    const { $ref } = responses[String(answer.status)].content['application/json'].schema
    const fits = ajv.compile({ $ref: `api${$ref}` })
    const isFit: boolean = fits(answer.body)
    assert.ok(isFit, `${method} ${path}: ${JSON.stringify(fits.errors)}`)
    return answer.body
  }

  async function refused(method: string, path: string, body?: unknown): Promise<string> {
    const answer = await call(method, path, body)
    assert.ok(answer.status >= 400, `${method} ${path} was done`)
    return answer.body.code
  }

  const bodyOf = (name: string): Body => document.components.schemas[name]

  test('a fault that an operator sets is what the next order meets, and a cleared one is not', async () => {
    const fault = await done('POST', '/sandbox/faults', {
      ...{ on: 'orders.submit', do: 'refuse', message: 'Not today.', times: 1, login: trader.userId }
    })
    assert.deepEqual([fault.left, fault.hits, fault.login], [1, 0, trader.userId])
    assert.equal((await done('GET', '/sandbox/faults')).data.length, 1)
    const order = await trader.place({ ...MARKET, cl_order_id: 'meets-a-fault' })
    assert.deepEqual([order.normalized_status, order.broker_message], ['rejected', 'Not today.'])
    const cleared = await done('POST', '/sandbox/faults', { on: 'orders.submit', do: 'refuse' })
    await done('DELETE', `/sandbox/faults/${cleared.fault_id}`, undefined, '/sandbox/faults/{fault_id}')
    assert.equal((await trader.place({ ...MARKET, cl_order_id: 'meets-none' })).normalized_status, 'filled')
    assert.equal(await refused('DELETE', `/sandbox/faults/${cleared.fault_id}`), 'sandbox_refused')
  })

  test('each effect of the document is one that the sandbox has', async () => {
    const { on, do: effect } = bodyOf('SandboxFaultTicket').properties
    assert.ok(on.pattern.length > 0)
    for (const each of effect.enum) await done('POST', '/sandbox/faults', { on: '*', do: each, ms: 1, status: 503, skip: 1_000_000 })
    assert.equal((await done('GET', '/sandbox')).faults, effect.enum.length)
    await done('DELETE', '/sandbox/faults')
    assert.equal((await done('GET', '/sandbox')).faults, 0)
    const { do: disturbance } = bodyOf('SandboxStreamsTicket').properties
    for (const each of disturbance.enum) {
      const broker = bodyOf('SandboxStreamsTicket').properties.broker.enum[0]
      await done('POST', '/sandbox/streams', { do: each, broker, ms: 1 })
    }
    await done('POST', '/sandbox/streams', { do: 'normal' })
    for (const phase of bodyOf('SandboxMarketTicket').properties.phase.enum)
      await done('POST', '/sandbox/market', { phase, class: 'crypto' })
    for (const kind of bodyOf('SandboxAccountTicket').properties.kind.enum)
      await done('POST', '/sandbox/logins/alex/accounts', { kind }, '/sandbox/logins/{username}/accounts')
  })

  const refusal = async (path: string, body: unknown): Promise<readonly string[]> => {
    const { status, body: problem } = await call('POST', path, body)
    assert.deepEqual([status, problem.code, problem.details.length], [400, 'field_invalid', 1], JSON.stringify(problem))
    return [problem.details[0].path, problem.details[0].message]
  }

  test('crypto has one word, in classes, phases and kinds of accounts', async () => {
    assert.equal((await done('POST', '/sandbox/market', { phase: 'closed', class: 'crypto' })).phases.crypto, 'closed')
    assert.equal((await done('POST', '/sandbox/market', { phase: 'calendar', class: 'crypto' })).phases.crypto, 'open')
    const { accounts } = await done('POST', '/sandbox/logins', { username: 'coins', accounts: [{ kind: 'crypto' }] })
    assert.deepEqual([accounts.length, accounts[0].kind], [1, 'crypto'])
    assert.equal(await refused('POST', '/sandbox/market', { phase: 'open', class: 'coin' }), 'field_invalid')
    assert.equal(await refused('POST', '/sandbox/logins/coins/accounts', { kind: 'coin' }), 'field_invalid')
    assert.ok(!JSON.stringify(document).includes('"coin"'))
  })

  test('what the sandbox would refuse of a close, a name or a book is refused here, with what was expected and found', async () => {
    const codes = 'must be a code that a socket can be closed with: 1000 to 1003, 1007 to 1014, 3000 to 4999'
    for (const code of [1004, 1006, 1015, 2999, 5000])
      assert.deepEqual(await refusal('/sandbox/streams', { do: 'drop', code }), ['code', `${codes}, was ${code}`])
    for (const username of ['.', '..'])
      assert.deepEqual(await refusal('/sandbox/logins', { username }), [
        ...['username', `must be 1 to 64 printable ASCII characters, and not "." or "..", was "${username}"`]
      ])
    const [bids, asks] = [[{ price: '100.00', quantity: '1' }], [{ price: '100', quantity: '1' }]]
    assert.deepEqual(await refusal('/sandbox/price', { symbol: 'AAPL', bids, asks }), [
      ...['bids', 'must be below all asks, was 100.00 with an ask of 100']
    ])
    const [worse, better] = [{ price: '101', quantity: '1' }, ...asks]
    assert.deepEqual(await refusal('/sandbox/price', { symbol: 'AAPL', asks: [worse, better] }), [
      ...['asks', 'must be best first, each price once: 101 comes before 100']
    ])
  })

  test('the clock goes forward only, stands still when it is stopped, and prices are as set', async () => {
    const before = (await done('GET', '/sandbox')).clock
    assert.ok(before.paused)
    const { sandbox_time: ahead, frozen } = await done('POST', '/sandbox/clock', { advance_ms: 3_600_000, frozen: true })
    assert.ok(frozen && ahead > before.sandbox_time)
    assert.equal(await refused('POST', '/sandbox/clock', { set: before.sandbox_time }), 'sandbox_refused')
    assert.equal(await refused('POST', '/sandbox/clock', { advance_ms: 32 * 86_400_000 }), 'field_invalid')
    const inDays = (days: number) => new Date(Date.parse(ahead) + days * 86_400_000).toISOString()
    assert.match((await refusal('/sandbox/clock', { set: inDays(32) })).join(), /^set,must be at most 31 days after/)
    assert.deepEqual(await refusal('/sandbox/clock', { set: inDays(1), advance_ms: 1 }), [
      'advance_ms',
      'cannot be sent with set: send one of them'
    ])
    assert.equal((await done('POST', '/sandbox/clock', { frozen: false })).frozen, false)
    await done('POST', '/sandbox/price', {
      symbol: 'BTC/USD',
      bids: [{ price: '99.50', quantity: '2' }],
      asks: [{ price: '100.50', quantity: '3' }]
    })
    const shown = await done('GET', '/sandbox/price?symbol=BTC%2FUSD')
    assert.deepEqual([shown.bid, shown.ask_size], ['99.5', '3'])
    assert.equal((await done('POST', '/sandbox/price', { symbol: 'AAPL', halted: true })).halted, true)
    await done('POST', '/sandbox/price', { symbol: 'AAPL', halted: false })
    await stage.quote([['99.99', '1000000']], [['100.01', '1000000']])
    assert.equal(await refused('GET', '/sandbox/price?symbol=NOPE'), 'sandbox_refused')
    assert.equal(await refused('POST', '/sandbox/price', { symbol: 'NOPE', price: '1.00' }), 'sandbox_refused')
    assert.equal((await done('POST', '/sandbox/dividends', { symbol: 'AAPL', per_share: '0.25' })).symbol, 'AAPL')
  })

  test('practice users are created, and their grants end', async () => {
    const made = await done('POST', '/sandbox/logins', { username: 'made', accounts: [{ kind: 'cash', cash: '5000' }] })
    assert.deepEqual([made.accounts.length, made.accounts[0].kind], [1, 'cash'])
    const listed: readonly Body[] = (await done('GET', '/sandbox/logins')).data
    assert.ok(listed.some(({ username, password }) => username === 'made' && password === made.password))
    assert.equal(await refused('POST', '/sandbox/logins', { username: 'made' }), 'sandbox_refused')
    const leaving = await stage.trader('leaving')
    const path = `/sandbox/logins/${leaving.userId}/end-grants`
    assert.equal((await done('POST', path, {}, '/sandbox/logins/{username}/end-grants')).grants, 1)
    await done('POST', '/sandbox/tokens', { access_seconds: 600 })
  })

  test('an order is filled and cancelled from the sandbox’s side', async () => {
    const resting = await trader.rest()
    const { data: steps } = (await call('GET', `/orders/${resting.order_id}/steps`, undefined, keys.read)).body
    const sent = steps.find(({ step }: Body) => step === 'sent')
    const { data, accepted } = await done('GET', `/sandbox/orders?client_order_id=${sent.broker_cl_ord_id}`)
    assert.equal(accepted, 1)
    const path = `/sandbox/orders/${data[0].id}`
    const described = '/sandbox/orders/{broker_order_id}'
    assert.equal((await done('POST', `${path}/fill`, { quantity: '1' }, `${described}/fill`)).filled, '1')
    await done('POST', `${path}/reveal`, undefined, `${described}/reveal`)
    await done('POST', `${path}/cancel`, undefined, `${described}/cancel`).then(
      ({ state }) => assert.equal(state, 'cancelled'),
      (cause: Error) => assert.match(cause.message, /order_not_open|not open|final/i)
    )
    assert.ok((await done('GET', '/sandbox/counters')).operations['orders.submit'].requests > 0)
    assert.equal((await done('DELETE', '/sandbox/counters')).cleared, 'counters')
    assert.ok((await done('GET', '/sandbox/streams')).data.length > 0)
  })

  test('no value of a client becomes a path or a member of the sandbox’s own request [S97]', async () => {
    const hostile = ['..%2F..%2Freset', '%2Freset', 'alex%2Frevoke', 'alex%3Fx=1', 'alex%23']
    for (const name of hostile)
      assert.equal(await refused('POST', `/sandbox/logins/${name}/end-grants`, { refresh_only: true }), 'sandbox_refused', name)
    assert.ok(['path_invalid', 'sandbox_refused'].includes(await refused('DELETE', '/sandbox/faults/..%2Fcounters')))
    const more = { on: 'orders.submit', do: 'garbage', body: { order: 'mine' } }
    assert.equal(await refused('POST', '/sandbox/faults', more), 'field_invalid')
    assert.equal(await refused('POST', '/sandbox/reset', { confirm: 'yes' }), 'field_invalid')
    assert.equal(await refused('GET', '/sandbox/price?symbol=..%2Ffaults'), 'sandbox_refused')
    for (const symbol of ['.', '..']) {
      assert.equal(await refused('GET', `/sandbox/price?symbol=${symbol}`), 'sandbox_refused')
      assert.equal(await refused('POST', '/sandbox/price', { symbol, price: '1.00' }), 'sandbox_refused')
    }
  })

  test('each change is on record with its operator, before it is made and when it is refused', async () => {
    await refused('DELETE', '/sandbox/faults/fault-999999')
    const entries = async (): Promise<readonly Body[]> => (await call('GET', '/audit?limit=100', undefined, keys.read)).body.data
    const ofFault = async () => (await entries()).filter(({ target }) => target === 'fault-999999')
    await until(async () => (await ofFault()).length === 2, 'both entries are chained')
    assert.deepEqual((await ofFault()).map(({ result }) => result).toSorted(), ['ok', 'refused'])
    for (const { actor, action, detail } of await ofFault()) {
      assert.deepEqual([actor, action], ['operator', 'sandbox.fault.clear'])
      assert.match(String(detail.by), /key sandbox/)
    }
    assert.ok(!JSON.stringify(await entries()).includes('practice-'))
  })

  test('a reset is what it says, and answers the clock as it is then', async () => {
    const { frozen, paused } = (await done('POST', '/sandbox/reset', { confirm: 'reset' })).clock
    assert.deepEqual([frozen, paused], [false, false])
    assert.deepEqual(
      (await done('GET', '/sandbox/logins')).data.map(({ username }: Body) => username),
      ['alex', 'robin']
    )
  })
})
