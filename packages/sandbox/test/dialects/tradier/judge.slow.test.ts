/** A program that others wrote for Tradier lives its normal life against the dialect. It knows REST only. */

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { control, eventually, type Wire } from '../../brokerage/support.ts'
import { judgesInstalled } from '../judges/installed.ts'
import { openBrokerage } from './support.ts'

describe('tradier-api', { concurrency: false }, () => {
  let brokerage: Brokerage
  let client: Wire
  let margin: string

  before(async () => {
    await judgesInstalled()
    // Tradier's oddities, as they would be met. Its limits a minute are left out: the test reads an order as often as the machine can.
    brokerage = await openBrokerage({ options: { swapChance: 128, lateChance: 256, lateMs: 50 } })
    const { credentials } = await control(brokerage, 'POST', '/logins/alex/token', { dialect: 'tradier' })
    client = clientOf(brokerage, credentials.access_token)
    margin = (await client.getProfile()).account[0].account_number
  })
  after(() => brokerage?.close())

  test('profile, balances and positions', async () => {
    const { account, name } = await client.getProfile()
    assert.deepEqual([name, account.map((one: Wire) => one.type)], ['Alex Morgan', ['margin', 'cash']])
    assert.equal((await client.getAccountBalances(margin)).margin.stock_buying_power, 200_000)
    assert.equal(await client.getAccountPositions(margin), 'null')
  })

  test('an order is previewed, placed, changed and canceled', async () => {
    const wanted = {
      class: 'equity',
      symbol: 'SPY',
      side: 'buy',
      quantity: 10,
      type: 'limit',
      price: '450.00',
      duration: 'gtc',
      tag: 'judged'
    }
    const preview = await client.previewOrder(
      margin,
      new URLSearchParams(Object.entries(wanted).map(([k, v]) => [k, String(v)])).toString()
    )
    assert.deepEqual([preview.result, preview.cost], [true, 4_500])
    const { id, status } = await client.createOrder(margin, wanted)
    assert.equal(status, 'ok')
    assert.equal((await client.getAccountOrder(margin, id)).price, 450)
    assert.equal((await client.changeOrder(margin, id, { type: 'limit', duration: 'gtc', price: '451.00' })).id, id)
    const { order } = await client.getAccountOrders(margin)
    assert.deepEqual([order.id, order.price, order.status], [id, 451, 'open'])
    assert.equal((await client.cancelOrder(margin, id)).id, id)
    assert.equal((await client.getAccountOrder(margin, id)).status, 'canceled')
    await assert.rejects(client.cancelOrder(margin, id), (error: Wire) => {
      assert.deepEqual([error.response.status, error.response.data], [400, 'order already in finalized state: canceled'])
      return true
    })
  })

  test('a trade is filled, held, closed and in the history', async () => {
    const market = { class: 'equity', symbol: 'SPY', quantity: 4, type: 'market', duration: 'day' }
    const { id } = await client.createOrder(margin, { ...market, side: 'buy' })
    const order = await eventually(
      () => client.getAccountOrder(margin, id),
      (seen: Wire) => seen.avg_fill_price > 0
    )
    assert.deepEqual([order.status, order.exec_quantity, order.remaining_quantity], ['filled', 4, 0])
    assert.equal((await client.getAccountPositions(margin)).position.quantity, 4)
    await client.createOrder(margin, { ...market, side: 'sell' })
    assert.equal(await client.getAccountPositions(margin), 'null')
    assert.equal((await client.getAccountHistory(margin)).event.length, 3)
  })

  test('a refused order does not exist', async () => {
    assert.equal(
      await client.createOrder(margin, { class: 'equity', symbol: 'SPY', side: 'sell', quantity: 1, type: 'market', duration: 'day' }),
      undefined
    )
  })

  test('the market: quotes, bars, options, hours', async () => {
    assert.deepEqual(
      (await client.getQuote(['SPY', 'AAPL'])).map(({ symbol }: Wire) => symbol),
      ['SPY', 'AAPL']
    )
    assert.ok((await client.getPriceHistory('SPY', 'daily')).day.length > 200)
    assert.ok((await client.getTimesales('SPY', '5min')).data.length > 0)
    const { date } = await client.getOptionExpirations('SPY')
    assert.ok((await client.getOptionChains('SPY', date[0])).option.length > 0)
    assert.equal((await client.getClock()).state, 'open')
    assert.equal((await client.search('hathaway')).security.symbol, 'BRK/B')
    assert.equal((await client.lookup('AAP')).security.symbol, 'AAPL')
    const { data } = await client.createSession()
    assert.match(data.stream.url, /\/markets\/events$/)
  })
})

function clientOf(brokerage: Brokerage, token: string): Wire {
  const Published: Wire = createRequire(new URL('../judges/package.json', import.meta.url))('tradier-api')
  const made = new Published(token)
  const own = made.config()
  // It knows Tradier's own hosts only.
  made.config = () => ({ ...own, baseURL: `${brokerage.url}/tradier/v1/` })
  return made
}
