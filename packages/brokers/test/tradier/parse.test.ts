import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { OrderReport } from '@trunkline/core/ports/broker'
import fc from 'fast-check'
import type { HttpReply } from '../../src/kit/http.ts'
import { readObject } from '../../src/kit/json.ts'
import { UnknownValueError } from '../../src/kit/parse.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { merged, sessionOf } from '../../src/tradier/account-stream.ts'
import {
  holdingsOf,
  lacksFillTotals,
  parseAccount,
  parseBalances,
  parseEvent,
  parseOrder,
  parseOrderAnswer,
  parseOrders,
  parsePrice,
  parseProfile,
  positionOf,
  transactionsOf
} from '../../src/tradier/codecs.ts'
import { interpretCommand, interpretPlace, isUnknownOrder } from '../../src/tradier/orders.ts'
import { amount, complaintOf, errorMessageOf, isTokenRefused, items, requestedAnswer } from '../../src/tradier/quirks.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { readKnown, strictly } from '../support/readable.ts'
import { answer, reply, TICKET, unreadFixtures } from './fixtures.ts'

const ACCOUNT = '6YA00001'
const ORDER = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'osk01H' }
const NOW = parseTimestamp('2026-11-20T16:00:00Z', 'now')

after(() => assert.deepEqual(unreadFixtures('account'), [], 'fixtures that no test reads'))

function unknownValueCounter() {
  const meter = new MemoryMeter()
  return { unknownValues: new UnknownValueCounter({ broker: 'TRADIER', log: new MemoryLog(), meter }), meter }
}

function holdings(positions: Parameters<typeof items>[0]) {
  return holdingsOf(items(positions, 'positions', 'position'), strictly).known
}

function orders(name: string, { unknownValues } = unknownValueCounter()): readonly OrderReport[] {
  return readKnown(unknownValues, parseOrders(answer(name)), wire => parseOrder(wire, ACCOUNT), null).known
}

test('numbers stay as they were written, except for exponents and the sign of nothing', () => {
  const read = (text: string) => amount(readObject(`{"n":${text}}`), 'n')
  for (const text of ['25310.500000000000000000000000', '8.00000000', '0', '-1.5']) assert.equal(read(text), text)
  for (const [text, meant] of [
    ['-0.0', '0.0'],
    ['1.0E-5', '0.000010'],
    ['-2.5E+3', '-2500'],
    ['1e0', '1'],
    ['0E10', '0']
  ] as const)
    assert.equal(read(text), meant)
  assert.throws(() => read('1e999'), Malformed)
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e20, max: 1e20 }), value => {
      const wire = readObject(JSON.stringify({ n: value }))
      try {
        assert.equal(Number(amount(wire, 'n')), value === 0 ? 0 : value)
      } catch (error) {
        assert.ok(error instanceof Malformed)
      }
    })
  )
})

test('a login has one account or several, without the closed ones', () => {
  const ira = { institutionName: 'Tradier', name: 'traditional ira', accountType: 'margin', currency: 'USD' }
  const accounts = parseProfile(answer('profile.one')).map(parseAccount)
  assert.deepEqual(accounts, [{ brokerAccountId: ACCOUNT, accountNumber: ACCOUNT, ...ira }])
  assert.deepEqual(
    parseProfile(answer('profile.three'))
      .map(parseAccount)
      .map(({ accountNumber, name }) => [accountNumber, name]),
    [
      ['6YA00001', 'individual'],
      ['6YA00002', null]
    ]
  )
})

