import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refusedWith, taken } from './support.ts'

test('injected refusals: in a 200 at once, or later as a rejected order', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'POST', '/faults', { on: 'orders.submit', do: 'refuse', message: 'Not today.', times: 1 })
  assert.equal(refusedWith(await client.place()), 'Order failed. Reason: Not today.')
  await control(brokerage, 'POST', '/faults', { on: 'orders.submit', do: 'refuse_later', message: 'On second thoughts, no.', times: 1 })
  const order = await client.order(taken(await client.place()))
  assert.deepEqual([order.Status, order.RejectReason], ['REJ', 'On second thoughts, no.'])
})

test('injected statuses have TradeStation’s error bodies', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const names: readonly (readonly [status: number, name: string])[] = [
    [403, 'Forbidden'],
    [429, 'TooManyRequests'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailable'],
    [504, 'GatewayTimeout']
  ]
  for (const [status, name] of names) {
    await control(brokerage, 'POST', '/faults', { on: 'balances.list', do: 'status', status, times: 1, retry_after: 7 })
    const answer = await client.get(`/brokerage/accounts/${client.account()}/balances`)
    assert.deepEqual([answer.status, answer.body.Error], [status, name])
    assert.equal(answer.headers.get('x-ratelimit-reset'), '7')
  }
})

test('empty lists by fault injection; unknown paths are 404', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  taken(await client.place())
  const lists: readonly (readonly [operation: string, path: string, name: string])[] = [
    ['balances.list', `/brokerage/accounts/${client.accounts}/balances`, 'Balances'],
    ['orders.list', `/brokerage/accounts/${client.accounts}/orders`, 'Orders'],
    ['bars.list', '/marketdata/barcharts/SPY', 'Bars'],
    ['expirations.list', '/marketdata/options/expirations/SPY', 'Expirations']
  ]
  for (const [operation, path, name] of lists) {
    await control(brokerage, 'POST', '/faults', { on: operation, do: 'empty', times: 1 })
    assert.deepEqual((await client.get(path)).body[name], [], operation)
    assert.notDeepEqual((await client.get(path)).body[name], [], operation)
  }
  const { status, body } = await client.get('/brokerage/wallets')
  assert.deepEqual([status, body.Error], [404, 'NotFound'])
})

test('quotas by resource, in the headers of every answer, 429 beyond', async () => {
  let now = Date.UTC(2026, 9, 12, 15)
  await using brokerage = await openBrokerage({ options: { quotaPercent: 5 }, deps: { realNow: () => now } })
  const client = await Client.of(brokerage)
  const path = `/brokerage/accounts/${client.accounts}/balances`
  const first = await client.get(path)
  const shown = ['remaining', 'reset'].map(name => first.headers.get(`x-ratelimit-${name}`))
  assert.deepEqual(shown, ['15', '300'])
  now += 100_000
  for (let nth = 0; nth < 15; nth++) await client.get(path)
  const over = await client.get(path)
  assert.deepEqual([over.status, over.body], [429, { Error: 'TooManyRequests', Message: 'Rate quota exceeded' }])
  assert.equal(over.headers.get('x-ratelimit-reset'), '200')
  assert.equal((await client.get(`/brokerage/accounts/${client.accounts}/positions`)).status, 200)
  assert.equal((await client.place()).status, 200)
  now += 200_000
  assert.equal((await client.get(path)).status, 200)
})

test('the Date header shows the clock that orders are dated by', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/clock', { advance_ms: 3_600_000 })
  const placed = await client.place()
  const order = await client.order(taken(placed))
  const date = (answer: Wire) => new Date(answer.headers.get('date') ?? '').toISOString().replace('.000', '')
  assert.equal(order.OpenedDateTime, date(placed))
})
