import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderReport } from '@trunkline/core/ports/broker'
import fc from 'fast-check'
import type { Wire } from '../../src/kit/parse.ts'
import { UnknownValueError } from '../../src/kit/parse.ts'
import { lineOf } from '../../src/tradestation/account-stream.ts'
import { parseAccount, parseBalances, parseOrder, parsePosition, STATUSES } from '../../src/tradestation/codecs.ts'
import { interpretChange, interpretSubmit } from '../../src/tradestation/orders.ts'
import { amount, errorMessageOf, errorsOf, limitsOf, records, resetMs, wholeAnswer } from '../../src/tradestation/quirks.ts'
import { readKnown } from '../support/readable.ts'
import {
  ACCOUNT,
  assertOnlyMalformed,
  CLOSED,
  fixture,
  type Json,
  NOW,
  orderOf,
  reply,
  TICKET,
  unknownValueCounter,
  unread,
  wire
} from './fixtures.ts'

const elsewhere = /^(market|submit|change)\.|^error\.(throttled|token)$/
after(() =>
  assert.deepEqual(
    unread(name => !elsewhere.test(name)),
    [],
    'fixtures that no test reads'
  )
)

const list = (name: string, key: string) => records(wire(name), key)
const ORDER = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'a1b2c3d4e5f6g7h8i9j0k1' }

test('accounts', () => {
  assert.deepEqual(list('accounts', 'Accounts').map(parseAccount), [
    {
      brokerAccountId: ACCOUNT,
      accountNumber: ACCOUNT,
      institutionName: 'TradeStation',
      name: 'Savings',
      accountType: 'Margin',
      currency: 'USD'
    },
    {
      brokerAccountId: '210FUT01',
      accountNumber: '210FUT01',
      institutionName: 'TradeStation',
      name: null,
      accountType: 'Futures',
      currency: 'USD'
    }
  ])
})

test('balances: one of shares, one for each currency of futures', () => {
  const [margin] = list('balances.margin', 'Balances').flatMap(each => parseBalances(each, 'USD', NOW))
  assert.deepEqual(margin, {
    brokerAccountId: ACCOUNT,
    currency: 'USD',
    cash: '25000.00',
    buyingPower: '98000.00',
    initialMargin: '13000.00',
    maintenanceMargin: null,
    regTBuyingPower: '50000.00',
    equity: '51000.00',
    marketValue: '26000.00',
    asOf: NOW
  })
  const futures = list('balances.futures', 'Balances').flatMap(each => parseBalances(each, 'USD', NOW))
  assert.deepEqual(
    futures.map(({ currency, cash, buyingPower, initialMargin, equity, marketValue }) => [
      currency,
      cash,
      buyingPower,
      initialMargin,
      equity,
      marketValue
    ]),
    [
      ['USD', '50000.00', '37467.50', '14532.50', '52310.00', null],
      ['EUR', '1840.00', null, '0', null, null]
    ]
  )
})

test('positions: what is short is negative, and what has unknown enum values is left out and counted', () => {
  const { unknownValues, meter, log } = unknownValueCounter()
  const positions = readKnown(unknownValues, list('positions', 'Positions'), parsePosition, null).known
  assert.deepEqual(
    positions.map(({ symbol, instrument, quantity, dailyPl, brokerPositionId }) => [
      symbol,
      instrument,
      quantity,
      dailyPl,
      brokerPositionId
    ]),
    [
      ['BRK.B', 'STK', '10', '-0.5', '64630792'],
      ['F', 'STK', '-7', '-7', '64630793'],
      ['MSFT261218C00452500', 'OPT', '-2', '10', '64630794'],
      ['SPXW261218C06000000', 'OPT', '1', null, '64630795'],
      ['6EZ26', 'FUT', '1', null, '64630796']
    ]
  )
  const [first] = positions
  assert.deepEqual(
    [first?.lastPrice, first?.averagePrice, first?.unrealizedPl, first?.realizedPl, first?.totalPl],
    ['216.63', '216.68', '-0.50', null, null]
  )
  const counted = (field: string) => meter.counted('broker_unknown_values_total', { broker: 'TRADESTATION', field })
  assert.deepEqual([counted('Symbol'), counted('AssetType')], [1, 1])
  assert.equal(log.lines.filter(({ level }) => level === 'error').length, 2)
})