test('balances of each type of account', () => {
  assert.deepEqual(parseBalances(answer('balances.margin'), ACCOUNT, NOW), {
    ...{ brokerAccountId: ACCOUNT, currency: 'USD', cash: '10000.0', buyingPower: '20000.0', regTBuyingPower: '20000.0' },
    ...{ initialMargin: null, maintenanceMargin: '6100.0', equity: '25310.500000000000000000000000', marketValue: '15310.5', asOf: NOW }
  })
  const cash = parseBalances(answer('balances.cash'), '6YA00002', NOW)
  assert.equal(cash.brokerAccountId, '6YA00002')
  // Whose they are is for the core to compare.
  assert.equal(parseBalances(answer('balances.cash'), ACCOUNT, NOW).brokerAccountId, '6YA00002')
  assert.equal(parseBalances({ balances: { total_cash: '1' } }, ACCOUNT, NOW).brokerAccountId, ACCOUNT)
  assert.deepEqual([cash.cash, cash.buyingPower, cash.regTBuyingPower], ['500.00', '420.55', null])
  const pdt = parseBalances(answer('balances.pdt'), ACCOUNT, NOW)
  assert.deepEqual([pdt.buyingPower, pdt.regTBuyingPower], ['120000', '60000'])
})

test('rows of one symbol are added up with their costs; long and short ones, or the same one twice, cannot be read', () => {
  const row = (id: number, quantity: string, cost: string) => ({ id: String(id), symbol: 'SPY', quantity, cost_basis: cost })
  const held = (...position: readonly object[]) => holdings(JSON.parse(JSON.stringify({ positions: { position } })))
  assert.deepEqual(held(row(1, '0.1', '41.5'), row(2, '0.2', '82.25'), { ...row(3, '-1', '-9'), symbol: 'F' }), [
    { symbol: 'SPY', quantity: '0.3', costBasis: '123.75', id: null },
    { symbol: 'F', quantity: '-1', costBasis: '-9', id: '3' }
  ])
  assert.throws(() => held(row(1, '1', '400'), row(2, '-1', '-400')), Malformed)
  assert.throws(() => held(row(1, '1', '400'), row(1, '1', '400')), Malformed)
})

test('positions are valued by the quotes', () => {
  assert.deepEqual(holdings(answer('positions.none')), [])
  const [one] = holdings(answer('positions.one'))
  assert.deepEqual([one?.symbol, one?.quantity, one?.id], ['AAPL', '8.00000000', '700123'])
  const prices = new Map(items(answer('quotes.several'), 'quotes', 'quote').map(parsePrice))
  const [short, option, long] = holdings(answer('positions.several')).map(held =>
    positionOf(held, ACCOUNT, prices.get(held.symbol) ?? null)
  )
  assert.deepEqual(long, {
    ...{ brokerAccountId: ACCOUNT, brokerPositionId: '700123', symbol: 'AAPL', instrument: 'STK' },
    ...{ quantity: '8.00000000', lastPrice: '242.10', averagePrice: '239.05', unrealizedPl: '24.4' },
    // What was realized of it is not reported.
    ...{ realizedPl: null, dailyPl: null, totalPl: null }
  })
  // Sold short at 490, bought back for 480.
  assert.deepEqual([short?.symbol, short?.averagePrice, short?.unrealizedPl, short?.dailyPl], ['BRK.B', '490', '10', null])
  // No trade yet: half way between bid and ask, a hundred shares a contract.
  assert.deepEqual([option?.instrument, option?.lastPrice, option?.averagePrice, option?.unrealizedPl], ['OPT', '3.2', '3', '40'])
  assert.deepEqual(positionOf(holdings(answer('positions.one'))[0] ?? assert.fail(), ACCOUNT, null).lastPrice, null)
})

test('an order, every field', () => {
  assert.deepEqual(orders('orders.none'), [])
  assert.deepEqual(orders('orders.one'), [
    {
      ...{ brokerAccountId: ACCOUNT, brokerOrderId: '900500', brokerClOrdId: 'osk01H', symbol: 'AAPL', instrument: 'STK', side: 'BUY' },
      ...{ type: 'LMT', brokerOrderType: 'limit', tif: 'DAY', quantity: '40.00000000', notional: null, limitPrice: '220.0' },
      ...{ stopPrice: null, legs: null, execDest: null, replacesBrokerOrderId: null, replacedByBrokerOrderId: null },
      ...{ status: 'partially_filled', brokerStatus: 'partially_filled', brokerMessage: null, rejectCode: null, fills: null },
      filledTotal: { quantity: '12.00000000', averagePrice: '219.98000000' },
      ...{ entryTime: '2026-11-03T14:31:05.120000Z', updatedAt: '2026-11-03T14:31:05.310000Z' }
    }
  ])
})

