import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, refusedWith, Stream, taken } from './support.ts'

interface Chain {
  readonly brokerage: Brokerage
  readonly client: Client
  /** A call at 500, and one at a higher strike. */
  readonly near: string
  readonly far: string
}

test('a spread is one order with two legs; a credit has a negative price', async () => {
  const { brokerage, client, near, far } = await chain()
  await using _ = brokerage
  await using stream = await Stream.live(client, `/brokerage/stream/accounts/${client.account()}/orders`)
  const debit = await spread(client, [near, 'BUYTOOPEN', '4'], [far, 'SELLTOOPEN', '2'], '60')
  await stream.until(() => stream.publisher.some(({ Status }) => Status === 'FLL'))
  const order = await client.order(debit)
  assert.deepEqual([order.Status, order.LimitPrice], ['FLL', '60'])
  assert.ok(Number(order.FilledPrice) > 0 && Number(order.FilledPrice) <= 60)
  const legs = order.Legs.map((leg: Wire) => [leg.Symbol, leg.BuyOrSell, leg.QuantityOrdered, leg.ExecQuantity, leg.QuantityRemaining])
  assert.deepEqual(legs, [
    [near, 'Buy', '4', '4', '0'],
    [far, 'Sell', '2', '2', '0']
  ])
  const [bought, sold] = order.Legs.map((leg: Wire) => Number(leg.ExecutionPrice))
  assert.ok(Math.abs(2 * bought - sold - Number(order.FilledPrice)) < 1e-6, 'legs and net price agree')
  const credit = await spread(client, [far, 'BUYTOCLOSE', '2'], [near, 'SELLTOCLOSE', '4'], '-0.05')
  const closed = await client.order(credit)
  assert.deepEqual([closed.Status, closed.LimitPrice], ['FLL', '-0.05'])
  assert.ok(Number(closed.FilledPrice) <= -0.05)
  assert.deepEqual((await client.get(`/brokerage/accounts/${client.account()}/positions`)).body.Positions, [])
})

test('futures: the futures account, TradeStation’s symbols', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const contracts = ['H', 'M', 'U', 'Z'].flatMap(month => [0, 1].map(later => `ES${month}${(new Date().getUTCFullYear() + later) % 100}`))
  const details = await Promise.all(contracts.map(async symbol => (await client.get(`/marketdata/symbols/${symbol}`)).body.Symbols))
  const [future] = details.flat()
  assert.equal(future.AssetType, 'FUTURE')
  assert.match(refusedWith(await client.place({ Symbol: future.Symbol, OrderType: 'Market', LimitPrice: null })), /Order failed/)
  const account = { AccountID: client.account('Futures'), Symbol: future.Symbol }
  await client.trade('BUY', '2', account)
  await client.trade('SELL', '3', account)
  const path = `/brokerage/accounts/${client.account('Futures')}`
  const [position] = (await client.get(`${path}/positions`)).body.Positions
  assert.deepEqual([position.Symbol, position.Quantity, position.LongShort, position.AssetType], [future.Symbol, '-1', 'Short', 'FUTURE'])
  assert.equal(position.TodaysProfitLoss, undefined)
  const [balance] = (await client.get(`${path}/balances`)).body.Balances
  assert.equal(balance.CurrencyDetails[0].InitialMargin, balance.BalanceDetail.InitialMargin)
  assert.ok(Number(balance.BalanceDetail.InitialMargin) > 0)
})

test('the stream of an option chain', async () => {
  const { brokerage, client, near } = await chain()
  await using _ = brokerage
  const expiration = `20${near.slice(4, 6)}-${near.slice(6, 8)}-${near.slice(8, 10)}`
  await using rows = await Stream.open(client, `/marketdata/stream/options/chains/SPY?expiration=${expiration}`)
  await rows.until(frames => frames.some(({ Legs: legs }) => legs?.[0].Symbol === near))
  const row = rows.received.find(({ Legs }) => Legs[0].Symbol === near)
  assert.equal(row.Legs[0].StrikePrice, '500')
  assert.ok(Number(row.Delta) > 0 && Number(row.Ask) > Number(row.Bid) && typeof row.Volume === 'number')
})

async function spread(client: Client, ...parts: readonly [Leg, Leg, string]): Promise<string> {
  const [first, second, price] = parts
  const legs = [first, second].map(([symbol, action, quantity]) => ({ Symbol: symbol, TradeAction: action, Quantity: quantity }))
  const alone = { Symbol: null, Quantity: null, TradeAction: null, TimeInForce: { Duration: 'DAY' } }
  return taken(await client.place({ ...alone, LimitPrice: price, Legs: legs }))
}

type Leg = readonly [symbol: string, action: string, quantity: string]

async function chain(): Promise<Chain> {
  const brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  // Options follow their underlying with their next update.
  await control(brokerage, 'PUT', '/clock', { advance_ms: 5_000 })
  const { Expirations } = (await client.get('/marketdata/options/expirations/SPY')).body
  const date = Expirations[1].Date.slice(0, 10)
  const { Strikes } = (await client.get(`/marketdata/options/strikes/SPY?expiration=${date}`)).body
  const above = Strikes.map(([strike]: readonly string[]) => Number(strike)).filter((strike: number) => strike >= 505)
  const symbol = (strike: number) => `SPY ${date.slice(2).replaceAll('-', '')}C${strike}`
  return { brokerage, client, near: symbol(500), far: symbol(Math.min(...above)) }
}