test('an order, every field', () => {
  const [order] = list('orders', 'Orders')
  assert.ok(order !== undefined)
  const expected: OrderReport = {
    ...TICKET,
    tif: 'GTC+',
    brokerAccountId: ACCOUNT,
    brokerOrderId: '900000001',
    brokerClOrdId: null,
    status: 'working',
    brokerStatus: 'ACK',
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: 'Limit',
    execDest: 'Intelligent',
    fills: null,
    filledTotal: { quantity: TICKET.quantity ?? assert.fail(), averagePrice: null },
    entryTime: NOW,
    updatedAt: NOW,
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  }
  const { report, isClosed, isUnresolved } = parseOrder(order, NOW)
  assert.deepEqual(report, {
    ...expected,
    filledTotal: { quantity: '0', averagePrice: null },
    entryTime: '2026-11-20T15:00:00.000000Z'
  })
  assert.deepEqual([isClosed, isUnresolved], [false, false])
})

test('what else an order can be, and one of an unknown status is left out', () => {
  const { unknownValues, meter } = unknownValueCounter()
  const orders = readKnown(unknownValues, list('orders', 'Orders'), each => parseOrder(each, NOW).report, null).known
  assert.deepEqual(
    orders.map(({ status, type, side, filledTotal, brokerMessage }) => [
      status,
      type,
      side,
      filledTotal?.quantity,
      filledTotal?.averagePrice,
      brokerMessage
    ]),
    [
      ['working', 'LMT', 'BUY', '0', null, null],
      ['partially_filled', 'STPLMT', 'BUY', '4', '400.25', null],
      ['filled', 'MKT', 'SELL', '10', '399.9', null],
      ['rejected', 'MKT', 'BUY', '0', null, 'Order failed. Reason: You are long 5 shares'],
      ['expired', 'LMT', 'BUY', '0', null, null],
      ['cancelled', 'LMT', 'BUY', '3', '390', null]
    ]
  )
  assert.deepEqual(
    orders.map(({ limitPrice, stopPrice }) => [limitPrice, stopPrice]),
    [
      ['400', null],
      ['401.50', '401.00'],
      [null, null],
      [null, null],
      ['390', null],
      ['390', null]
    ]
  )
  assert.equal(orders[2]?.updatedAt, '2026-11-20T15:00:03.000000Z')
  assert.equal(meter.counted('broker_unknown_values_total', { broker: 'TRADESTATION', field: 'Status' }), 1)
})

test('a multi-leg order: its size is what the legs have in common, a credit is sold, and a leg is reported when it is whole', () => {
  const partly = parseOrder(wire('order.multi-leg'), NOW).report
  assert.deepEqual(
    [partly.instrument, partly.symbol, partly.side, partly.quantity, partly.limitPrice, partly.status],
    ['MLEG_OPT', null, 'SELL', '3', '7.35', 'partially_filled']
  )
  assert.deepEqual(partly.filledTotal, { quantity: '1', averagePrice: '7.35' })
  assert.deepEqual(partly.legs, [
    { symbol: 'SPY261218P00500000', side: 'SELL_TO_OPEN', ratio: '2', fills: [] },
    { symbol: 'SPY261218P00490000', side: 'BUY_TO_OPEN', ratio: '1', fills: [] }
  ])
  const filled = parseOrder(wire('order.multi-leg.filled'), NOW).report
  assert.deepEqual([filled.status, filled.filledTotal?.quantity], ['filled', '3'])
  assert.deepEqual(
    filled.legs?.flatMap(({ fills }) => fills),
    [
      {
        fillId: '900000010:SPY261218P00500000:6',
        at: '2026-11-20T15:10:00.000000Z',
        quantity: '6',
        price: '6.10',
        execDest: null
      },
      {
        fillId: '900000010:SPY261218P00490000:3',
        at: '2026-11-20T15:10:00.000000Z',
        quantity: '3',
        price: '4.85',
        execDest: null
      }
    ]
  )
})

const parsed = (status: string, more: Json = {}) => parseOrder(orderOf('1', status, more), NOW)
const of = (status: string, executed: string, closed: Json = {}) => parsed(status, { ...closed, leg: { ExecQuantity: executed } })