test('orders of every class; one of an unknown type is left out and counted', () => {
  const counter = unknownValueCounter()
  const list = orders('orders.mixed', counter)
  assert.deepEqual(
    list.map(one => [one.brokerOrderId, one.instrument, one.symbol, one.side, one.type, one.tif, one.status, one.limitPrice]),
    [
      ['900510', 'MLEG_OPT', null, 'BUY', 'LMT', 'DAY', 'filled', '1.2'],
      ['900520', 'OPT', 'SPY261218P00500000', 'SELL_TO_CLOSE', 'STPLMT', 'GTC', 'cancelled', '0.9'],
      ['900530', 'STK', 'BRK.B', 'SELL', 'MKT', 'DAY', 'rejected', null],
      ['900540', 'STK', 'F', 'BUY', 'LMT', 'DAY+', 'working', '12.0'],
      ['900551', 'STK', 'KO', 'SELL', 'LMT', 'GTC', 'working', '75.0'],
      ['900552', 'STK', 'KO', 'SELL', 'STP', 'GTC', 'working', null],
      ['900560', 'MLEG_OPT', null, 'BUY', 'LMT', 'DAY', 'pending', '0']
    ]
  )
  assert.equal(counter.meter.counted('broker_unknown_values_total', { broker: 'TRADIER', field: 'type' }), 1)
  const [spread, , short, unfilled, limit, , combo] = list
  assert.ok(spread !== undefined && short !== undefined && unfilled !== undefined && limit !== undefined && combo !== undefined)
  assert.deepEqual([spread.quantity, spread.filledTotal], ['2', { quantity: '2', averagePrice: '1.18' }])
  assert.deepEqual(
    spread.legs?.map(({ symbol, side, ratio, fills }) => [
      symbol,
      side,
      ratio,
      fills.map(fill => [fill.fillId, fill.quantity, fill.price])
    ]),
    [
      ['SPY261218C00600000', 'BUY_TO_OPEN', '1', [['900510:SPY261218C00600000:2.0', '2.0', '3.10']]],
      ['SPY261218C00610000', 'SELL_TO_OPEN', '2', [['900510:SPY261218C00610000:4.0', '4.0', '0.96']]]
    ]
  )
  assert.equal(short.brokerMessage, 'ShortTradingDeniedForSecurity')
  // Reported filled before the quantities show it: not published yet, and to be read again.
  assert.deepEqual(
    [unfilled.brokerStatus, unfilled.filledTotal, lacksFillTotals(unfilled)],
    ['filled', { quantity: '0', averagePrice: null }, true]
  )
  assert.equal(unfilled.brokerClOrdId, null)
  assert.equal(limit.brokerClOrdId, 'elsewhere')
  assert.deepEqual(
    combo.legs?.map(({ symbol, ratio }) => [symbol, ratio]),
    [
      ['SPY', '100'],
      ['SPY261218C00600000', '1']
    ]
  )
  const [calculated] = parseOrderAnswer(answer('order.calculated')).map(wire => parseOrder(wire, ACCOUNT))
  assert.equal(calculated?.status, 'filled')
})

test('an unknown order status is never guessed', () => {
  const [wire] = parseOrders(answer('orders.one'))
  assert.ok(wire !== undefined)
  assert.throws(() => parseOrder({ ...wire, status: 'reviewing' }, ACCOUNT), UnknownValueError)
  for (const quantity of ['-40', '0']) assert.throws(() => parseOrder({ ...wire, quantity }, ACCOUNT), Malformed)
})

