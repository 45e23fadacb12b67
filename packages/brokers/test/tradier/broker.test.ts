/** Tradier's adapter against answers that are written for it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay, parseTimestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type NewOrder } from '@trunkline/core/ports/broker'
import { decimal, reply, TICKET } from './fixtures.ts'
import { ACCOUNT, answering, fixed, raw, ScriptedTradier, soon } from './support.ts'

const ORDER: NewOrder = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'osk01H' }
const HOLDINGS = `GET /accounts/${ACCOUNT}/positions`
const ORDERS = `/accounts/${ACCOUNT}/orders`

const fault = (kind: string) => (error: unknown) => {
  assert.ok(error instanceof BrokerFault, String(error))
  assert.equal(error.kind, kind, error.message)
  return true
}

/** An order of AAPL as Tradier sends it. */
function order(id: number, change: object = {}): object {
  const parsed = JSON.parse(reply('orders.one').body).orders.order
  return { ...parsed, id, ...change }
}

test('what would cross zero, or cannot be had at all, is refused and nothing is sent', async () => {
  await using tradier = await ScriptedTradier.start({ [HOLDINGS]: 'positions.one' })
  const crossing = await tradier.broker.submit({ ...ORDER, side: 'SELL' }, soon())
  assert.ok(crossing.kind === 'refused' && /second order/.test(crossing.message), JSON.stringify(crossing))
  const fraction = await tradier.broker.submit({ ...ORDER, quantity: decimal('0.5') }, soon())
  assert.equal(fraction.kind, 'refused')
  assert.deepEqual(tradier.requests, [HOLDINGS])
})

test('options go without a reading of what is held', async () => {
  await using tradier = await ScriptedTradier.start({ [`POST ${ORDERS}`]: 'place.ok' })
  const option = { ...ORDER, symbol: 'SPY261218C00600000', instrument: 'OPT', side: 'BUY_TO_OPEN' } as const
  assert.equal((await tradier.broker.submit(option, soon())).kind, 'accepted')
  assert.deepEqual(tradier.requests, [`POST ${ORDERS}`])
})

test('a lost answer is unknown; the tag finds the order on whatever page, and the order shows its state', async () => {
  let sent = 0
  const page = (from: number, to: number) => Array.from({ length: to - from }, (_, nth) => order(from + nth, { tag: `other${from + nth}` }))
  await using tradier = await ScriptedTradier.start({
    [HOLDINGS]: 'positions.none',
    [`POST ${ORDERS}`]: (_seen, _response, request) => {
      sent += 1
      request.socket.destroy()
    },
    [`GET ${ORDERS}?`]: ({ path }, response) => {
      const nth = Number(new URL(path, 'http://host').searchParams.get('page'))
      const records = nth === 1 ? page(1, 101) : nth === 2 ? [...page(90, 120), order(777, { status: 'open' })] : []
      raw(response, 200, JSON.stringify({ orders: records.length === 0 ? 'null' : { order: records } }))
    },
    [`GET ${ORDERS}/777`]: answering({ order: order(777, { status: 'filled', exec_quantity: 40, avg_fill_price: 219.5 }) })
  })
  assert.equal((await tradier.broker.submit(ORDER, soon())).kind, 'unknown')
  const { found } = await tradier.broker.findOrder({ by: 'brokerClOrdId', brokerAccountId: ACCOUNT, brokerClOrdId: 'osk01H' }, soon())
  assert.deepEqual([found?.brokerOrderId, found?.status, found?.filledTotal], ['777', 'filled', { quantity: '40', averagePrice: '219.5' }])
  const absent = await tradier.broker.findOrder({ by: 'brokerClOrdId', brokerAccountId: ACCOUNT, brokerClOrdId: 'never' }, soon())
  assert.equal(absent.found, null)
  assert.equal(sent, 1)
  const { items } = await tradier.broker.orders(ACCOUNT, absent.asOf, soon())
  assert.equal(items.length, 120, 'each order once, though pages overlap')
})