test('every status code has one meaning, by how much is done and whether it is closed', () => {
  const seen = (status: string, executed: string, closed: Json = {}) => {
    const { report, isUnresolved } = of(status, executed, closed)
    return `${report.status}${report.releases === true ? ' releases' : ''}${isUnresolved ? ' unresolved' : ''}`
  }
  const table: Record<string, readonly [none: string, part: string, closed: string]> = {
    before: ['pending', 'partially_filled', 'pending'],
    live: ['working', 'partially_filled', 'working'],
    filled: ['working unresolved', 'partially_filled unresolved', 'working unresolved'],
    cancelled: ['cancelled', 'cancelled', 'cancelled'],
    out: ['pending_cancel unresolved', 'pending_cancel unresolved', 'cancelled'],
    expired: ['expired', 'expired', 'expired'],
    rejected: ['rejected', 'rejected', 'rejected'],
    pending_cancel: ['pending_cancel', 'pending_cancel', 'pending_cancel'],
    pending_replace: ['pending_replace', 'pending_replace', 'pending_replace'],
    replaced: ['working unresolved', 'partially_filled unresolved', 'replaced unresolved'],
    refused_request: ['working releases', 'partially_filled releases', 'cancelled unresolved'],
    other: ['working unresolved', 'partially_filled unresolved', 'cancelled unresolved']
  }
  for (const [code, meaning] of Object.entries(STATUSES))
    assert.deepEqual([seen(code, '0'), seen(code, '4'), seen(code, '0', CLOSED)], table[meaning], code)
  // What the broker has and has not routed yet can be cancelled and changed; what is on its way to it cannot.
  assert.deepEqual(
    ['DON', 'CND', 'OSO', 'SUS', 'CHG'].map(code => seen(code, '0')),
    Array(5).fill('working')
  )
  assert.deepEqual(
    ['OPN', 'PLA', 'DIS', 'STT'].map(code => seen(code, '0')),
    Array(4).fill('pending')
  )
  // What is executed counts, whatever the code is.
  assert.deepEqual([seen('ACK', '10'), seen('DON', '10'), seen('OPN', '10'), seen('FLL', '10', CLOSED)], Array(4).fill('filled'))
  // What the broker says has ended unfilled never becomes filled.
  assert.deepEqual([seen('OUT', '10', CLOSED), seen('EXP', '10', CLOSED), seen('REJ', '10', CLOSED)], ['cancelled', 'expired', 'rejected'])
  assert.throws(() => of('ZZZ', '0'), UnknownValueError)
})

test('only the status says whether an order has ended: a stop that was hit and a queued leg carry a closing time', () => {
  for (const code of ['STP', 'DON', 'ACK', 'OPN']) {
    const { report, isClosed } = of(code, '0', CLOSED)
    assert.deepEqual([isClosed, report.updatedAt], [false, NOW], code)
  }
  assert.equal(of('FLL', '10', CLOSED).isClosed, true)
})

test('what has no price was not executed, once an order has ended unfilled', () => {
  const ended = (status: string, more: Json, executionPrice?: string) => {
    const leg = { ExecQuantity: '10', ExecutionPrice: executionPrice }
    return parsed(status, { ...CLOSED, FilledPrice: '0', ...more, leg }).report
  }
  for (const code of ['EXP', 'OUT', 'REJ', 'CAN'])
    assert.deepEqual(ended(code, {}).filledTotal, { quantity: '0', averagePrice: null }, code)
  const paid = { quantity: '10', averagePrice: '400' }
  assert.deepEqual(ended('EXP', { FilledPrice: '400' }).filledTotal, paid)
  assert.deepEqual(ended('EXP', {}, '400').filledTotal, paid)
})

