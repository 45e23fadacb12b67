import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseTimestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { json } from '../support/scripted-host.ts'
import { ACCOUNT, fixture, type Json, orderOf, positionOf, TICKET } from './fixtures.ts'
import { Venue } from './venue.ts'

const ORDER = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'a1b2c3d4e5f6g7h8i9j0k1' }
const KEY = { brokerAccountId: ACCOUNT, brokerOrderId: '900000001' }
const SENT = fixture('submit.taken').body
const fault = (kind: BrokerFault['kind']) => (error: unknown) => error instanceof BrokerFault && error.kind === kind

const held = (quantity: string): Json => ({
  Positions: [positionOf('1', 'MSFT', quantity)],
  Errors: []
})

test('the side of a sale follows from the current position, below the address and with the token', async () => {
  await using venue = await Venue.start()
  venue.answer('POST /orders', SENT)
  const actions: string[] = []
  for (const [quantity, side] of [
    ...[['10', 'SELL'] as const, ['0', 'SELL'] as const, ['-3', 'SELL'] as const],
    ...[['-10', 'BUY'] as const, ['3', 'BUY'] as const, ['0', 'BUY'] as const]
  ]) {
    venue.answer('GET /positions', held(quantity))
    const outcome = await venue.broker.submit({ ...ORDER, side }, soon())
    assert.equal(outcome.kind, 'accepted')
    actions.push(JSON.parse(venue.seen('POST /orders').at(-1)?.body ?? '').TradeAction)
  }
  assert.deepEqual(actions, ['SELL', 'SELLSHORT', 'SELLSHORT', 'BUYTOCOVER', 'BUY', 'BUY'])
  const [post] = venue.seen('POST /orders')
  assert.deepEqual([post?.path, post?.headers.authorization], ['/below/v3/orderexecution/orders', 'Bearer token-1'])
  assert.equal(venue.seen('GET /positions').length, actions.length)
})

test('what the broker cannot take is refused before anything is sent, with a helpful message', async () => {
  await using venue = await Venue.start()
  for (const [quantity, side, message] of [
    ['4', 'SELL', /4 MSFT are held.* sell 4 and the rest with a second order/],
    ['-4', 'BUY', /4 MSFT are short.* buy 4 to cover/]
  ] as const) {
    venue.answer('GET /positions', held(quantity))
    const crossing = await venue.broker.submit({ ...ORDER, side }, soon())
    assert.ok(crossing.kind === 'refused' && crossing.brokerStatus === null)
    assert.match(crossing.message, message)
  }
  const leg = { symbol: 'SPY261218P00500000', side: 'BUY_TO_OPEN', ratio: parseDecimal('2', 'ratio'), fills: [] } as const
  const multiLeg = { ...ORDER, symbol: null, instrument: 'MLEG_OPT', legs: [leg, { ...leg, symbol: 'SPY261218P00490000' }] } as const
  const doubled = await venue.broker.submit(multiLeg, soon())
  assert.ok(doubled.kind === 'refused' && /lowest terms/.test(doubled.message))
  const yen = await venue.broker.submit({ ...ORDER, symbol: '6JZ26', instrument: 'FUT' }, soon())
  assert.ok(yen.kind === 'refused' && yen.brokerStatus === null)
  assert.deepEqual(venue.seen('POST /orders'), [])
})

test('an order whose position cannot be read is not sent', async () => {
  await using venue = await Venue.start()
  venue.answer('GET /positions', { Error: 'ServiceUnavailable', Message: 'later' }, 503)
  const outcome = await venue.broker.submit(ORDER, soon())
  assert.ok(outcome.kind === 'not_sent' && fault('unreachable')(outcome.cause))
  assert.deepEqual(venue.seen('POST /orders'), [])
})

test('rows of one symbol are one position; where they contradict each other they are left out and nothing is sent', async () => {
  await using venue = await Venue.start()
  const row = (id: string, quantity: string) => positionOf(id, 'MSFT', quantity)
  venue.answer('GET /positions', { Positions: [row('1', '4'), row('2', '6')], Errors: [] })
  const { items } = await venue.broker.positions(ACCOUNT, soon())
  assert.deepEqual(
    items.map(({ symbol, quantity, brokerPositionId }) => [symbol, quantity, brokerPositionId]),
    [['MSFT', '10', null]]
  )
  for (const rows of [
    [row('1', '4'), row('2', '-6')],
    [row('1', '4'), row('1', '4')]
  ]) {
    venue.answer('GET /positions', { Positions: rows, Errors: [] })
    const partial = await venue.broker.positions(ACCOUNT, soon())
    assert.deepEqual([partial.items, partial.leftOut?.length], [[], 2])
    const outcome = await venue.broker.submit(ORDER, soon())
    assert.ok(outcome.kind === 'not_sent' && fault('malformed')(outcome.cause))
  }
  assert.deepEqual(venue.seen('POST /orders'), [])
})

