import assert from 'node:assert/strict'
import { test } from 'node:test'
import { held, near, option, stage } from './contract-stage.ts'
import { Customer, control, eventually, Listener, openBrokerage, send, type Wire } from './support.ts'

test('expirations and chains: ascending, complete rows, unknown ones are 404', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls, puts, expiration } = await stage(brokerage)
  const { items } = (await alex.call('GET', '/expirations?underlying=SPY')).body
  const dates = items.map((item: Wire) => item.expiration)
  assert.deepEqual(dates, [...dates].sort())
  assert.equal(calls.length, puts.length)
  assert.ok(calls.length > 10)
  for (const [nth, row] of calls.entries()) {
    assert.equal(row.strike, puts[nth].strike)
    assert.deepEqual([row.u, row.expiration], ['SPY', expiration])
    for (const name of ['b', 'a', 'iv', 'delta', 'gamma', 'theta', 'vega', 'rho']) assert.ok(name in row, name)
  }
  const at = near(calls, 500)
  assert.ok(Number(at.b) > 0 && Number(at.a) > Number(at.b) && Number(at.iv) > 0)
  assert.deepEqual((await alex.call('GET', '/expirations?underlying=BTC%2FUSD')).body.items, [])
  const none = await alex.call('GET', '/chain?underlying=SPY&expiration=2026-01-01')
  assert.deepEqual([none.status, none.body.error.code], [404, 'unknown_symbol'])
  assert.equal((await alex.call('GET', '/chain?underlying=SPY')).status, 400)
})

test('instruments: contracts on demand, options by chain only, futures with their months', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls, expiration } = await stage(brokerage)
  const symbol = near(calls, 500).s
  const { instrument } = (await alex.call('GET', `/instruments/${symbol}`)).body
  assert.deepEqual([instrument.class, instrument.multiplier, instrument.hours], ['option', '100', 'always'])
  assert.deepEqual([instrument.option.underlying, instrument.option.right, instrument.option.expiration], ['SPY', 'call', expiration])
  assert.equal(instrument.future, null)
  const listed = (await alex.call('GET', `/instruments?class=option&underlying=SPY&expiration=${expiration}&limit=500`)).body.items
  assert.ok(listed.some((item: Wire) => item.symbol === symbol))
  const share = (await alex.call('GET', '/instruments/SPY')).body.instrument
  assert.deepEqual([share.class, share.option, share.future], ['share', null, null])
  const futures = (await alex.call('GET', '/instruments?class=future&limit=500')).body.items
  assert.ok(
    futures.some(({ future }: Wire) => future.root === 'ES' && /^\d{4}-\d{2}$/.test(future.month) && Number(future.initial_margin) > 0)
  )
  for (const path of ['/instruments?class=option', '/instruments?class=share&underlying=SPY', '/instruments?class=package'])
    assert.equal((await alex.call('GET', path)).status, 400, path)
  assert.equal((await alex.call('GET', '/instruments/SPY990101C00500000')).status, 404)
  const quoted = (await alex.call('GET', `/quotes?symbols=SPY,${symbol},${futures[0].symbol}`)).body.items
  assert.ok(quoted.every(({ bid, ask }: Wire) => Number(ask) > Number(bid)))
  const bars = (await alex.call('GET', `/bars?symbol=${futures[0].symbol}&interval=1m&limit=5`)).body.items
  assert.equal(bars.length, 5)
})

test('an option is opened and closed; closing more than is held, and shares with an effect, are refused', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls } = await stage(brokerage)
  const symbol = near(calls, 500).s
  const stream = await Listener.of(alex)
  const opened = await option(alex, symbol)
  assert.equal(opened.status, 201)
  assert.deepEqual([opened.body.order.class, opened.body.order.effect, opened.body.order.state], ['option', 'open', 'done'])
  assert.equal(opened.body.order.legs, null)
  await stream.until(() => stream.events.some(({ position }) => position?.symbol === symbol && position.quantity === '2'))
  const tooMuch = await option(alex, symbol, { direction: 'sell', effect: 'close', quantity: '3' })
  assert.deepEqual([tooMuch.status, tooMuch.body.error.code], [422, 'insufficient_position'])
  const closed = await option(alex, symbol, { direction: 'sell', effect: 'close' })
  assert.equal(closed.body.order.state, 'done')
  assert.deepEqual(await held(alex), {})
  assert.equal((await option(alex, symbol, { effect: null })).status, 422)
  assert.equal((await alex.submit({ effect: 'open' })).status, 422)
  assert.equal((await alex.submit({ effect: 'both' })).status, 400)
  assert.equal((await option(alex, 'SPY990101C00500000')).body.error.code, 'unknown_symbol')
})

