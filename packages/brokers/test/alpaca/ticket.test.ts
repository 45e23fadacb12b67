import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseDay, parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { NewOrder } from '@trunkline/core/ports/broker'
import { parseOrder } from '../../src/alpaca/codecs.ts'
import { ACTIVITIES, ALPACA_CAPABILITIES } from '../../src/alpaca/definition.ts'
import {
  interpretCancel,
  interpretReplace,
  interpretSubmit,
  ORDERS,
  refusalOf,
  replaceRequest,
  submitRequest
} from '../../src/alpaca/orders.ts'
import { isNotFound, isUnauthorized } from '../../src/alpaca/quirks.ts'
import type { HttpReply } from '../../src/kit/http.ts'
import { ACCOUNT, dec, fixture, reply, SPREAD, TICKET, unread } from './fixtures.ts'

after(() =>
  assert.deepEqual(
    unread(name => name.startsWith('error.')),
    [],
    'errors that no test reads'
  )
)

const sent = (ticket: OrderTicket, brokerClOrdId = 'tl0001'): NewOrder => ({ ...ticket, brokerAccountId: ACCOUNT, brokerClOrdId })
const bodyOf = (ticket: OrderTicket) => JSON.parse(submitRequest(sent(ticket)).body ?? '')
const answer = (status: number, body: object): HttpReply => ({ status, headers: {}, body: JSON.stringify(body) })

test('orders in Alpaca’s format', () => {
  assert.deepEqual(bodyOf({ ...TICKET, tif: 'DAY+' }), {
    symbol: 'AAPL',
    side: 'buy',
    type: 'limit',
    time_in_force: 'day',
    extended_hours: true,
    qty: '2',
    limit_price: '150.25',
    client_order_id: 'tl0001'
  })
  assert.deepEqual(
    bodyOf({
      ...TICKET,
      symbol: 'BTC/USD',
      instrument: 'CRYPTO',
      type: 'MKT',
      tif: 'IOC',
      quantity: null,
      notional: dec('25'),
      limitPrice: null
    }),
    {
      symbol: 'BTC/USD',
      side: 'buy',
      type: 'market',
      time_in_force: 'ioc',
      notional: '25',
      client_order_id: 'tl0001'
    }
  )
  assert.deepEqual(bodyOf({ ...TICKET, symbol: 'AAPL261218C00250000', instrument: 'OPT', side: 'SELL_TO_CLOSE' }), {
    symbol: 'AAPL261218C00250000',
    side: 'sell',
    position_intent: 'sell_to_close',
    type: 'limit',
    time_in_force: 'day',
    qty: '2',
    limit_price: '150.25',
    client_order_id: 'tl0001'
  })
  assert.deepEqual(
    ['OPEN', 'CLOSE', 'GTC+', 'FOK']
      .map(tif => bodyOf({ ...TICKET, tif: tif as OrderTicket['tif'] }))
      .map(body => [body.time_in_force, body.extended_hours]),
    [
      ['opg', undefined],
      ['cls', undefined],
      ['gtc', true],
      ['fok', undefined]
    ]
  )
  assert.throws(() => submitRequest(sent({ ...TICKET, side: 'BUY_TO_OPEN' })), Malformed)
})

test('a multi-leg order: the leg that defines its side comes first, and the price is what is paid', () => {
  const body = bodyOf(SPREAD)
  assert.deepEqual(body, {
    order_class: 'mleg',
    legs: [
      { symbol: 'AAPL261218C00250000', side: 'sell', position_intent: 'sell_to_open', ratio_qty: '1' },
      { symbol: 'AAPL261218C00260000', side: 'buy', position_intent: 'buy_to_open', ratio_qty: '1' }
    ],
    type: 'limit',
    time_in_force: 'day',
    qty: '1',
    limit_price: '-0.85',
    client_order_id: 'tl0001'
  })
  const bought = bodyOf({ ...SPREAD, side: 'BUY', limitPrice: dec('-0.85') })
  assert.deepEqual([bought.legs[0].side, bought.limit_price], ['buy', '-0.85'])
  const replaced = JSON.parse(replaceRequest('1', { ticket: SPREAD, quantity: null, brokerClOrdId: 'x' }).body ?? '')
  assert.deepEqual(replaced, { limit_price: '-0.85', client_order_id: 'x' })
})

