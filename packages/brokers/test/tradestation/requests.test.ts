import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { formatSymbol, parseSymbol } from '@trunkline/core/domain/symbol'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import { OrderTracker } from '../../src/kit/runtime/order-tracker.ts'
import { ordersOf } from '../../src/tradestation/account-stream.ts'
import { TRADESTATION_READS } from '../../src/tradestation/definition.ts'
import * as requests from '../../src/tradestation/orders.ts'
import { brokerSymbol, ourSymbol } from '../../src/tradestation/symbols.ts'
import { ACCOUNT, TICKET } from './fixtures.ts'

const ID = 'a1b2c3d4e5f6g7h8i9j0k1'
const ORDER = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: ID }
const decimal = (text: string): Decimal => parseDecimal(text, 'test')
const body = ({ body: text = '' }: { readonly body?: string }) => JSON.parse(text)

test('an order of shares, with the action that what is held makes of it', () => {
  const request = requests.submitRequest(
    {
      ...ORDER,
      side: 'SELL',
      type: 'STPLMT',
      tif: 'GTC+',
      quantity: decimal('10.00'),
      limitPrice: decimal('401.50'),
      stopPrice: decimal('401.00')
    },
    'SELLSHORT'
  )
  assert.deepEqual([request.method, request.path], ['POST', '/orderexecution/orders'])
  assert.deepEqual(body(request), {
    AccountID: ACCOUNT,
    Symbol: 'MSFT',
    Quantity: '10',
    TradeAction: 'SELLSHORT',
    OrderType: 'StopLimit',
    TimeInForce: { Duration: 'GCP' },
    LimitPrice: '401.50',
    StopPrice: '401.00',
    Route: 'Intelligent',
    OrderConfirmID: ID
  })
  assert.equal(ID.length, 22)
})

const SPREAD: OrderTicket = {
  ...TICKET,
  side: 'SELL',
  symbol: null,
  instrument: 'MLEG_OPT',
  quantity: decimal('3'),
  limitPrice: decimal('1.25'),
  legs: [
    { symbol: 'SPY261218P00500000', side: 'SELL_TO_OPEN', ratio: decimal('2'), fills: [] },
    { symbol: 'SPY261218P00490000', side: 'BUY_TO_OPEN', ratio: decimal('1'), fills: [] }
  ]
}

test('a multi-leg order has its net cost: a credit is negative', () => {
  const sent = (ticket: OrderTicket) => body(requests.submitRequest({ ...ORDER, ...ticket }, null))
  assert.deepEqual(sent(SPREAD), {
    AccountID: ACCOUNT,
    Legs: [
      { Symbol: 'SPY 261218P500', Quantity: '6', TradeAction: 'SELLTOOPEN' },
      { Symbol: 'SPY 261218P490', Quantity: '3', TradeAction: 'BUYTOOPEN' }
    ],
    OrderType: 'Limit',
    TimeInForce: { Duration: 'DAY' },
    LimitPrice: '-1.25',
    Route: 'Intelligent',
    OrderConfirmID: ID
  })
  assert.equal(sent({ ...SPREAD, side: 'BUY' }).LimitPrice, '1.25')
  assert.equal(sent({ ...SPREAD, side: 'BUY', limitPrice: decimal('-0.05') }).LimitPrice, '-0.05')
})

test('options themselves state whether they open or close, and an order without a quantity is not written', () => {
  const option = { ...ORDER, symbol: 'MSFT261218C00012500', instrument: 'OPT', side: 'SELL_TO_CLOSE' } as const
  assert.deepEqual(
    [body(requests.submitRequest(option, null)).Symbol, body(requests.submitRequest(option, null)).TradeAction],
    ['MSFT 261218C12.5', 'SELLTOCLOSE']
  )
  assert.throws(() => requests.submitRequest({ ...option, side: 'BUY' }, null), Malformed)
  assert.throws(() => requests.submitRequest({ ...ORDER, quantity: null }, 'BUY'), Malformed)
})

test('a replacement has prices and the total; a market order has none, a multi-leg order no size', () => {
  const key = { brokerAccountId: ACCOUNT, brokerOrderId: '9000-00001', brokerClOrdId: ID }
  const request = requests.replaceRequest({ ...key, ticket: { ...TICKET, quantity: decimal('12'), limitPrice: decimal('401') } })
  assert.deepEqual(
    [request.method, request.path, body(request)],
    ['PUT', '/orderexecution/orders/900000001', { Quantity: '12', LimitPrice: '401' }]
  )
  const market = { ...TICKET, type: 'MKT', limitPrice: null } as const
  assert.deepEqual(body(requests.replaceRequest({ ...key, ticket: market })), { Quantity: '10', OrderType: 'Market' })
  assert.deepEqual(body(requests.replaceRequest({ ...key, ticket: SPREAD })), { LimitPrice: '-1.25' })
  const cancel = requests.TRADESTATION_ORDERS.cancel.request(ACCOUNT, '9-1')
  assert.deepEqual([cancel.method, cancel.path], ['DELETE', '/orderexecution/orders/91'])
})