const vertical = (alex: Customer, calls: readonly Wire[], ticket: Wire = {}) => ({
  account: alex.account('margin'),
  direction: 'buy',
  legs: [
    { symbol: near(calls, 500).s, direction: 'buy', effect: 'open', ratio: '1' },
    { symbol: near(calls, 510).s, direction: 'sell', effect: 'open', ratio: '1' }
  ],
  kind: 'limit',
  lifetime: 'day',
  quantity: '3',
  limit: '9.99',
  ...ticket
})

test('a multi-leg order fills as a whole, shows its legs, and reports its own fills', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls } = await stage(brokerage)
  const stream = await Listener.of(alex)
  const answer = await alex.call('POST', '/orders', vertical(alex, calls, { client_order_id: 'a-spread' }))
  assert.equal(answer.status, 201, answer.text)
  const { order } = answer.body
  assert.deepEqual([order.class, order.symbol, order.effect, order.state, order.filled], ['package', null, null, 'done', '3'])
  const [bought, sold] = order.legs
  assert.deepEqual([bought.direction, bought.effect, sold.direction, sold.effect], ['buy', 'open', 'sell', 'open'])
  for (const [nth, fill] of order.fills.entries()) {
    assert.equal(bought.fills[nth].id, `${fill.id}-1`)
    assert.equal(sold.fills[nth].id, `${fill.id}-2`)
    assert.equal(Number(fill.price).toFixed(4), (Number(bought.fills[nth].price) - Number(sold.fills[nth].price)).toFixed(4))
  }
  assert.deepEqual(await held(alex), { [bought.symbol]: '3', [sold.symbol]: '-3' })
  await stream.until(() => stream.events.some(({ ev }) => ev === 'balance'))
  const fills = stream.events.filter(({ ev }) => ev === 'fill')
  assert.deepEqual(
    fills.map(({ fill }) => fill),
    order.fills
  )
  assert.deepEqual([fills[0].symbol, fills[0].client_order_id], [null, 'a-spread'])
  assert.deepEqual((await alex.find('a-spread')).body.order, order)
})

test('a multi-leg order waits, is amended and cancelled like any order, at a price that may be negative', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls } = await stage(brokerage)
  const waiting = (await alex.call('POST', '/orders', vertical(alex, calls, { limit: '-1.00', lifetime: 'gtc' }))).body.order
  assert.deepEqual([waiting.state, waiting.limit], ['open', '-1'])
  const amended = await alex.call('POST', `/orders/${waiting.id}/amend`, { quantity: '2', limit: '-0.50' })
  assert.equal(amended.status, 200, amended.text)
  assert.deepEqual([amended.body.order.quantity, amended.body.order.limit, amended.body.order.class], ['2', '-0.5', 'package'])
  assert.equal(amended.body.superseded.state, 'superseded')
  const open = (await alex.call('GET', '/orders?state=open')).body.items
  assert.deepEqual(
    open.map(({ id }: Wire) => id),
    [amended.body.order.id]
  )
  const cancelled = await alex.call('DELETE', `/orders/${amended.body.order.id}`)
  assert.equal(cancelled.body.order.state, 'cancelled')
})