test('what was sent is what is read back, for every kind of order offered', () => {
  const { orderTypes, timesInForce, sides, instruments } = ALPACA_CAPABILITIES
  const symbols = { STK: 'AAPL', OPT: 'AAPL261218C00250000', CRYPTO: 'BTC/USD', MLEG_OPT: null } as const
  const classes = { STK: 'us_equity', OPT: 'us_option', CRYPTO: 'crypto', MLEG_OPT: '' } as const
  let count = 0
  for (const instrument of instruments)
    for (const type of orderTypes[instrument])
      for (const tif of timesInForce[instrument])
        for (const side of sides[instrument]) {
          const ticket: OrderTicket = {
            ...(instrument === 'MLEG_OPT' ? SPREAD : TICKET),
            ...{ instrument, type, tif, side, symbol: symbols[instrument], quantity: dec('2') },
            limitPrice: type === 'LMT' || type === 'STPLMT' ? dec('150.25') : null,
            stopPrice: type === 'STP' || type === 'STPLMT' ? dec('149') : null
          }
          if (refusalOf(ticket) !== null) continue
          const body = bodyOf(ticket)
          const base = fixture('order.pending').body
          const legs = body.legs?.map((leg: object, index: number) => ({ ...base, ...leg, id: `leg-${index}` })) ?? null
          const echoed = { ...base, symbol: '', side: '', limit_price: null, ...body, asset_class: classes[instrument], legs }
          const outcome = interpretSubmit(answer(200, echoed), sent(ticket))
          assert.ok(outcome.kind === 'accepted', `${instrument} ${type} ${tif} ${side}`)
          for (const field of ['symbol', 'instrument', 'side', 'type', 'tif', 'quantity', 'limitPrice', 'stopPrice'] as const)
            assert.equal(outcome.value[field], ticket[field], `${instrument} ${type} ${tif} ${side}: ${field}`)
          count += 1
        }
  assert.equal(count, 2 * (6 + 8 + 2 + 2) + 4 * 2 + 2 * 2 + 2 * (2 + 2 + 1))
})

test('what Alpaca does not accept is refused with a message', () => {
  const refuse = (more: Partial<OrderTicket>) => refusalOf({ ...TICKET, ...more })
  assert.equal(refuse({}), null)
  assert.match(refuse({ tif: 'GTC+', type: 'STP', limitPrice: null, stopPrice: dec('1') })?.message ?? '', /order_tif GTC\+/)
  assert.match(refuse({ tif: 'OPEN', type: 'STP', limitPrice: null, stopPrice: dec('1') })?.message ?? '', /order_tif OPEN/)
  assert.match(refuse({ quantity: dec('1.5'), tif: 'GTC' })?.message ?? '', /order_qty fraction .* only whole/)
  assert.equal(refuse({ quantity: dec('1.5') }), null)
  assert.equal(refuse({ quantity: dec('1.0'), tif: 'GTC' }), null)
  assert.match(
    refuse({ quantity: null, notional: dec('10'), tif: 'IOC', type: 'MKT', limitPrice: null })?.message ?? '',
    /order_qty notional/
  )
  assert.match(refuse({ limitPrice: dec('150.255') })?.message ?? '', /2 decimal places/)
  assert.equal(refuse({ limitPrice: dec('150.250') }), null)
  assert.equal(refuse({ limitPrice: dec('0.1234') }), null)
  assert.match(refuse({ limitPrice: dec('0.12345') })?.message ?? '', /4 decimal places/)
  assert.match(refuse({ quantity: dec('0.0123456789') })?.message ?? '', /at most 9 decimal places, was 0.0123456789/)
  assert.equal(refuse({ instrument: 'CRYPTO', symbol: 'BTC/USD', limitPrice: dec('0.123456789'), quantity: dec('0.5'), tif: 'GTC' }), null)
  assert.match(
    refuse({ instrument: 'OPT', symbol: 'AAPL261218C00250000', side: 'BUY_TO_OPEN', quantity: dec('0.5') })?.message ?? '',
    /only whole/
  )
  assert.match(refusalOf({ ...SPREAD, legs: (SPREAD.legs ?? []).map(leg => ({ ...leg, side: 'BUY_TO_OPEN' })) })?.message ?? '', /is a BUY/)
})

