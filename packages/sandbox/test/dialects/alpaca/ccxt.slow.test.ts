// ccxt's alpaca class lives its normal life against the dialect: crypto only, as ccxt has it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { ccxtAlpaca } from '../judges/alpaca.ts'
import { openBrokerage } from './support.ts'

async function withCcxt(life: (exchange: Wire, brokerage: Awaited<ReturnType<typeof openBrokerage>>) => Promise<void>): Promise<void> {
  await using brokerage = await openBrokerage()
  await control(brokerage, 'PUT', '/market/BTC%2FUSD', { bids: [['89999', '5']], asks: [['90001', '5']] })
  const exchange = await ccxtAlpaca(brokerage)
  try {
    await life(exchange, brokerage)
  } finally {
    await exchange.close()
  }
}

const failsAs = (name: string) => (error: Wire) => {
  assert.equal(error.constructor.name, name, String(error))
  return true
}

test('the time, the markets, the balance', async () => {
  await withCcxt(async exchange => {
    const markets = await exchange.loadMarkets()
    assert.deepEqual([markets['BTC/USD'].base, markets['BTC/USD'].quote, markets['BTC/USD'].spot], ['BTC', 'USD', true])
    assert.ok(Math.abs((await exchange.fetchTime()) - Date.now()) < 60_000)
    const before = await exchange.fetchBalance()
    assert.equal(before.USD.total, 150_000)
    await exchange.createOrder('BTC/USD', 'market', 'buy', 0.1)
    const after = await exchange.fetchBalance()
    assert.equal(after.BTC.total, 0.1)
    assert.ok(after.USD.total < 141_000)
  })
})

test('orders from their making to their end', async () => {
  await withCcxt(async exchange => {
    const order = await exchange.createOrder('BTC/USD', 'limit', 'buy', 0.01, 50_000, { clientOrderId: 'ccxt-1' })
    assert.deepEqual([order.status, order.price, order.amount, order.clientOrderId], ['open', 50_000, 0.01, 'ccxt-1'])
    const edited = await exchange.editOrder(order.id, 'BTC/USD', 'limit', 'buy', 0.02, 51_000)
    assert.notEqual(edited.id, order.id)
    assert.deepEqual(
      (await exchange.fetchOpenOrders('BTC/USD')).map(({ id }: Wire) => id),
      [edited.id]
    )
    await exchange.cancelOrder(edited.id)
    assert.equal((await exchange.fetchOrder(edited.id)).status, 'canceled')
    await assert.rejects(exchange.cancelOrder(edited.id), failsAs('BadRequest'))
    const bought = await exchange.createOrder('BTC/USD', 'market', 'buy', 0.01)
    const filled = await exchange.fetchOrder(bought.id)
    assert.deepEqual([filled.status, filled.filled, filled.average], ['closed', 0.01, 90_001])
    await exchange.createMarketBuyOrderWithCost('ETH/USD', 100)
    const stop = await exchange.createOrder('BTC/USD', 'stop_limit', 'sell', 0.005, 80_000, { triggerPrice: 81_000 })
    assert.equal((await exchange.fetchOrder(stop.id)).triggerPrice, 81_000)
    await exchange.cancelOrder(stop.id)
    assert.deepEqual(await exchange.fetchOpenOrders(), [])
    const trades = await exchange.fetchMyTrades('BTC/USD')
    assert.deepEqual(
      trades.map(({ order: id, side, amount, price }: Wire) => [id, side, amount, price]),
      [[bought.id, 'buy', 0.01, 90_001]]
    )
    assert.equal((await exchange.fetchClosedOrders('BTC/USD')).length, 4)
  })
})

test('what it calls each refusal', async () => {
  await withCcxt(async exchange => {
    await assert.rejects(exchange.createOrder('BTC/USD', 'market', 'buy', 1_000), failsAs('InsufficientFunds'))
    await assert.rejects(exchange.createOrder('BTC/USD', 'market', 'sell', 1), failsAs('InsufficientFunds'))
    await assert.rejects(exchange.fetchOrder('00000000-0000-4000-8000-000000000000'), failsAs('InvalidOrder'))
    await exchange.createOrder('BTC/USD', 'limit', 'buy', 0.01, 50_000, { clientOrderId: 'twice' })
    await assert.rejects(exchange.createOrder('BTC/USD', 'limit', 'buy', 0.01, 50_000, { clientOrderId: 'twice' }), failsAs('BadRequest'))
    exchange.secret = 'another'
    await assert.rejects(exchange.fetchBalance(), failsAs('PermissionDenied'))
  })
})

test('too many requests are reported as such', async () => {
  await withCcxt(async (exchange, brokerage) => {
    await exchange.loadMarkets()
    await control(brokerage, 'PUT', '/dialects/alpaca', { requests_per_minute: 1 })
    const asked = await Promise.allSettled([exchange.fetchTime(), exchange.fetchTime(), exchange.fetchTime()])
    const failures = asked.filter(result => result.status === 'rejected').map(({ reason }) => reason.constructor.name)
    assert.ok(failures.length >= 1)
    assert.ok(
      failures.every(name => name === 'RateLimitExceeded'),
      failures.join()
    )
  })
})

test('prices: candles and trades', async () => {
  await withCcxt(async exchange => {
    const since = Date.parse('2026-01-05T15:00:00Z')
    const candles = await exchange.fetchOHLCV('BTC/USD', '1m', since, 30)
    assert.equal(candles.length, 30)
    assert.deepEqual(
      candles.map(([at]: Wire) => at),
      Array.from({ length: 30 }, (_, index) => since + index * 60_000)
    )
    const [hour] = await exchange.fetchOHLCV('BTC/USD', '1h', since, 1)
    assert.equal(hour[1], candles[0][1])
    const trades = await exchange.fetchTrades('BTC/USD', since, 5)
    assert.equal(trades.length, 5)
  })
})

test('its streams: orders, own trades, book, ticker and trades', async () => {
  await withCcxt(async (exchange, brokerage) => {
    await exchange.loadMarkets()
    const orders = exchange.watchOrders()
    const mine = exchange.watchMyTrades('BTC/USD')
    // Neither receives past events; so the order waits until the sandbox has them listening.
    await listening(brokerage)
    const bought = await exchange.createOrder('BTC/USD', 'market', 'buy', 0.01)
    assert.equal((await orders)[0].id, bought.id)
    const [{ order, amount, price }] = await mine
    assert.deepEqual([order, amount, price], [bought.id, 0.01, 90_001])
    const book = await exchange.watchOrderBook('BTC/USD')
    assert.deepEqual([book.bids[0], book.asks[0][0]], [[89_999, 5], 90_001])
    const [ticker, trades] = [exchange.watchTicker('BTC/USD'), exchange.watchTrades('BTC/USD')]
    const move = async () => {
      for (let step = 1; step < 500 && !isReported; step++)
        await control(brokerage, 'PUT', '/market/BTC%2FUSD', { price: `${90_000 + step}.00` })
    }
    let isReported = false
    const all = Promise.all([ticker, trades]).finally(() => {
      isReported = true
    })
    await move()
    const [{ bid }, [trade]] = await all
    assert.ok(bid > 89_000 && trade.price > 90_000)
  })
})

/** A stream is there once the sandbox reports it, and listens once it receives an order that has nothing to do with the test. */
async function listening(brokerage: Wire): Promise<void> {
  for (;;) {
    const { items } = await control(brokerage, 'GET', '/streams')
    if (items.some(({ dialect, on }: Wire) => dialect === 'alpaca' && on === 'account')) return
  }
}