test('terms are the same however they are written', () => {
  const same = requests.hasTerms(TICKET, { ...TICKET, quantity: decimal('10.0'), limitPrice: decimal('400.00') })
  assert.ok(same)
  for (const other of [
    { quantity: decimal('11') },
    { limitPrice: decimal('399') },
    { limitPrice: null },
    { stopPrice: decimal('1') },
    { type: 'STP' }
  ] as const)
    assert.ok(!requests.hasTerms(TICKET, { ...TICKET, ...other }))
  assert.ok(requests.hasTerms({ ...SPREAD, side: 'BUY', limitPrice: decimal('-1.25') }, SPREAD), 'the same net price')
})

test('reads name accounts, pages and days', () => {
  const now = parseTimestamp('2026-11-21T15:00:00Z', 'now')
  const context = { tracker: new OrderTracker(), clock: { now: () => now } }
  assert.equal(
    ordersOf(context).request({ accounts: 'A1,B 2', since: null }, 'x y').path,
    '/brokerage/accounts/A1,B%202/orders?pageSize=600&nextToken=x+y'
  )
  const paths = TRADESTATION_READS.order.requests({ by: 'brokerOrderId', brokerAccountId: 'A1', brokerOrderId: '9' }, now)
  assert.deepEqual(
    paths.map(({ path }) => path),
    ['/brokerage/accounts/A1/orders/9', '/brokerage/accounts/A1/historicalorders/9?since=2026-08-24']
  )
  assert.equal(requests.POSITIONS.request({ account: 'A1' }, null).path, '/brokerage/accounts/A1/positions')
})

test('symbols go over and come back', () => {
  const pairs = [
    ['MSFT', 'STK', 'MSFT'],
    ['BRK.B', 'STK', 'BRK.B'],
    ['SPX', 'STK', '$SPX.X'],
    ['MSFT261218C00450000', 'OPT', 'MSFT 261218C450'],
    ['F261218P00012500', 'OPT', 'F 261218P12.5'],
    ['SPXW261218C06000000', 'OPT', 'SPXW 261218C6000'],
    ['ESZ26', 'FUT', 'ESZ26'],
    ['6EZ26', 'FUT', 'ECZ26'],
    ['ZCH27', 'FUT', 'CH27'],
    ['6MZ26', 'FUT', 'MP1Z26'],
    ['BTC/USD', 'CRYPTO', 'BTCUSD']
  ] as const
  for (const [ours, instrument, theirs] of pairs) {
    assert.equal(brokerSymbol(ours, instrument), theirs)
    if (instrument !== 'CRYPTO') assert.equal(ourSymbol(theirs, instrument), ours)
  }
  assert.equal(ourSymbol('SPXW 261218C6000', 'OPT'), 'SPXW261218C06000000', 'the other spelling of an index')
  // Its prices are on another scale; and the broker's own roots would mean other contracts.
  for (const symbol of ['6JZ26', 'ECZ26', 'CZ26']) assert.throws(() => brokerSymbol(symbol, 'FUT'), Malformed)
  for (const [text, instrument] of [
    ['JYZ26', 'FUT'],
    ['@ES', 'FUT'],
    ['MSFT', 'OPT'],
    ['MSFT 261318C450', 'OPT'],
    ['', 'STK']
  ] as const)
    assert.throws(() => ourSymbol(text, instrument), Malformed)
})

test('every option goes over and comes back', () => {
  const part = (max: number) => fc.integer({ min: 1, max })
  fc.assert(
    fc.property(
      fc.constantFrom('F', 'SPY', 'BRKB', 'GOOGL', 'AAPL1', 'SPX'),
      part(12),
      part(28),
      fc.constantFrom('C', 'P'),
      part(99_999_999),
      (root, month, day, right, strike) => {
        const date = `26${String(month).padStart(2, '0')}${String(day).padStart(2, '0')}`
        const ours = formatSymbol(parseSymbol(`${root}${date}${right}${String(strike).padStart(8, '0')}`, 'OPT'))
        assert.equal(ourSymbol(brokerSymbol(ours, 'OPT'), 'OPT'), ours)
      }
    )
  )
})

test('no symbol makes a translation throw anything but Malformed', () => {
  const instruments = fc.constantFrom('STK', 'OPT', 'FUT', 'CRYPTO' as const)
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.constantFrom('constructor', '__proto__', '$SPX.X', 'MSFT 261218C')),
      instruments,
      (text, instrument) => {
        for (const translate of [brokerSymbol, ourSymbol])
          try {
            translate(text, instrument as never)
          } catch (error) {
            assert.ok(error instanceof Malformed, String(error))
          }
      }
    )
  )
})