test('an event is merged into what is known, and an older one changes nothing', () => {
  const [known] = orders('orders.one')
  assert.ok(known !== undefined)
  const event = answer('event.order')
  const filled = merged(known, event)
  assert.ok(filled !== 'read')
  assert.deepEqual(
    [filled.status, filled.filledTotal, filled.symbol, filled.quantity, filled.updatedAt],
    ['filled', { quantity: '40.0', averagePrice: '219.99' }, 'AAPL', '40.00000000', '2026-11-03T15:00:01.250000Z']
  )
  assert.equal(merged(filled, { ...event, status: 'partially_filled', exec_quantity: '12.0' }), filled)
  assert.equal(merged(filled, { ...event, status: 'open', exec_quantity: '40.0' }), filled)
  const partly = { ...filled, status: 'partially_filled' } as const
  assert.equal(merged(partly, { ...event, status: 'canceled', exec_quantity: '12.0' }), 'read', 'it ended, with fewer fills than are known')
  assert.equal(merged(known, { ...event, status: 'rejected' }), 'read')
  const unfilled = (status: OrderReport['status'], change: object) => {
    const found = merged({ ...known, status, filledTotal: null }, { ...event, exec_quantity: '0.0', avg_fill_price: '0.0', ...change })
    return found === 'read' ? assert.fail() : found
  }
  assert.equal(unfilled('working', { status: 'pending' }).status, 'working')
  assert.equal(unfilled('pending', { status: 'held' }).status, 'working', 'what waits for its trigger can be cancelled')
  assert.equal(unfilled('partially_filled', { status: 'open', price: '221.5' }).limitPrice, '221.5')
  const part = { status: 'partially_filled', exec_quantity: '40.0', avg_fill_price: '219.99', remaining_quantity: '10.0' }
  const larger = unfilled('partially_filled', part)
  assert.deepEqual([larger.status, Number(larger.quantity)], ['partially_filled', 50])
})

test('the history: types by what they move, ids that stay the same', () => {
  const { unknownValues: known, meter } = unknownValueCounter()
  const events = items(answer('history.events'), 'history', 'event').map(event => parseEvent(event, known))
  const list = transactionsOf(events)
  assert.deepEqual(
    list.map(({ type, symbol, quantity, amount: sum, fees, day, description }) => [type, symbol, quantity, sum, fees, day, description]),
    [
      ['SELL', 'AAPL', '4', '968.4', '0', '2026-10-09', 'APPLE'],
      ['BUY', 'AAPL261218C00250000', '1', '-60.0', '0.35', '2026-10-08', 'CALL AAPL'],
      ['TRANSFER', null, '0', '100', null, '2026-10-08', null],
      ['TRANSFER', null, '0', '100', null, '2026-10-08', null],
      ['WITHDRAWAL', null, '0', '-50.25', null, '2026-10-07', 'ACH out'],
      ['ASSIGNMENT', 'AAPL261218C00250000', '-1', '0', null, '2026-10-06', 'ASSIGNED'],
      ['OTHER', null, null, '1.5', null, '2026-10-05', null]
    ]
  )
  const ids = list.map(({ brokerTransactionId }) => brokerTransactionId)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(
    transactionsOf(events.slice(2)).map(({ brokerTransactionId }) => brokerTransactionId),
    ids.slice(2),
    'whatever else is read'
  )
  assert.equal(meter.counted('broker_unknown_values_total', { broker: 'TRADIER', field: 'type' }), 1)
})

test('the four forms of a no', () => {
  assert.deepEqual(complaintOf(reply('place.errors')), {
    form: 'errors',
    errors: ['Backoffice rejected override of the order.', 'InitialMargin']
  })
  assert.deepEqual(complaintOf(reply('cancel.over')), { form: 'text', text: 'order already in finalized state: filled' })
  assert.equal(complaintOf(reply('html.maintenance')).form, 'other')
  assert.equal(errorMessageOf(reply('html.maintenance')), '')
  assert.equal(errorMessageOf(reply('fault.datastore')), 'Datastore Error')
  assert.equal(isTokenRefused(reply('fault.expired')), true)
  assert.equal(isTokenRefused({ ...reply('fault.datastore'), status: 401 }), false)
  assert.equal(isTokenRefused({ status: 401, body: 'Unauthorized Account: 6YA' }), false)
  assert.equal(isTokenRefused({ ...reply('fault.expired'), status: 500 }), true)
  const failure = '{"fault":{"faultstring":"Failed to resolve the Access Token: datastore error","detail":{"errorcode":"steps.Failed"}}}'
  assert.equal(isTokenRefused({ status: 500, body: failure }), false)
  const errors = '{"errors":{"error":["Internal error, try again"]}}'
  assert.throws(
    () => requestedAnswer({ body: errors }),
    (fault: { kind?: string }) => fault.kind === 'unreachable'
  )
  assert.equal(isUnknownOrder({ status: 404, headers: {}, body: 'order 7 not found' }), true)
  assert.equal(isUnknownOrder({ status: 429, headers: {}, body: 'order 7 not found' }), false)
  assert.equal(isUnknownOrder({ status: 404, headers: {}, body: '<html>not found, no order</html>' }), false)
})