test('a multi-leg order keeps its size, and is reported as requested', async () => {
  await using venue = await Venue.start()
  const order = { ...fixture('order.multi-leg').body, OrderID: '900000001' }
  venue.answer('GET /orders/900000001', { Orders: [order], Errors: [] })
  venue.answer('POST /orders', SENT)
  venue.answer('PUT /900000001', { OrderID: '900000001', Message: 'sent' })
  const legs = [
    { symbol: 'SPY261218P00500000', side: 'SELL_TO_OPEN', ratio: parseDecimal('2', 'ratio'), fills: [] },
    { symbol: 'SPY261218P00490000', side: 'BUY_TO_OPEN', ratio: parseDecimal('1', 'ratio'), fills: [] }
  ] as const
  const ticket = {
    ...TICKET,
    symbol: null,
    instrument: 'MLEG_OPT',
    quantity: parseDecimal('3', 'quantity'),
    limitPrice: parseDecimal('-7.35', 'limit'),
    legs
  } as const
  assert.equal((await venue.broker.submit({ ...ORDER, ...ticket }, soon())).kind, 'accepted')
  const { found } = await venue.broker.findOrder({ by: 'brokerOrderId', ...KEY }, soon())
  assert.deepEqual([found?.side, found?.limitPrice, found?.filledTotal], ['BUY', '-7.35', { quantity: '1', averagePrice: '-7.35' }])
  const larger = await venue.broker.replace(
    { ...KEY, brokerClOrdId: 'x', ticket: { ...ticket, quantity: parseDecimal('4', 'quantity') } },
    soon()
  )
  assert.ok(larger.kind === 'refused' && /size/.test(larger.message))
  assert.deepEqual(venue.seen('PUT /900000001'), [])
  assert.equal((await venue.broker.replace({ ...KEY, brokerClOrdId: 'x', ticket }, soon())).kind, 'accepted')
})

test('orders: every page of today, and what was closed since; the clock is the broker’s', async () => {
  await using venue = await Venue.start()
  const page = (seen: Json, response: Json) => {
    const token = new URL(seen.path, 'http://x').searchParams.get('nextToken')
    const orders = token === null ? [orderOf('1', 'ACK'), orderOf('2', 'ZZZ')] : [orderOf('3', 'ACK')]
    json(
      response,
      200,
      { Orders: orders, Errors: [], ...(token === null ? { NextToken: 'two' } : {}) },
      { date: 'Fri, 20 Nov 2026 15:00:10 GMT' }
    )
  }
  venue.answer('GET /orders', page)
  venue.answer('GET /historicalorders', {
    Orders: [
      orderOf('3', 'OUT', { ClosedDateTime: '2026-11-20T15:00:09Z' }),
      orderOf('4', 'FLL', { ClosedDateTime: '2026-11-20T14:00:00Z', leg: { ExecQuantity: '10' } })
    ],
    Errors: []
  })
  const since = parseTimestamp('2026-11-20T14:30:00Z', 'since')
  const { items, leftOut, brokerClock } = await venue.broker.orders(ACCOUNT, since, soon())
  assert.deepEqual(
    items.map(({ brokerOrderId, status }) => [brokerOrderId, status]),
    [
      ['1', 'working'],
      ['3', 'cancelled']
    ]
  )
  assert.deepEqual(leftOut, ['2'])
  assert.equal(brokerClock, '2026-11-20T15:00:10.000000Z')
  assert.equal(venue.meter.counted('broker_unknown_values_total', { broker: 'TRADESTATION', field: 'Status' }), 1)

  venue.answer('GET /orders', { Orders: [], NextToken: 'same' })
  await assert.rejects(venue.broker.orders(ACCOUNT, since, soon()), fault('malformed'))
  venue.answer('GET /orders', { Orders: [orderOf('1', 'ACK')], Errors: [{ AccountID: ACCOUNT, Error: 'Forbidden', Message: 'no' }] })
  await assert.rejects(venue.broker.orders(ACCOUNT, since, soon()), fault('refused'))
})

