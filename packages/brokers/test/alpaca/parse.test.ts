import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import {
  parseAccount,
  parseBalance,
  parseExecution,
  parseOrder,
  parseOrders,
  parsePosition,
  parseTransaction
} from '../../src/alpaca/codecs.ts'
import { readList, readRecord } from '../../src/alpaca/quirks.ts'
import { instrumentOf, pairOf } from '../../src/alpaca/symbols.ts'
import { object, UnknownValueError, type Wire } from '../../src/kit/parse.ts'
import { ACCOUNT, bodyText, fixture, fixtureNames, unknownValueCounter, unread, wire } from './fixtures.ts'

const isOurs = (name: string) => /^(account|activities|order|positions)/.test(name) && name !== 'orders'
after(() => assert.deepEqual(unread(isOurs), [], 'fixtures that no test reads'))

const AT = parseTimestamp('2026-11-03T15:10:00Z', 'at')
const order = (name: string) => parseOrder(wire(`order.${name}`), ACCOUNT)

test('an account and its balance', () => {
  assert.deepEqual(parseAccount(wire('account')), {
    brokerAccountId: ACCOUNT,
    accountNumber: 'PA3ALPACA01',
    institutionName: 'Alpaca',
    name: null,
    accountType: 'margin',
    currency: 'USD'
  })
  assert.deepEqual(parseBalance(wire('account'), AT), {
    brokerAccountId: ACCOUNT,
    currency: 'USD',
    cash: '51200.4',
    buyingPower: '102400.8',
    initialMargin: '6400.25',
    maintenanceMargin: '3840.15',
    regTBuyingPower: '102400.8',
    equity: '64000.9',
    marketValue: '12800.5',
    asOf: AT
  })
})

test('positions: crypto pairs get their slash back, and the side gives the sign whether the number has it or not', () => {
  const known = unknownValueCounter()
  const read = (each: Wire) => parsePosition(each, ACCOUNT, known.unknownValues)
  const [share, crypto, option] = readList({ body: bodyText('positions') }).map(read)
  assert.deepEqual(share, {
    brokerAccountId: ACCOUNT,
    symbol: 'KO',
    instrument: 'STK',
    quantity: '3.25',
    lastPrice: '81',
    averagePrice: '80.1',
    unrealizedPl: '2.925',
    realizedPl: null,
    dailyPl: '1.625',
    totalPl: null,
    brokerPositionId: '5a5a0001-0000-4000-8000-000000000001'
  })
  assert.deepEqual([crypto?.symbol, crypto?.instrument], ['BTC/USD', 'CRYPTO'])
  assert.deepEqual([option?.symbol, option?.instrument, option?.quantity], ['AAPL261218C00250000', 'OPT', '-2'])
  const short = fixture('positions').body[2]
  assert.equal(read({ ...short, qty: '2' }).quantity, '-2')
  assert.equal(read({ ...short, qty: '-2', side: 'long' }).quantity, '2')
  assert.equal(read({ ...short, asset_class: 'us_treasury' }).instrument, 'OPT')
  assert.equal(known.meter.counted('broker_unknown_values_total', { broker: 'ALPACA', field: 'asset_class' }), 1)
})

test('pairs without their slash', () => {
  assert.deepEqual(['BTCUSD', 'BTCUSDT', 'USDTUSD', 'ETHBTC', 'BTC/USD', 'DOGEXYZ'].map(pairOf), [
    'BTC/USD',
    'BTC/USDT',
    'USDT/USD',
    'ETH/BTC',
    'BTC/USD',
    'DOGEXYZ'
  ])
  assert.deepEqual(['AAPL', 'BRK.B', 'SPY261218C00600000', 'BTC/USD', 'BTCUSD', 'BUSD'].map(instrumentOf), [
    'STK',
    'STK',
    'OPT',
    'CRYPTO',
    'CRYPTO',
    'STK'
  ])
})