test('the spelling of sides and times in force varies', () => {
  const side = (BuyOrSell: string, OpenOrClose?: string) =>
    parsed('ACK', { leg: { AssetType: 'STOCKOPTION', Symbol: 'MSFT 261218C450', BuyOrSell, OpenOrClose } }).report.side
  assert.deepEqual(
    [side('BUY', 'OPEN'), side('Sell', 'Close'), side('BuyToCover', 'Close'), side('SellShort', 'Open'), side('SELLTOCLOSE', 'Close')],
    ['BUY_TO_OPEN', 'SELL_TO_CLOSE', 'BUY_TO_CLOSE', 'SELL_TO_OPEN', 'SELL_TO_CLOSE']
  )
  assert.throws(() => side('Buy'), Malformed)
  const tif = (Duration: string) => parsed('ACK', { Duration }).report.tif
  assert.deepEqual(
    ['DAY', 'DYP', 'DAY+', 'GTC', 'GCP', 'GTC+', 'OPG', 'CLO', 'IOC', 'FOK', 'GTD', 'GTD+', '3 Min', '1 min', 'gtc+'].map(tif),
    ['DAY', 'DAY+', 'DAY+', 'GTC', 'GTC+', 'GTC+', 'OPEN', 'CLOSE', 'IOC', 'FOK', 'GTC', 'GTC+', 'DAY', 'DAY', 'GTC+']
  )
})

test('partial lists are faults, and errors are classified', () => {
  assert.throws(() => wholeAnswer(reply('error.account')), { name: 'BrokerFault', kind: 'refused' })
  const passing = '{"Errors":[{"Error":"GatewayTimeout","Message":"later"}]}'
  assert.throws(() => wholeAnswer({ body: passing }), { name: 'BrokerFault', kind: 'unreachable' })
  wholeAnswer(reply('balances.margin'))
  assert.deepEqual(errorsOf(wire('order.missing')), [{ code: 'NotFound', message: 'Order not found' }])
  assert.equal(errorMessageOf(reply('error.down')), 'The service is unavailable')
  assert.equal(errorMessageOf({ body: '<html>' }), '')
  assert.equal(amount({ a: '' }, 'a'), null)
  assert.throws(() => amount({ a: '1,000' }, 'a'), Malformed)
})

test('what is left of a quota, and the pause that a 429 asks for, are the broker’s own headers', () => {
  const of = (headers: Record<string, string>) => ({ headers })
  const limits = limitsOf(of({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '120' }))
  assert.deepEqual([limits?.remaining, limits?.resetInMs], [0, 120_000])
  assert.equal(limitsOf(of({})), null)
  assert.deepEqual(
    [{ 'x-ratelimit-reset': '60' }, { 'retry-after': '7' }, {}].map(each => resetMs(of(each))),
    [60_000, 7_000, null]
  )
})

test('lines that are no records', () => {
  const lines: readonly Wire[] = fixture('stream.status').body
  assert.deepEqual(
    lines.map(line => {
      const found = lineOf(line)
      return found.type === 'over' ? `over ${found.error?.code ?? null} ${found.reason}` : found.type
    }),
    [
      'end_snapshot',
      'heartbeat',
      'over null the broker is about to close the stream',
      'over Forbidden the broker ended the stream: Account is not authorized',
      'over InternalServerError the broker ended the stream: Something went wrong',
      'record'
    ]
  )
  assert.throws(() => lineOf({ StreamStatus: 'Dancing' }), Malformed)
})

const READERS: readonly ((value: Wire) => unknown)[] = [
  parseAccount,
  value => parseBalances(value, 'USD', NOW),
  parsePosition,
  value => parseOrder(value, NOW),
  lineOf,
  errorsOf,
  value => records(value, 'Orders'),
  value => interpretSubmit({ status: 200, headers: {}, body: JSON.stringify(value) }, ORDER, NOW),
  value => interpretChange({ status: 400, headers: {}, body: JSON.stringify(value) }, '1', 'cancel')
]

test('no input makes a reader throw anything but Malformed', () => assertOnlyMalformed(READERS, name => !name.startsWith('market.')))

test('quantities and prices are read to the letter', () => {
  const price = fc
    .tuple(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: 0, max: 9_999 }))
    .map(([whole, part]) => `${whole}.${String(part).padStart(4, '0')}`)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      price,
      price,
      (ordered, share, limit, paid) => {
        const executed = Math.floor(ordered * share)
        const own = { QuantityOrdered: String(ordered), ExecQuantity: String(executed), ExecutionPrice: paid }
        const { report } = parsed('ACK', { LimitPrice: limit, leg: own })
        assert.deepEqual([report.quantity, report.limitPrice, report.filledTotal?.quantity], [String(ordered), limit, String(executed)])
        assert.equal(report.filledTotal?.averagePrice, executed === 0 ? null : paid)
        assert.equal(report.status, executed === 0 ? 'working' : executed === ordered ? 'filled' : 'partially_filled')
      }
    )
  )
})