test('which answers prove that an order was taken, and which that it was not', () => {
  const place = (answered: HttpReply) => interpretPlace(answered, ORDER, NOW)
  const placed = place(reply('place.ok'))
  assert.ok(placed.kind === 'accepted')
  assert.deepEqual([placed.value.brokerOrderId, placed.value.status, placed.value.entryTime], ['900417', 'pending', NOW])
  assert.deepEqual(place(reply('place.errors')), {
    kind: 'refused',
    message: 'Backoffice rejected override of the order; InitialMargin',
    rejectCode: 'insufficient_funds',
    brokerStatus: 'InitialMargin'
  })
  const kinds = (name: string, status?: number) => place({ ...reply(name), ...(status === undefined ? {} : { status }) }).kind
  assert.deepEqual(
    ['place.error', 'place.bad', 'fault.expired', 'fault.quota'].map(name => kinds(name)),
    ['refused', 'refused', 'refused', 'refused']
  )
  assert.deepEqual(
    new Set([
      ...[kinds('place.internal-error'), kinds('fault.datastore'), kinds('html.maintenance', 400)],
      ...[kinds('place.bad', 404), kinds('place.bad', 401)]
    ]),
    new Set(['unknown'])
  )
  assert.equal(place({ status: 429, headers: {}, body: '' }).kind, 'unknown')
  // The gateway's fault about the token came with status 500 as well: its body decides.
  assert.equal(kinds('fault.expired', 500), 'refused')
  // Recorded: a text with status 400 that is no known refusal proves nothing, and an unknown order answers 401.
  for (const body of ['Something happened', 'The order could not be processed.', 'The order must wait'])
    assert.equal(place({ status: 400, headers: {}, body }).kind, 'unknown', body)
  assert.equal(place({ status: 400, headers: {}, body: 'Invalid parameter, tag: contains more than 255 characters.' }).kind, 'refused')
  assert.equal(interpretCommand({ status: 401, headers: {}, body: 'Unauthorized Account: 6YA00001' }, '7').kind, 'refused')
  // Messages of a failure are no proof that nothing was accepted.
  for (const text of ['Backend timed out.', 'The order router is unavailable, please try again', 'Unexpected error.'])
    for (const [status, body] of [
      [200, JSON.stringify({ errors: { error: [text] } })],
      [400, text]
    ] as const)
      assert.equal(place({ status, headers: {}, body }).kind, 'unknown')
  for (const name of ['html.maintenance', 'orders.one', 'profile.one']) assert.throws(() => place(reply(name)), Malformed)
  assert.deepEqual(interpretCommand(reply('place.ok'), '900417'), { kind: 'accepted', value: null })
  assert.throws(() => interpretCommand(reply('place.ok'), '900418'), Malformed)
  assert.equal(interpretCommand(reply('cancel.over'), '900417').kind, 'refused')
  assert.equal(interpretCommand({ status: 404, headers: {}, body: 'order 7 not found' }, '7').kind, 'refused')
  assert.equal(interpretCommand({ status: 404, headers: {}, body: '' }, '7').kind, 'unknown')
})

test('a session, and a sign of life', () => {
  assert.equal(sessionOf(answer('session')), 'a1b2c3d4-0000-4000-8000-000000000000')
  assert.equal(answer('event.heartbeat').event, 'heartbeat')
})