test('a filled order, every field', () => {
  assert.deepEqual(order('filled'), {
    brokerAccountId: ACCOUNT,
    brokerOrderId: 'd3b0c4a1-0000-4000-8000-000000000001',
    brokerClOrdId: 'tl0001',
    symbol: 'AAPL',
    instrument: 'STK',
    side: 'BUY',
    legs: null,
    type: 'LMT',
    tif: 'DAY',
    quantity: '2',
    notional: null,
    limitPrice: '150.25',
    stopPrice: null,
    status: 'filled',
    brokerStatus: 'filled',
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: 'limit',
    execDest: null,
    fills: null,
    filledTotal: { quantity: '2', averagePrice: '150.2' },
    entryTime: '2026-11-03T15:10:17.570000Z',
    updatedAt: '2026-11-03T20:10:19.061200Z',
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  })
})

test('what else an order can be', () => {
  const notional = order('notional')
  assert.deepEqual(
    [notional.symbol, notional.instrument, notional.quantity, notional.notional, notional.tif],
    ['BTC/USD', 'CRYPTO', null, '25', 'GTC']
  )
  assert.equal(order('extended').tif, 'DAY+')
  const option = order('option')
  assert.deepEqual([option.instrument, option.side], ['OPT', 'SELL_TO_OPEN'])
  const unsaid = (side: string) => parseOrder({ ...wire('order.option'), side, position_intent: null }, ACCOUNT).side
  assert.deepEqual([unsaid('buy'), unsaid('sell')], ['BUY_TO_OPEN', 'SELL_TO_CLOSE'])
  const trailing = order('trailing')
  assert.deepEqual([trailing.type, trailing.brokerOrderType, trailing.stopPrice], ['STP', 'trailing_stop', '148.5'])
  assert.deepEqual([order('rejected').brokerMessage, order('rejected').rejectCode], [null, null])
  assert.equal(order('replacing').replacesBrokerOrderId, order('pending').brokerOrderId)
  const calculated = { ...wire('order.filled'), status: 'calculated' }
  assert.equal(parseOrder(calculated, ACCOUNT).status, 'filled')
  assert.equal(parseOrder({ ...calculated, filled_qty: '1' }, ACCOUNT).status, 'working')
  assert.throws(() => parseOrder({ ...calculated, status: 'levitating' }, ACCOUNT), UnknownValueError)
  assert.throws(() => parseOrder({ ...calculated, qty: null }, ACCOUNT), Malformed)
})

test('a multi-leg order is named after its first leg, and its price has the matching sign; legs report their fills when it is over', () => {
  const open = order('multi-leg')
  assert.deepEqual([open.symbol, open.instrument, open.side, open.limitPrice], [null, 'MLEG_OPT', 'SELL', '0.85'])
  assert.deepEqual(
    open.legs?.map(({ symbol, side, ratio, fills }) => [symbol, side, ratio, fills.length]),
    [
      ['AAPL261218C00250000', 'SELL_TO_OPEN', '1', 0],
      ['AAPL261218C00260000', 'BUY_TO_OPEN', '1', 0]
    ]
  )
  const filled = order('multi-leg.filled')
  assert.deepEqual(filled.filledTotal, { quantity: '1', averagePrice: '0.87' })
  assert.deepEqual(filled.legs?.[0]?.fills, [
    {
      fillId: '31e60000-0000-4000-8000-000000000001:AAPL261218C00250000:1',
      at: '2026-11-03T15:11:00.000000Z',
      quantity: '1',
      price: '3.12',
      execDest: null
    }
  ])
})

test('the legs of a multi-leg order that can still fill report nothing: their totals would be added up', () => {
  const partly = { ...wire('order.multi-leg.filled'), status: 'partially_filled', qty: '2' }
  assert.deepEqual(
    parseOrder(partly, ACCOUNT).legs?.map(({ fills }) => fills),
    [[], []]
  )
})

test('the legs of a bracket are separate orders', () => {
  const orders = parseOrders(wire('order.bracket'), ACCOUNT)
  assert.deepEqual(
    orders.map(({ side, type, status, legs }) => [side, type, status, legs]),
    [
      ['BUY', 'LMT', 'filled', null],
      ['SELL', 'LMT', 'working', null],
      // It waits for the entry or for the other exit, and is not at the exchange.
      ['SELL', 'STP', 'pending', null]
    ]
  )
})

test('an order that waits for its auction is at work: it can be cancelled and modified', () => {
  const [first] = parseOrders({ ...wire('order.bracket'), status: 'accepted', time_in_force: 'opg' }, ACCOUNT)
  assert.deepEqual([first?.status, first?.tif], ['working', 'OPEN'])
})

