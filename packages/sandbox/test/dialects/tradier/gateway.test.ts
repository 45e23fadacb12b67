import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control } from '../../brokerage/support.ts'
import { Client, openBrokerage } from './support.ts'

test('XML unless the request accepts JSON', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { headers, text } = await client.call('GET', '/user/profile', null, { accept: '*/*' })
  assert.equal(headers.get('content-type'), 'application/xml')
  assert.match(text, /^<\?xml .*<profile\/>$/)
})

test('a JSON body is ignored', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const response = await fetch(`${brokerage.url}/tradier/v1/accounts/${client.margin}/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ class: 'equity', symbol: 'SPY', side: 'buy', quantity: 1, type: 'market', duration: 'day' })
  })
  assert.deepEqual([response.status, await response.text()], [400, 'Invalid parameter, class: is required.'])
})

test('numbers have trailing zeros', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { text } = await client.get(`/accounts/${client.margin}/balances`)
  assert.match(text, /"total_equity":100000\.0{24},/)
  assert.match(text, /"market_value":0,/)
  await client.placed(client.buy(2))
  assert.match((await client.get(`/accounts/${client.margin}/positions`)).text, /"quantity":2\.0{8}}/)
})

test('margin and cash accounts have different balances', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const balances = async (account: string) => (await client.get(`/accounts/${account}/balances`)).body.balances
  const [margin, cash] = [await balances(client.margin), await balances(client.cash)]
  assert.deepEqual([margin.account_type, margin.margin.stock_buying_power, margin.cash], ['margin', 200_000, undefined])
  assert.deepEqual([cash.account_type, cash.cash.cash_available, cash.margin], ['cash', 25_000, undefined])
  await client.placed(client.buy(10, {}, client.cash))
  const after = await balances(client.cash)
  assert.equal(after.total_cash, after.cash.cash_available)
  assert.equal(after.total_cash + after.market_value, after.total_equity)
})

test('quotas by token, class and minute', async () => {
  let now = Date.now()
  await using brokerage = await openBrokerage({ options: { limits: { standard: 3, market: 2, trading: 1 } }, deps: { realNow: () => now } })
  const client = await Client.of(brokerage)
  const left = async (path: string) => {
    const { status, headers, body } = await client.get(path)
    return [status, headers.get('x-ratelimit-used'), headers.get('x-ratelimit-available'), body?.fault?.detail.errorcode]
  }
  assert.deepEqual(await left('/user/profile'), [200, '2', '1', undefined])
  const third = await client.get('/user/profile')
  assert.equal(third.headers.get('x-ratelimit-allowed'), '3')
  assert.equal(third.headers.get('x-ratelimit-expiry'), String(now + 60_000))
  assert.deepEqual(await left('/user/profile'), [429, '3', '0', 'policies.ratelimit.QuotaViolation'])
  assert.deepEqual(await left('/markets/clock'), [200, '1', '1', undefined])
  assert.equal((await client.order()).status, 200)
  assert.equal((await client.order()).status, 429)
  assert.equal((await Client.of(brokerage, 'robin')).margin.slice(0, 2), 'VA')
  now += 60_000
  assert.deepEqual(await left('/user/profile'), [200, '1', '2', undefined])
})

test('injected faults have Tradier’s error bodies', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const met = async (fault: object) => {
    await control(brokerage, 'POST', '/faults', { on: 'balances.list', times: 1, ...fault })
    const { status, text, headers } = await client.get(`/accounts/${client.margin}/balances`)
    return [status, text, headers.get('retry-after')]
  }
  const fault = (words: string, code: string) => JSON.stringify({ fault: { faultstring: words, detail: { errorcode: code } } })
  const invalid = fault('Invalid Access Token', 'keymanagement.service.invalid_access_token')
  assert.deepEqual(await met({ do: 'status', status: 401 }), [401, invalid, null])
  const expired = fault('Access Token expired', 'keymanagement.service.access_token_expired')
  assert.deepEqual(await met({ do: 'status', status: 401, code: 'expired' }), [401, expired, null])
  const datastore = fault('Datastore Error', 'datastore.ErrorWhileGettingConnection')
  assert.deepEqual(await met({ do: 'status', status: 500 }), [500, datastore, null])
  const quota = fault('Rate limit quota violation. Quota limit exceeded.', 'policies.ratelimit.QuotaViolation')
  assert.deepEqual(await met({ do: 'status', status: 429, retry_after: 2 }), [429, quota, '2'])
  assert.deepEqual(await met({ do: 'status', status: 404, message: 'not now' }), [404, 'not now', null])
  assert.match(String((await met({ do: 'html', status: 200 }))[1]), /^<!doctype html>/)
})

test('an injected refusal is a 200 with errors', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'POST', '/faults', { on: 'orders.submit', do: 'refuse', message: 'No.', times: 1, symbol: 'SPY' })
  const { status, body } = await client.order()
  assert.deepEqual([status, body], [200, { errors: { error: 'No.' } }])
  await control(brokerage, 'POST', '/faults', {
    on: 'orders.submit',
    do: 'refuse',
    code: 'OmsUnavailable',
    times: 1,
    client_order_id: 'this'
  })
  assert.deepEqual((await client.order({ tag: 'this' })).body, {
    errors: { error: ['The operator has refused this order.', 'OmsUnavailable'] }
  })
  assert.deepEqual(await client.list(), [])
})

test('unknown paths, accounts and tokens', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const nowhere = await client.get('/nowhere')
  assert.deepEqual([nowhere.status, nowhere.text], [404, 'there is no GET /tradier/v1/nowhere here'])
  const robin = await Client.of(brokerage, 'robin')
  const foreign = await client.get(`/accounts/${robin.margin}/balances`)
  assert.deepEqual([foreign.status, foreign.text], [401, `Unauthorized Account: ${robin.margin}`])
  for (const authorization of ['Bearer nonsense', 'nonsense', '']) {
    const { status, body } = await client.call('GET', '/user/profile', null, { authorization })
    assert.deepEqual([status, body.fault.faultstring], [401, 'Invalid Access Token'])
  }
})

test('transactions are dated by day', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await client.placed(client.buy(3))
  await client.placed(client.buy(2, { side: 'sell' }))
  const history = async (query: Record<string, string | number> = {}) => {
    const { body } = await client.get(`/accounts/${client.margin}/history`, query)
    return body.history === 'null' ? [] : [body.history.event].flat()
  }
  const events = await history()
  assert.deepEqual(
    events.map(({ type, trade }) => [type, trade?.quantity, trade?.symbol, trade?.trade_type]),
    [
      ['trade', -2, 'SPY', 'Equity'],
      ['trade', 3, 'SPY', 'Equity'],
      ['ach', undefined, undefined, undefined]
    ]
  )
  assert.match(events[0].date, /^\d{4}-\d\d-\d\dT00:00:00Z$/)
  assert.equal((await history({ page: 2, limit: 2 })).length, 1)
  assert.equal((await history({ end: '2020-01-01' })).length, 0)
})