test('invalid multi-leg orders are refused', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls } = await stage(brokerage)
  const [one, two] = [near(calls, 500).s, near(calls, 510).s]
  const leg = (symbol: string, more: Wire = {}) => ({ symbol, direction: 'buy', effect: 'open', ratio: '1', ...more })
  const bad: readonly [Wire, number][] = [
    [{ legs: [leg(one)] }, 422],
    [{ legs: [leg(one), leg(one)] }, 422],
    [{ legs: [leg(one), leg(two, { ratio: '0.5' })] }, 422],
    [{ legs: [leg(one), leg('AAPL')] }, 422],
    [{ legs: [leg(one), leg(two, { ratio: 1 })] }, 400],
    [{ legs: [leg(one), { symbol: two, direction: 'buy', ratio: '1' }] }, 400],
    [{ legs: 'two' }, 400],
    [{ symbol: 'SPY' }, 400],
    [{ kind: 'stop' }, 400],
    [{ lifetime: 'at_open' }, 400],
    [{ notional: '100' }, 400],
    [{ quantity: null }, 400]
  ]
  for (const [change, status] of bad) {
    const answer = await alex.call('POST', '/orders', vertical(alex, calls, change))
    assert.equal(answer.status, status, `${JSON.stringify(change)} ${answer.text}`)
  }
  assert.deepEqual(await held(alex), {})
})

test('early exercise delivers shares at the strike', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls } = await stage(brokerage)
  const { s: symbol, strike } = near(calls, 490)
  await option(alex, symbol)
  const body = { account: alex.account('margin'), symbol, quantity: '1' }
  const answer = await alex.call('POST', '/positions/exercise', body)
  assert.deepEqual([answer.status, answer.body.exercised], [200, '1'])
  assert.deepEqual(await held(alex), { SPY: '100', [symbol]: '1' })
  const recent = (await alex.call('GET', '/transactions')).body.items.slice(0, 2)
  const exercise = recent.find(({ type }: Wire) => type === 'exercise')
  const bought = recent.find(({ type }: Wire) => type === 'buy')
  assert.deepEqual([exercise.symbol, exercise.quantity, Number(exercise.amount)], [symbol, '1', 0])
  assert.deepEqual([bought.symbol, bought.quantity, Number(bought.price)], ['SPY', '100', Number(strike)])
  const more = await alex.call('POST', '/positions/exercise', { ...body, quantity: '2' })
  assert.deepEqual([more.status, more.body.error.code], [422, 'insufficient_position'])
  assert.equal((await alex.call('POST', '/positions/exercise', { ...body, account: 'acc-of-nobody' })).status, 404)
  assert.equal((await alex.call('POST', '/positions/exercise', { ...body, quantity: 1 })).status, 400)
  const reader = await Customer.of(brokerage, 'alex', ['read'])
  assert.equal((await reader.call('POST', '/positions/exercise', body)).status, 403)
  const { operations } = await control(brokerage, 'GET', '/counters')
  assert.equal(operations['positions.exercise'].requests, 5)
})

test('the operator can move and order contracts too, and the clock shows every market', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls } = await stage(brokerage)
  const symbol = near(calls, 500).s
  const book = { bids: [['4.00', '1']], asks: [['5.00', '1']] }
  const { quote } = await control(brokerage, 'PUT', `/market/${symbol}`, book)
  assert.deepEqual([quote.bid, quote.ask], ['4', '5'])
  const placed = await control(brokerage, 'POST', '/orders', { login: 'alex', ...vertical(alex, calls, { limit: '-50.00' }) })
  assert.equal(placed.order.class, 'package')
  assert.equal((await send(`${brokerage.controlUrl}/market/SPY990101C00500000`, 'PUT', { price: '1.00' })).status, 404)
  await control(brokerage, 'PUT', '/market', { phase: 'closed', class: 'option' })
  const { clock } = (await alex.call('GET', '/clock')).body
  assert.deepEqual([clock.share.phase, clock.option.phase, clock.future.phase, clock.coin.phase], ['open', 'closed', 'open', 'open'])
})