test('the past is requested from the day before, and no further back than the broker keeps', async () => {
  await using venue = await Venue.start()
  const sinceOf = () => new URL(venue.seen('GET /historicalorders').at(-1)?.path ?? '', 'http://x').searchParams.get('since')
  const now = Date.now()
  await venue.broker.orders(ACCOUNT, timestampOfMs(now - 1_000), soon())
  const recent = Date.parse(`${sinceOf()}T00:00:00Z`)
  assert.ok(recent <= now - 86_400_000 && recent > now - 4 * 86_400_000)
  await venue.broker.orders(ACCOUNT, timestampOfMs(0), soon())
  const oldest = Date.parse(`${sinceOf()}T00:00:00Z`)
  assert.ok(oldest >= now - 90 * 86_400_000 && oldest <= now - 88 * 86_400_000)
})

test('an order is looked up among those of today and then those of the past; only the broker’s own answer is an absence', async () => {
  await using venue = await Venue.start()
  const key = { by: 'brokerOrderId', ...KEY } as const
  venue.answer('GET /orders/900000001', fixture('order.missing').body)
  venue.answer('GET /historicalorders/900000001', { Orders: [orderOf('900000001', 'EXP', { ClosedDateTime: '2026-11-19T21:00:00Z' })] })
  assert.equal((await venue.broker.findOrder(key, soon())).found?.status, 'expired')
  venue.answer('GET /historicalorders/900000001', { Error: 'BadRequest', Message: 'Invalid order ID.' }, 400)
  assert.equal((await venue.broker.findOrder(key, soon())).found, null)
  for (const [body, kind] of [
    [{ Orders: [], Errors: [{ Error: 'GatewayTimeout', Message: 'order service' }] }, 'unreachable'],
    [{ Orders: [], Errors: [{ Error: 'Forbidden', Message: 'not yours' }] }, 'refused'],
    [{ Orders: [], Errors: [] }, 'malformed'],
    [{ Orders: [orderOf('7', 'ACK')] }, 'malformed']
  ] as const) {
    venue.answer('GET /orders/900000001', body)
    await assert.rejects(venue.broker.findOrder(key, soon()), fault(kind))
  }
  for (const [body, status, kind] of [
    [{ Message: 'not found /brokerage/accounts/11111111/orders/900000001', Error: 'NotFound' }, 404, 'unreachable'],
    [{ Message: 'Account not found', Error: 'NotFound' }, 404, 'refused'],
    [{ Message: 'Too many orders were requested.', Error: 'BadRequest' }, 400, 'refused']
  ] as const) {
    venue.answer('GET /orders/900000001', body, status)
    await assert.rejects(venue.broker.findOrder(key, soon()), fault(kind), body.Message)
  }
  await assert.rejects(
    venue.broker.findOrder({ by: 'brokerClOrdId', brokerAccountId: ACCOUNT, brokerClOrdId: 'x' }, soon()),
    fault('refused')
  )
})

test('balances are in the currency of the account, which is requested once', async () => {
  await using venue = await Venue.start()
  const { items } = await venue.broker.balances(ACCOUNT, soon())
  assert.deepEqual([items[0]?.currency, items[0]?.cash, items[0]?.buyingPower], ['USD', '1', '2'])
  await venue.broker.balances(ACCOUNT, soon())
  assert.equal(venue.seen('GET /accounts').length, 1)
  await assert.rejects(venue.broker.balances('other', soon()), fault('malformed'))
  await assert.rejects(venue.broker.transactions(ACCOUNT, '2026-11-20' as never, '2026-11-20' as never, soon()), fault('refused'))
})

test('a 401 about a scope breaks nothing; one about the token is answered with another', async () => {
  await using venue = await Venue.start()
  venue.answer('GET /positions', fixture('error.token').body, 401)
  await assert.rejects(venue.broker.positions(ACCOUNT, soon()), fault('refused'))
  assert.ok((await venue.broker.accounts(soon())).items.length > 0)
  assert.equal(venue.holder.renewals, 0)

  venue.answer('POST /token', { access_token: 'token-2', token_type: 'Bearer', expires_in: 1_200, id_token: 'not.a.token' })
  venue.answer('GET /accounts', (seen: Json, response: Json) => {
    if (seen.headers.authorization === 'Bearer token-2') json(response, 200, fixture('accounts').body)
    else json(response, 401, fixture('error.token').body)
  })
  assert.equal((await venue.broker.accounts(soon())).items.length, 2)
  assert.deepEqual([venue.holder.credentials.access_token, venue.holder.credentials.refresh_token], ['token-2', 'refresh-1'])
})
