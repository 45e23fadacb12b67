/** A program that others wrote for TradeStation lives its normal life against the dialect. */

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { control, SECRET, type Wire } from '../../brokerage/support.ts'
import { judgesInstalled } from '../judges/installed.ts'
import { openBrokerage } from './support.ts'

const FAR = { OrderType: 'Limit', LimitPrice: '450.00', TradeAction: 'BUY', TimeInForce: { Duration: 'GTC' } }

describe('tradestation-api-ts', { concurrency: false }, () => {
  let brokerage: Brokerage
  let client: Wire
  let margin: string

  before(async () => {
    await judgesInstalled()
    // The published quotas and the stream's oddities, as they would be met.
    brokerage = await openBrokerage({ options: { quotaPercent: 100, oddityChance: 128, cutChance: 200 } })
    const { credentials } = await control(brokerage, 'POST', '/logins/alex/token', { dialect: 'tradestation' })
    client = await clientOf(brokerage, credentials.refresh_token)
    margin = (await client.brokerage.getAccounts())[0].AccountID
  })
  after(async () => {
    client?.closeAllStreams()
    await brokerage?.close()
  })

  test('accounts, balances and positions', async () => {
    const accounts = await client.brokerage.getAccounts()
    assert.deepEqual(
      accounts.map((account: Wire) => account.AccountType),
      ['Margin', 'Cash', 'Futures']
    )
    const ids = accounts.map((account: Wire) => account.AccountID).join(',')
    const { Balances, Errors } = await client.brokerage.getBalances(`${ids},NOBODY`)
    assert.equal(Balances.length, 3)
    assert.equal(Errors[0].AccountID, 'NOBODY')
    assert.deepEqual((await client.brokerage.getPositions(ids)).Positions, [])
  })

  test('an order is confirmed, placed, replaced and cancelled, and the stream reports it', async () => {
    const stream = await listened(client.brokerage.streamOrders(margin))
    await until(() => stream.some(({ StreamStatus }) => StreamStatus === 'EndSnapshot'), 'the snapshot has ended')
    const wanted = { AccountID: margin, Symbol: 'SPY', Quantity: '10', ...FAR }
    const { Confirmations } = await client.orderExecution.confirmOrder(wanted)
    assert.equal(Confirmations[0].SummaryMessage, 'Buy 10 SPY @ 450.00 Limit')
    const placed = await client.orderExecution.placeOrder({ ...wanted, OrderConfirmID: Confirmations[0].OrderConfirmID })
    const [{ OrderID: id }] = placed.Orders
    await until(() => stream.some(frame => frame.OrderID === id && frame.Status === 'ACK'), 'the order is received')
    assert.equal((await client.orderExecution.replaceOrder(id, { LimitPrice: '451.00' })).OrderID, id)
    await until(() => stream.some(frame => frame.OrderID === id && frame.LimitPrice === '451'), 'the new price is reported')
    const [seen] = (await client.brokerage.getOrdersByOrderID(margin, id)).Orders
    assert.deepEqual([seen.Status, seen.LimitPrice, seen.Legs[0].QuantityRemaining], ['ACK', '451', '10'])
    await client.orderExecution.cancelOrder(id)
    await until(() => stream.some(frame => frame.OrderID === id && frame.Status === 'OUT' && frame.ClosedDateTime), 'the order is out')
    // New York's day may be the one before.
    const since = new Date(Date.parse(seen.OpenedDateTime) - 86_400_000).toISOString().slice(0, 10)
    const past = await client.brokerage.getHistoricalOrders(margin, since, 1)
    assert.equal(past.Orders[0].OrderID, id)
  })

  test('a market order fills, and its position is reported', async () => {
    const stream = await listened(client.brokerage.streamPositions(margin))
    await until(() => stream.some(({ StreamStatus }) => StreamStatus === 'EndSnapshot'), 'the snapshot has ended')
    const order = { AccountID: margin, Symbol: 'SPY', Quantity: '5', OrderType: 'Market', TimeInForce: { Duration: 'DAY' } }
    await client.orderExecution.placeOrder({ ...order, TradeAction: 'BUY' })
    await until(() => stream.some(({ Symbol: symbol, Quantity }) => symbol === 'SPY' && Quantity === '5'), 'the position is reported')
    const [position] = (await client.brokerage.getPositions(margin)).Positions
    await client.orderExecution.placeOrder({ ...order, TradeAction: 'SELL' })
    await until(() => stream.some(({ PositionID, Deleted }) => PositionID === position.PositionID && Deleted), 'the position is gone')
    const refused = await client.orderExecution.placeOrder({ ...order, TradeAction: 'SELL' })
    assert.match(refused.Errors[0].Message, /EC701/)
  })

  test('bars and symbols', async () => {
    const { Bars } = await client.marketData.getBarHistory('SPY', { unit: 'Minute', interval: '5', barsback: 12 })
    assert.equal(Bars.length, 12)
    assert.equal((Bars[1].Epoch - Bars[0].Epoch) % 300_000, 0)
    assert.equal((await client.marketData.getSymbolDetails('SPY')).Symbols[0].AssetType, 'STOCK')
  })

  test('quotes, bars and depth as they move', async () => {
    const quotes = await listened(client.marketData.streamQuotes(['SPY']))
    const bars = await listened(client.marketData.streamBars('SPY', { unit: 'Minute', interval: '1', barsback: 2 }))
    const depth = await listened(client.marketData.streamMarketDepthAggregates('SPY', { maxlevels: 2 }))
    await until(
      () => quotes.some(({ Bid }) => Bid !== undefined) && bars.some(({ IsEndOfHistory }) => IsEndOfHistory),
      'the present state is sent'
    )
    await control(brokerage, 'PUT', '/market/SPY', { price: '501.00' })
    await until(() => quotes.some(({ Last, Open }) => Last === '501' && Open === undefined), 'a change is sent alone')
    await until(() => bars.some(({ Close, BarStatus }) => Close === '501' && BarStatus === 'Open'), 'the bar grows')
    await until(() => depth.some(({ Asks }) => Asks?.[0]?.Price.startsWith('501')), 'the book follows')
  })

  test('an option chain', async () => {
    const { Expirations } = await client.marketData.getOptionExpirations('SPY')
    const expiration = Expirations[0].Date.slice(0, 10)
    const { Strikes } = await client.marketData.getOptionStrikes('SPY', expiration)
    assert.ok(Strikes.length > 10)
    const chain = await listened(client.marketData.streamOptionChain('SPY', { expiration, strikeProximity: 2 }))
    await until(() => chain.length >= 8, 'two strikes on each side, calls and puts')
  })

  test('short tokens are refreshed, and a refused refresh is answered with a message', async () => {
    await control(brokerage, 'PUT', '/oauth', { access_ttl_s: 1 })
    const { credentials } = await control(brokerage, 'POST', '/logins/robin/token', { dialect: 'tradestation' })
    const other = await clientOf(brokerage, credentials.refresh_token)
    for (let nth = 0; nth < 3; nth++) assert.equal((await other.brokerage.getAccounts()).length, 3)
    assert.equal(other.getRefreshToken(), credentials.refresh_token)
    await control(brokerage, 'POST', '/logins/robin/revoke', {})
    await assert.rejects(other.brokerage.getAccounts(), /Unknown or invalid refresh token/)
  })
})

/** Its hosts are fixed, so the addresses of its two HTTP clients are set. */
async function clientOf(brokerage: Brokerage, refreshToken: string): Promise<Wire> {
  const { TradeStationClient } = createRequire(new URL('../judges/package.json', import.meta.url))('tradestation-api-ts')
  const client = new TradeStationClient({
    clientId: brokerage.clientId,
    clientSecret: SECRET,
    refresh_token: refreshToken,
    environment: 'Simulation'
  })
  client.httpClient.axiosInstance.defaults.baseURL = `${brokerage.url}/tradestation`
  client.httpClient.tokenManager.axiosInstance.defaults.baseURL = `${brokerage.url}/tradestation`
  return client
}

/** Every frame of a stream, as they come. */
async function listened(opening: Promise<Wire>): Promise<Wire[]> {
  const frames: Wire[] = []
  const stream = await opening
  stream.on('data', (frame: Wire) => void frames.push(frame))
  stream.on('error', () => undefined)
  return frames
}