test('what an adjusted contract delivers is not stated, so its trade has no amount', () => {
  const activity = fixture('activities').body[2]
  const amountOf = (symbol: string) => parseTransaction({ ...activity, symbol }, unknownValueCounter().unknownValues).amount
  assert.deepEqual([amountOf('AAPL261218C00200000'), amountOf('AAPL1261218C00200000')], ['-310', null])
})

test('activities: trades with what they came to, and everything else by its kind', () => {
  const known = unknownValueCounter()
  const items = readList({ body: bodyText('activities') }).map(each => parseTransaction(each, known.unknownValues))
  assert.deepEqual(items[0], {
    brokerAccountId: null,
    brokerTransactionId: '20261103101019061::0f0f0f0f-0000-4000-8000-000000000001',
    type: 'BUY',
    brokerType: 'FILL',
    symbol: 'KO',
    instrument: 'STK',
    quantity: '1',
    price: '81.05',
    amount: '-81.05',
    fees: null,
    currency: 'USD',
    day: '2026-11-03',
    settlementDay: null,
    brokerOrderId: 'd3b0c4a1-0000-4000-8000-000000000001',
    description: null
  })
  assert.deepEqual(
    items.map(({ type, instrument, amount, day }) => [type, instrument, amount, day]),
    [
      ['BUY', 'STK', '-81.05', '2026-11-03'],
      ['SELL', 'STK', '300.4', '2026-11-03'],
      ['BUY', 'OPT', '-310', '2026-11-03'],
      ['DIVIDEND', 'STK', '-1.2', '2026-11-03'],
      ['DEPOSIT', null, '1000', '2026-11-02'],
      ['EXPIRATION', 'OPT', '0', '2026-11-02']
    ]
  )
  assert.equal(parseTransaction({ ...fixture('activities').body[4], activity_type: 'NEWONE' }, known.unknownValues).type, 'OTHER')
  assert.equal(known.meter.counted('broker_unknown_values_total', { broker: 'ALPACA', field: 'activity_type' }), 1)
})

test('the shares of an exercise are bought or sold, and their row has an id of its own', () => {
  const known = unknownValueCounter()
  const row = { id: 'a::b', date: '2023-07-21', symbol: 'AAPL', qty: '200', net_amount: '-30000', activity_type: 'OPTRD' }
  const [exercise, bought, sold] = [{ ...row, activity_type: 'OPEXC' }, row, { ...row, qty: '-200' }].map(wire =>
    parseTransaction(wire, known.unknownValues)
  )
  assert.deepEqual([exercise?.type, bought?.type, sold?.type], ['EXERCISE', 'BUY', 'SELL'])
  assert.deepEqual([exercise?.brokerTransactionId, bought?.brokerTransactionId], ['a::b', 'a::b:OPTRD'])
})

/** Any record of the fixtures with some fields replaced by anything. */
const records = fixtureNames()
  .filter(isOurs)
  .flatMap(name => [fixture(name).body].flat())
const damaged = fc
  .tuple(
    fc.constantFrom(...records),
    fc.dictionary(fc.constantFrom(...new Set(records.flatMap(Object.keys))), fc.jsonValue(), { maxKeys: 4 })
  )
  .map(([record, changes]) => object({ ...record, ...changes }, 'record'))

test('no record makes a parser throw anything but Malformed', () => {
  const known = unknownValueCounter()
  const parsers: readonly ((each: Wire) => unknown)[] = [
    parseAccount,
    each => parseBalance(each, AT),
    each => parsePosition(each, ACCOUNT, known.unknownValues),
    each => parseOrders(each, ACCOUNT),
    each => parseTransaction(each, known.unknownValues),
    parseExecution
  ]
  fc.assert(
    fc.property(damaged, record => {
      for (const parse of parsers)
        try {
          parse(record)
        } catch (error) {
          assert.ok(error instanceof Malformed, String(error))
        }
    }),
    { numRuns: 2_000 }
  )
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), text => {
      for (const read of [readRecord, readList])
        try {
          read({ body: text })
        } catch (error) {
          assert.ok(error instanceof Malformed, String(error))
        }
    })
  )
})