test('which answers to an order prove what', () => {
  const outcome = (status: number, body: object) => interpretSubmit(answer(status, body), sent(TICKET)).kind
  assert.equal(interpretSubmit(reply('order.pending'), sent(TICKET)).kind, 'accepted')
  for (const name of [
    'error.power',
    'error.subpenny',
    'error.unauthorized',
    'error.unauthorized.bare',
    'error.forbidden',
    'error.scope',
    'error.throttled'
  ])
    assert.equal(interpretSubmit(reply(name), sent(TICKET)).kind, 'refused', name)
  assert.deepEqual(interpretSubmit(reply('error.power'), sent(TICKET)), {
    kind: 'refused',
    message: 'insufficient buying power',
    rejectCode: 'insufficient_funds',
    brokerStatus: '40310000'
  })
  // The order that has our id is ours: it is looked up, never called refused.
  assert.equal(interpretSubmit(reply('error.duplicate'), sent(TICKET)).kind, 'unknown')
  for (const status of [408, 409, 500, 502, 503, 504, 302])
    assert.equal(outcome(status, { code: 1, message: 'no' }), 'unknown', String(status))
  // Words of a failure, with a status of a refusal.
  for (const message of ['timeout', 'internal server error occurred', 'unknown error'])
    assert.equal(outcome(422, { code: 42210000, message }), 'unknown', message)
  for (const body of ['<html>', '{"code":1', '{}', '[]', ''])
    for (const status of [200, 403, 422, 429]) assert.throws(() => interpretSubmit({ status, headers: {}, body }, sent(TICKET)), Malformed)
  const { body } = fixture('order.pending')
  for (const change of [{ client_order_id: 'another' }, { symbol: 'MSFT' }, { status: 'levitating' }])
    assert.throws(() => interpretSubmit(answer(200, { ...body, ...change }), sent(TICKET)), Malformed)
})

test('which answers to a replacement and a cancel prove what', () => {
  const old = fixture('order.pending').body.id
  const request = { brokerAccountId: ACCOUNT, brokerOrderId: old, brokerClOrdId: 'tl0006', ticket: TICKET }
  assert.equal(interpretReplace(reply('order.replacing'), request).kind, 'accepted')
  assert.equal(interpretReplace(reply('error.over'), request).kind, 'refused')
  assert.throws(() => interpretReplace(reply('order.pending'), request), Malformed)
  assert.equal(interpretCancel({ status: 204, headers: {}, body: '' }).kind, 'accepted')
  assert.equal(interpretCancel(reply('error.over')).kind, 'refused')
  assert.equal(interpretCancel(reply('error.order')).kind, 'refused')
  assert.equal(interpretCancel(answer(200, {})).kind, 'unknown')
  assert.equal(isNotFound(reply('error.order')), true)
  assert.equal(isNotFound(answer(404, { code: 40410000, message: 'order is not found.' })), true)
  assert.equal(isNotFound({ status: 404, headers: {}, body: '<html>' }), false)
  for (const message of ['endpoint not found', 'asset not found for KO', 'no Route matched with those values'])
    assert.equal(isNotFound(answer(404, { code: 40410000, message })), false, message)
  assert.equal(parseOrder(fixture('order.pending').body, ACCOUNT).brokerOrderId, old)
})

test('which answers are about the credentials', () => {
  const fixtures = ['error.unauthorized', 'error.unauthorized.bare', 'error.forbidden']
  for (const name of fixtures) assert.equal(isUnauthorized(reply(name)), true, name)
  for (const name of ['error.power', 'error.scope', 'error.order', 'order.pending']) assert.equal(isUnauthorized(reply(name)), false, name)
  assert.equal(isUnauthorized({ status: 403, headers: {}, body: '<html>nginx</html>' }), false)
})

test('lists are requested by page', () => {
  const query = { account: ACCOUNT, status: 'all', isNested: true, after: parseTimestamp('2026-11-03T15:00:00.000000Z', 'after') } as const
  assert.equal(
    ORDERS.request(query, null).path,
    '/v2/orders?status=all&limit=500&direction=asc&nested=true&after=2026-11-03T15%3A00%3A00.000000Z'
  )
  assert.equal(ORDERS.request(query, 'x').path, '/v2/orders?status=all&limit=500&direction=asc&nested=true&after_order_id=x')
  const day = parseDay('2026-11-03', 'day')
  assert.match(ACTIVITIES.request({ account: ACCOUNT, from: day, to: day }, 'a::b').path, /page_size=100&page_token=a%3A%3Ab$/)
  // 167 brackets are more than a page where the limit counts their exits as well.
  const page = (orders: number, legs: number) =>
    Array.from({ length: orders }, (_, index) => ({ id: `o${index}`, legs: legs === 0 ? null : Array.from({ length: legs }, () => ({})) }))
  const next = (orders: number, legs: number) => ORDERS.page(answer(200, page(orders, legs)), null).next
  assert.deepEqual([next(499, 0), next(500, 0), next(166, 2), next(167, 2)], [null, 'o499', null, 'o166'])
})