test('an order reported as missing once is requested again, for a look-up and for a change', async () => {
  let requested = 0
  await using tradier = await ScriptedTradier.start({
    [`GET ${ORDERS}/900500`]: (_seen, response) => {
      requested += 1
      if (requested % 2 === 1) raw(response, 404, 'order 900500 not found')
      else raw(response, 200, JSON.stringify({ order: order(900500, { status: 'open', exec_quantity: 0, avg_fill_price: 0 }) }))
    },
    [`PUT ${ORDERS}/900500`]: answering({ order: { id: 900500, status: 'ok' } }),
    [`GET ${ORDERS}/1`]: (_seen, response) => raw(response, 404, 'order 1 not found'),
    [`GET ${ORDERS}/2`]: 'html.maintenance',
    [`GET ${ORDERS}/3`]: (_seen, response) => raw(response, 404, '<html>not found</html>'),
    [`GET ${ORDERS}?`]: 'orders.one'
  })
  const find = (brokerOrderId: string) => tradier.broker.findOrder({ by: 'brokerOrderId', brokerAccountId: ACCOUNT, brokerOrderId }, soon())
  assert.equal((await find('900500')).found?.brokerOrderId, '900500')
  assert.equal(requested, 2)
  assert.equal((await find('1')).found, null)
  await assert.rejects(find('2'), fault('malformed'))
  await assert.rejects(find('3'), fault('refused'), 'a page of a gateway says nothing of an order')
  const ticket = { ...TICKET, limitPrice: decimal('221.00') }
  const change = { brokerAccountId: ACCOUNT, brokerOrderId: '900500', brokerClOrdId: 'next', ticket }
  assert.equal((await tradier.broker.replace(change, soon())).kind, 'accepted')
})

test('an order that is listed and cannot be read is not absent', async () => {
  const list = [order(1, { tag: 'other' }), order(2, { status: 'quantum' })]
  await using tradier = await ScriptedTradier.start({
    [`GET ${ORDERS}?`]: answering({ orders: { order: list } }),
    [`GET ${ORDERS}/`]: (_seen, response) => raw(response, 404, 'order not found')
  })
  const { broker, meter } = tradier
  await assert.rejects(
    broker.findOrder({ by: 'brokerClOrdId', brokerAccountId: ACCOUNT, brokerClOrdId: 'osk01H' }, soon()),
    fault('malformed')
  )
  await assert.rejects(broker.findOrder({ by: 'brokerOrderId', brokerAccountId: ACCOUNT, brokerOrderId: '2' }, soon()), fault('malformed'))
  assert.equal(meter.counted('broker_unknown_values_total', { broker: 'TRADIER', field: 'status' }), 2)
  // A list of all of them has those that can be read.
  assert.deepEqual(
    (await broker.orders(ACCOUNT, parseTimestamp('2026-11-03T00:00:00Z', 'since'), soon())).items.map(({ brokerOrderId }) => brokerOrderId),
    ['1']
  )
})

test('a change: refused unsent for what cannot change, accepted once the order shows it, unknown until then', async () => {
  let shown: object = order(900500, { status: 'open', exec_quantity: 0, avg_fill_price: 0 })
  let later: object | null = null
  await using tradier = await ScriptedTradier.start({
    [`GET ${ORDERS}/900500`]: (_seen, response) => raw(response, 200, JSON.stringify({ order: shown })),
    [`PUT ${ORDERS}/900500`]: (_seen, response) => {
      if (later !== null) shown = later
      raw(response, 200, '{"order":{"id":900500,"status":"ok"}}')
    }
  })
  const replace = (change: object) =>
    tradier.broker.replace(
      { brokerAccountId: ACCOUNT, brokerOrderId: '900500', brokerClOrdId: 'next', ticket: { ...TICKET, ...change } },
      soon()
    )
  const quantity = await replace({ quantity: decimal('41') })
  assert.ok(quantity.kind === 'refused' && /quantity/.test(quantity.message))
  assert.ok(tradier.requests.every(request => request.startsWith('GET')))

  assert.deepEqual(await replace({ limitPrice: decimal('221.00') }), { kind: 'accepted', value: null })
  later = order(900500, { status: 'open', exec_quantity: 0, avg_fill_price: 0, price: 222 })
  const changed = await replace({ limitPrice: decimal('222.00') })
  assert.ok(changed.kind === 'accepted' && changed.value !== null)
  assert.deepEqual(
    [changed.value.brokerOrderId, changed.value.brokerClOrdId, changed.value.limitPrice, changed.value.status],
    ['900500', null, '222', 'working']
  )

  shown = order(900500, { status: 'canceled' })
  const over = await replace({ limitPrice: decimal('223.00') })
  assert.ok(over.kind === 'refused' && /canceled/.test(over.message))
})

