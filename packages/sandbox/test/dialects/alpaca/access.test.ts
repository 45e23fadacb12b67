import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, control, send, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refuses } from './support.ts'

test('scopes are kept: data for market data, trading for orders, nothing for reading', async () => {
  await using brokerage = await openBrokerage()
  const reader = await Client.of(brokerage, 'alex', ['read'])
  assert.equal((await reader.call('GET', '/v2/account')).status, 200)
  assert.equal((await reader.data('/v2/stocks/quotes/latest?symbols=SPY')).status, 200)
  refuses(await reader.place(), 403, 40110000, /not authorized for this scope/)
})

test('no credentials: forbidden; wrong credentials: unauthorized; crypto prices: public', async () => {
  await using brokerage = await openBrokerage()
  const account = `${brokerage.url}/alpaca/api/v2/account`
  refuses(await send(account, 'GET'), 403, undefined, /^forbidden\.$/)
  refuses(await send(account, 'GET', undefined, { authorization: 'Basic x' }), 403, undefined, /^forbidden\.$/)
  refuses(await send(account, 'GET', undefined, { authorization: 'Bearer stranger' }), 401, 40110000, /^request is not authorized$/)
  const keys = { 'apca-api-key-id': 'PKNOBODY', 'apca-api-secret-key': 'nothing' }
  refuses(await send(account, 'GET', undefined, keys), 401, 40110000, /^request is not authorized$/)
  assert.equal((await send(`${brokerage.url}/alpaca/data/v1beta3/crypto/us/latest/quotes?symbols=BTC/USD`, 'GET')).status, 200)
  refuses(await send(`${brokerage.url}/alpaca/data/v2/stocks/quotes/latest?symbols=SPY`, 'GET'), 403, undefined, /forbidden/)
})

test('everybody has an API key, the same for the same seed, until it is revoked', async () => {
  await using brokerage = await openBrokerage()
  const account = async ({ key_id, secret_key }: Wire) => {
    const headers = { 'apca-api-key-id': key_id, 'apca-api-secret-key': secret_key }
    return (await send(`${brokerage.url}/alpaca/api/v2/account`, 'GET', undefined, headers)).status
  }
  const client = await Client.of(brokerage)
  const old = client.keys
  assert.match(old.key_id, /^PK[0-9A-F]{18}$/)
  assert.equal(await account(old), 200)
  assert.equal(await account({ ...old, secret_key: 'another' }), 401)
  assert.notEqual((await Client.of(brokerage, 'robin')).keys.key_id, old.key_id)
  await control(brokerage, 'POST', '/logins/alex/revoke')
  refuses(await client.call('GET', '/v2/account'), 401, 40110000, /not authorized/)
  assert.equal(await account(old), 401)
  const { keys } = await Client.of(brokerage)
  assert.notEqual(keys.key_id, old.key_id)
  assert.equal(await account(keys), 200)
  await using other = await openBrokerage()
  assert.deepEqual((await Client.of(other)).keys, old)
})

test('requests are counted by the minute, and reported in headers', async () => {
  let now = Date.UTC(2026, 10, 3, 15, 0, 1)
  await using brokerage = await openBrokerage({}, { realNow: () => now })
  const client = await Client.of(brokerage)
  assert.deepEqual((await control(brokerage, 'PUT', '/dialects/alpaca', { requests_per_minute: 3 })).dialect.limits.requests_per_minute, 3)
  const first = await client.call('GET', '/v2/account')
  const shown = (answer: Answer) => ['limit', 'remaining', 'reset'].map(name => Number(answer.headers.get(`x-ratelimit-${name}`)))
  const reset = Date.UTC(2026, 10, 3, 15, 1, 1) / 1000
  assert.deepEqual(shown(first), [3, 2, reset])
  assert.notEqual(first.headers.get('x-request-id'), null)
  await client.call('GET', '/v2/clock')
  await client.call('GET', '/v2/clock')
  const beyond = await client.call('GET', '/v2/clock')
  refuses(beyond, 429, 42910000, /rate limit exceeded/)
  assert.deepEqual([shown(beyond), Number(beyond.headers.get('retry-after'))], [[3, 0, reset], 60])
  assert.equal((await client.data('/v2/stocks/quotes/latest?symbols=SPY')).status, 200, 'market data is counted apart')
  assert.equal((await (await Client.of(brokerage, 'robin')).call('GET', '/v2/clock')).status, 200, 'so is everybody else')
  now += 60_000
  assert.equal((await client.call('GET', '/v2/clock')).status, 200)
  const wrong = await send(`${brokerage.controlUrl}/dialects/alpaca`, 'PUT', { requests_per_minute: 0 })
  assert.equal(wrong.status, 400)
})

test('an unknown route is answered with its own error', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  refuses(await client.call('GET', '/v2/nothing'), 404, 40410000, /endpoint not found/)
  refuses(await client.data('/v9/stocks'), 404, 40410000, /endpoint not found/)
})