test('calendars of every asset class with exchange hours', async () => {
  await using brokerage = await openBrokerage({ calendar: 'exchange' })
  const alex = await Customer.of(brokerage)
  await control(brokerage, 'PUT', '/clock', { set: (await alex.call('GET', '/clock')).body.sandbox_time })
  const day = async (of: string, date: string) => (await alex.call('GET', `/calendar?from=${date}&to=${date}&class=${of}`)).body.items[0]
  assert.deepEqual(
    [(await day('share', '2027-01-05')).opens, (await day('option', '2027-01-05')).closes],
    ['2027-01-05T14:30:00.000000Z', '2027-01-05T21:00:00.000000Z']
  )
  assert.equal((await day('option', '2027-01-05')).pre_opens, null)
  const future = await day('future', '2027-01-05')
  assert.deepEqual([future.opens, future.closes], ['2027-01-04T23:00:00.000000Z', '2027-01-05T22:00:00.000000Z'])
  assert.equal(await day('future', '2027-01-02'), undefined)
  assert.equal((await day('coin', '2027-01-02')).opens, '2027-01-02T00:00:00.000000Z')
})

test('a chain on the market stream: every contract at first, and each again when its prices move', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls, puts, expiration } = await stage(brokerage, 'later')
  const stream = await Listener.ofMarket(alex)
  stream.send({ op: 'add', n: 1, channel: 'chain', symbols: ['SPY', 'NOPE'], expiration })
  await stream.until(messages => messages.some(({ n }) => n === 1))
  assert.deepEqual(stream.messages.find(({ n }) => n === 1).unknown, ['NOPE'])
  const rows = () => stream.items.filter(({ t }) => t === 'option')
  const everyone = [...calls, ...puts].map(({ s }) => s).sort()
  await stream.until(() => new Set(rows().map(({ s }) => s)).size === everyone.length)
  assert.deepEqual([...new Set(rows().map(({ s }) => s))].sort(), everyone)
  const symbol = near(calls, 500).s
  await control(brokerage, 'PUT', `/market/${symbol}`, { bids: [['4.00', '1']], asks: [['5.00', '2']] })
  await stream.until(() => rows().some(({ s, b, a, az }) => s === symbol && b === '4.00' && a === '5.00' && az === '2'))
  const late = await Listener.ofMarket(alex)
  late.send({ op: 'add', n: 1, channel: 'chain', symbols: ['SPY'], expiration })
  await late.until(() => late.items.length >= everyone.length)
  assert.deepEqual(
    late.items.find(({ s }) => s === symbol),
    rows().findLast(({ s }) => s === symbol)
  )
})

test('contracts without an earlier request are on the stream, and in trades and bars', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const [month] = (await alex.call('GET', '/instruments?class=future&search=ES')).body.items
  const stream = await Listener.ofMarket(alex)
  stream.send({ op: 'add', n: 1, channel: 'quotes', symbols: [month.symbol] })
  stream.send({ op: 'add', n: 2, channel: 'bars', symbols: [month.symbol], interval: '1m' })
  await stream.until(() => stream.items.some(({ t, s }) => t === 'quote' && s === month.symbol))
  await control(brokerage, 'PUT', '/clock', { advance_ms: 600_000 })
  const closed = () => stream.items.filter(({ t, closed: over }) => t === 'bar' && over)
  await stream.until(() => closed().length >= 9)
  const first = new Date(Number(BigInt(closed()[0].at) / 1_000_000n)).toISOString()
  const history = (await alex.call('GET', `/bars?symbol=${month.symbol}&interval=1m&from=${first}&limit=500`)).body.items
  for (const [nth, bar] of closed().entries())
    assert.deepEqual(
      [bar.o, bar.h, bar.l, bar.c, bar.v],
      [history[nth].open, history[nth].high, history[nth].low, history[nth].close, history[nth].volume]
    )
})

test('contracts survive a reset of the state while they are followed', async () => {
  await using brokerage = await openBrokerage()
  const { alex, calls } = await stage(brokerage)
  const symbol = near(calls, 500).s
  await option(alex, symbol)
  await control(brokerage, 'POST', '/reset')
  assert.deepEqual(await held(alex), {})
  const again = await eventually(
    () => option(alex, symbol),
    ({ status }) => status === 201
  )
  assert.equal(again.body.order.state, 'done')
})