test('positions stand without quotes, and every page of the history is read', async () => {
  await using tradier = await ScriptedTradier.start({
    [HOLDINGS]: 'positions.one',
    'POST /markets/quotes': 'fault.datastore',
    [`GET /accounts/${ACCOUNT}/history`]: 'history.events'
  })
  const { items } = await tradier.broker.positions(ACCOUNT, soon())
  assert.deepEqual(
    items.map(({ symbol, lastPrice, averagePrice }) => [symbol, lastPrice, averagePrice]),
    [['AAPL', null, '239.05']]
  )
  const days = (from: string, to: string) => tradier.broker.transactions(ACCOUNT, parseDay(from, 'from'), parseDay(to, 'to'), soon())
  assert.equal((await days('2026-10-01', '2026-10-31')).items.length, 7)
  assert.equal((await days('2026-10-08', '2026-10-08')).items.length, 3, 'inclusive days, whatever Tradier sends beside them')
})

test('one 401 that is not about the token is a passing failure; one that stays is no end of the login', async () => {
  let refused = 0
  const balances = `GET /accounts/${ACCOUNT}/balances`
  await using tradier = await ScriptedTradier.start({
    [balances]: (_seen, response) => {
      refused += 1
      if (refused === 1) raw(response, 401, '')
      else fixed(response, 'balances.margin')
    },
    'GET /user/profile': 'profile.one',
    'GET /accounts/other/balances': (_seen, response) => raw(response, 401, 'Unauthorized Account: other')
  })
  assert.equal((await tradier.broker.balances(ACCOUNT, soon())).items.length, 1)
  await assert.rejects(tradier.broker.balances('other', soon()), fault('refused'))
  assert.equal((await tradier.broker.balances(ACCOUNT, soon())).items.length, 1)
  assert.equal(tradier.holder.renewals, 0)
})

test('failures of the gateway pass, and what Tradier leaves of a minute is respected', async () => {
  let times = 0
  await using tradier = await ScriptedTradier.start({
    'GET /user/profile': (_seen, response) => {
      times += 1
      if (times === 1) raw(response, 400, reply('fault.datastore').body)
      else if (times === 2) raw(response, 404, '')
      else
        raw(response, 200, reply('profile.one').body, { 'x-ratelimit-available': '0', 'x-ratelimit-expiry': String(Date.now() + 55_000) })
    }
  })
  assert.equal((await tradier.broker.accounts(soon())).items.length, 1)
  assert.equal(times, 3)
  await assert.rejects(tradier.broker.accounts(soon()), fault('rate_limited'))
  assert.equal(times, 3, 'nothing is requested in a minute that is used up')
})

test('a host that is not encrypted needs to be allowed, and addresses in answers are not followed', async () => {
  await assert.rejects(ScriptedTradier.start({}, { settings: { plain: false } }), TypeError)
})

test('logging in: commas, no PKCE, no redirect_uri unless it is wanted, and Basic for the code', async () => {
  await using tradier = await ScriptedTradier.start({
    'POST /oauth/accesstoken': answering({
      ...{ access_token: 'tk_1', expires_in: 86_399, issued_at: '2026-11-02T08:15:00-05:00' },
      ...{ scope: 'read write trade market stream', status: 'approved' }
    })
  })
  const { login } = tradier.definition
  assert.ok(login.kind === 'oauth')
  const address = { redirectUri: 'https://service.example/connect/callback/tradier', state: 'st' }
  const { verifier, authorizationUrl } = await login.begin({ ...address, trading: false })
  const shown = (url: string) => Object.fromEntries(new URL(url).searchParams)
  assert.deepEqual(shown(authorizationUrl), { client_id: 'app', scope: 'read,market,stream', state: 'st' })
  const trading = await login.begin({ ...address, trading: true })
  assert.equal(shown(trading.authorizationUrl).scope, 'read,write,trade,market,stream')
  const callbackUrl = `${address.redirectUri}?code=abc&state=st`
  const credentials = await login.complete({ ...address, verifier, callbackUrl }, soon())
  assert.deepEqual([credentials.access_token, credentials.refresh_token, credentials.expires_at !== undefined], ['tk_1', undefined, true])
  const [exchange] = tradier.host.seen
  assert.deepEqual(Object.fromEntries(new URLSearchParams(exchange?.body)), { grant_type: 'authorization_code', code: 'abc' })
  assert.equal(exchange?.headers.authorization, `Basic ${Buffer.from('app:secret').toString('base64')}`)
})
