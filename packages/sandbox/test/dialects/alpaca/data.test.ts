import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginningAt, control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage } from './support.ts'

test('a minute is served once it is over, crypto at their own address', async () => {
  await using brokerage = await openBrokerage({}, { realNow: beginningAt('2027-01-05T15:00:00Z') })
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/clock', { set: '2027-01-05T15:10:30Z' })
  const minutes = (await client.okData('/v1beta3/crypto/us/bars?symbols=BTC/USD&timeframe=1Min&start=2027-01-05T15:00:00Z')).bars['BTC/USD']
  assert.equal(minutes.at(-1).t, '2027-01-05T15:09:00Z')
  const [hour] = (await client.okData('/v1beta3/crypto/us/bars?symbols=BTCUSD&timeframe=1Hour&start=2027-01-05T15:00:00Z')).bars.BTCUSD
  assert.equal(hour.t, '2027-01-05T15:00:00Z')
  assert.deepEqual((await client.okData('/v2/stocks/bars?symbols=BTC/USD&timeframe=1Min')).bars, {})
})

test('anyone who names no expiration sees the contracts of this week only', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const days = async (query: string) => {
    const { option_contracts: contracts } = await client.ok('GET', `/v2/options/contracts?underlying_symbols=AAPL&limit=10000${query}`)
    return new Set(contracts.map(({ expiration_date: day }: Wire) => day)).size
  }
  assert.equal(await days(''), 1)
  assert.ok((await days('&type=put&expiration_date_lte=2100-01-01')) > 3)
})
