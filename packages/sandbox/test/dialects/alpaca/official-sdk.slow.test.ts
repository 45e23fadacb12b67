// The official JavaScript SDK lives its normal life against the dialect: a program that knows Alpaca, and nothing of us.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { soon } from '@trunkline/testkit/patience'
import { control, type Wire } from '../../brokerage/support.ts'
import { officialSdk } from '../judges/alpaca.ts'
import { openBrokerage } from './support.ts'

async function rejects(work: Promise<unknown>, status: number, message: RegExp): Promise<void> {
  await assert.rejects(work, (error: Wire) => {
    assert.equal(error.status ?? error.statusCode ?? error.response?.status, status, String(error))
    assert.match(error.message, message)
    return true
  })
}

/** What a stream has sent, and a wait for more. */
class Recorder {
  readonly items: Wire[] = []
  #wake: () => void = () => undefined

  readonly receive = (item: unknown): void => {
    this.items.push(item)
    this.#wake()
  }

  async until(condition: (items: readonly Wire[]) => boolean): Promise<void> {
    const deadline = soon()
    while (!condition(this.items)) {
      if (deadline.aborted) assert.fail(`waited in vain; so far: ${JSON.stringify(this.items).slice(0, 2_000)}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      deadline.addEventListener('abort', () => resolve(), { once: true })
      await promise
    }
  }
}

test('account, orders and positions', async () => {
  await using brokerage = await openBrokerage()
  const { alpaca, streams } = await officialSdk(brokerage)
  const account = await alpaca.trading.account.getAccount()
  assert.deepEqual([account.status, account.currency, account.cash, account.multiplier], ['ACTIVE', 'USD', '150000', '2'])
  const bought = await alpaca.trading.orders.market({ symbol: 'SPY', qty: 3, side: 'buy', clientOrderId: 'sdk-market' })
  assert.deepEqual([bought.status, bought.filledQty], ['pending_new', '0'])
  const filled = await alpaca.trading.orders.getOrderByClientOrderId({ clientOrderId: 'sdk-market' })
  assert.deepEqual([filled.id, filled.status, filled.filledQty], [bought.id, 'filled', '3'])
  assert.ok(filled.filledAt instanceof Date)
  const [position] = await alpaca.trading.positions.getAllOpenPositions()
  assert.deepEqual([position.symbol, position.qty, position.side, position.assetClass], ['SPY', '3', 'long', 'us_equity'])
  const limit = await alpaca.trading.orders.limit({ symbol: 'SPY', qty: 5, side: 'buy', limitPrice: '450.5' })
  const replaced = await alpaca.trading.orders.patchOrderByOrderId({
    orderId: limit.id,
    patchOrderRequest: { qty: '4', limitPrice: '451' }
  })
  assert.deepEqual([replaced.replaces, replaced.qty, replaced.limitPrice], [limit.id, '4', '451'])
  const open = await alpaca.trading.orders.getAllOrders({ status: 'open', symbols: ['SPY'] })
  assert.deepEqual(
    open.map(({ id }: Wire) => id),
    [replaced.id]
  )
  await alpaca.trading.orders.deleteOrderByOrderID({ orderId: replaced.id })
  const ended = await alpaca.trading.orders.getOrderByOrderID({ orderId: replaced.id })
  assert.equal(ended.status, 'canceled')
  const stream = alpaca.trading.stream({ url: `${streams}/api/stream` })
  stream.connect()
  const done = await alpaca.trading.submitAndWait({ type: 'market', symbol: 'AAPL', qty: 1, side: 'buy', timeInForce: 'day' }, { stream })
  assert.equal(done.status, 'filled')
  stream.disconnect()
  const activities = await alpaca.trading.collectActivitiesByType({ activityType: 'FILL', pageSize: 1 })
  assert.equal(activities.length, 2)
})

test('refusals reach it as errors with their code', async () => {
  await using brokerage = await openBrokerage()
  const { alpaca } = await officialSdk(brokerage)
  const { orders } = alpaca.trading
  await orders.limit({ symbol: 'SPY', qty: 1, side: 'buy', limitPrice: 400, clientOrderId: 'twice' })
  await rejects(
    orders.limit({ symbol: 'SPY', qty: 1, side: 'buy', limitPrice: 400, clientOrderId: 'twice' }),
    422,
    /client_order_id must be unique/
  )
  await rejects(orders.market({ symbol: 'SPY', qty: 1_000_000, side: 'buy' }), 403, /insufficient buying power/)
})

test('options of several legs, and their chain', async () => {
  await using brokerage = await openBrokerage()
  const { alpaca } = await officialSdk(brokerage)
  const contracts = await alpaca.trading.collectOptionsContracts({ underlyingSymbols: 'AAPL', type: 'call', limit: 20 })
  assert.ok(contracts.length > 20, 'more than a page')
  const { expirationDate } = contracts[0]
  const chain = await alpaca.marketData.collectOptionChainBySymbol({ underlyingSymbol: 'AAPL', type: 'call', expirationDate, limit: 25 })
  assert.deepEqual(
    Object.keys(chain),
    contracts.map(({ symbol }: Wire) => symbol)
  )
  const near = contracts.filter(({ symbol }: Wire) => Math.abs((chain[symbol].greeks?.delta ?? 0) - 0.5) < 0.3)
  assert.ok(near.length >= 2)
  const [low, high] = near
  const { id } = await alpaca.trading.orders.postOrder({
    postOrderRequest: {
      ...{ orderClass: 'mleg', qty: '1', type: 'market', timeInForce: 'day' },
      legs: [
        { symbol: low.symbol, ratioQty: '1', side: 'buy', positionIntent: 'buy_to_open' },
        { symbol: high.symbol, ratioQty: '1', side: 'sell', positionIntent: 'sell_to_open' }
      ]
    }
  })
  const order = await alpaca.trading.orders.getOrderByOrderID({ orderId: id, nested: true })
  assert.deepEqual([order.status, order.orderClass, order.legs.length], ['filled', 'mleg', 2])
  assert.deepEqual(
    order.legs.map((leg: Wire) => [leg.symbol, leg.filledQty]),
    [
      [low.symbol, '1'],
      [high.symbol, '1']
    ]
  )
})

test('the order stream', async () => {
  await using brokerage = await openBrokerage()
  const { alpaca, streams } = await officialSdk(brokerage)
  const stream = alpaca.trading.stream({ url: `${streams}/api/stream` })
  const received = new Recorder()
  stream.onTradeUpdate(received.receive)
  const subscribed = once(stream, 'subscription')
  stream.onConnect(() => stream.subscribeTradeUpdates())
  stream.connect()
  assert.equal((await stream.whenAuthenticated()).authenticated, true)
  await subscribed
  await control(brokerage, 'PUT', '/market/SPY', {
    bids: [['499.99', '5']],
    asks: [
      ['500.01', '4'],
      ['500.02', '50']
    ]
  })
  const { id } = await alpaca.trading.orders.market({ symbol: 'SPY', qty: 10, side: 'buy' })
  await received.until(items => items.some(({ event }) => event === 'fill'))
  assert.deepEqual(
    received.items.map(({ event, order, qty, price, positionQty }) => [event, order.id, qty, price, positionQty]),
    [
      ['pending_new', id, undefined, undefined, undefined],
      ['new', id, undefined, undefined, undefined],
      ['partial_fill', id, '4', '500.01', '4'],
      ['fill', id, '6', '500.02', '10']
    ]
  )
  await control(brokerage, 'POST', '/streams', { dialect: 'alpaca', do: 'drop' })
  await once(stream, 'reconnected')
  const after = await alpaca.trading.orders.limit({ symbol: 'SPY', qty: 1, side: 'buy', limitPrice: 400 })
  await received.until(items => items.some(({ event, order }) => event === 'new' && order.id === after.id))
  stream.disconnect()
})

test('a key that is not good is refused by the streams, and it gives up', async () => {
  await using brokerage = await openBrokerage()
  const { alpaca, streams } = await officialSdk(brokerage)
  const stream = alpaca.marketData.stockStream({ url: `${streams}/data-stream/v2/iex` })
  const orders = alpaca.trading.stream({ url: `${streams}/api/stream` })
  await control(brokerage, 'POST', '/logins/alex/revoke')
  for (const each of [stream, orders]) {
    each.onError(() => undefined)
    each.connect()
    const { authenticated, status } = await each.whenAuthenticated()
    assert.deepEqual([authenticated, status], [false, 'server_rejected'])
    each.disconnect()
  }
  await rejects(alpaca.trading.account.getAccount(), 401, /not authorized/)
})

test('bars, quotes, the clock and assets', async () => {
  await using brokerage = await openBrokerage()
  const { alpaca } = await officialSdk(brokerage)
  const stretch = { start: new Date('2026-01-05T15:00:00Z'), end: new Date('2026-01-05T15:59:00Z') }
  const bars = await alpaca.marketData.getStockBars({ symbols: ['SPY', 'AAPL'], timeframe: '1Min', limit: 25, ...stretch })
  assert.deepEqual([bars.SPY.length, bars.AAPL.length], [60, 60])
  assert.ok(
    bars.SPY.every(({ low, open, close, high, volume }: Wire) => low <= open && low <= close && high >= open && high >= close && volume > 0)
  )
  const candles = await alpaca.marketData.getCryptoCandlesFor('BTC/USD', { loc: 'us', timeframe: '1Hour', ...stretch })
  assert.equal(candles.time.length, 1)
  await control(brokerage, 'PUT', '/market/SPY', { bids: [['499.99', '5']], asks: [['500.01', '4']] })
  const { quotes } = await alpaca.marketData.stocks.stockLatestQuotes({ symbols: 'SPY' })
  assert.deepEqual([quotes.SPY.bp, quotes.SPY.bs, quotes.SPY.ap, quotes.SPY.as], [499.99, 5, 500.01, 4])
  const [clock, assets] = [await alpaca.trading.clock.legacyClock(), await alpaca.trading.assets.getV2Assets({ assetClass: 'crypto' })]
  assert.equal(clock.isOpen, true)
  assert.ok(assets.some(({ symbol }: Wire) => symbol === 'BTC/USD'))
})

test('streams of shares, crypto and options', async () => {
  await using brokerage = await openBrokerage()
  const { alpaca, streams } = await officialSdk(brokerage)
  const [contract] = await alpaca.trading.collectOptionsContracts({ underlyingSymbols: 'AAPL', type: 'call', limit: 100 })
  const base = `${streams}/data-stream`
  const shares = alpaca.marketData.stockStream({ url: `${base}/v2/iex` })
  const crypto = alpaca.marketData.cryptoStream({ url: `${base}/v1beta3/crypto/us` })
  const options = alpaca.marketData.optionStream({ url: `${base}/v1beta1/indicative` })
  const received = { trades: new Recorder(), quotes: new Recorder(), books: new Recorder(), options: new Recorder() }
  shares.onTrade(received.trades.receive).onQuote(received.quotes.receive)
  crypto.onOrderbook(received.books.receive)
  options.onQuote(received.options.receive)
  for (const stream of [shares, crypto, options]) {
    stream.connect()
    assert.equal((await stream.whenAuthenticated()).authenticated, true)
  }
  shares.subscribeForTrades(['SPY'])
  const requested = [shares, crypto, options].map(stream => once(stream, 'subscription'))
  shares.subscribeForQuotes(['SPY'])
  crypto.subscribeForOrderbooks(['BTC/USD'])
  options.subscribeForQuotes([contract.symbol])
  await Promise.all(requested)
  await received.books.until(items => items.length > 0)
  assert.equal(received.books.items[0].reset, true)
  await control(brokerage, 'PUT', '/market/SPY', { price: '501.00' })
  await received.trades.until(items => items.some(({ symbol, price }) => symbol === 'SPY' && price === 501))
  await received.quotes.until(items =>
    items.some(({ symbol, bidPrice, askPrice }) => symbol === 'SPY' && bidPrice <= 501 && askPrice >= 501)
  )
  assert.match(received.trades.items[0].timestampRaw, /\.\d{6}001Z$/, 'nanoseconds came through MessagePack')
  await control(brokerage, 'PUT', `/market/${contract.symbol}`, { price: '12.50' })
  await received.options.until(items => items.some(({ symbol, bidPrice }) => symbol === contract.symbol && bidPrice <= 12.5))
  await control(brokerage, 'PUT', '/market/BTC%2FUSD', { bids: [['90000', '1']], asks: [['90001', '3']] })
  await received.books.until(items => items.some(({ reset }) => !reset))
  for (const stream of [shares, crypto, options]) stream.disconnect()
})
