/** Options, futures and multi-leg orders: the requests to the sandbox, and its answers as read. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { NewOrder } from '@trunkline/core/ports/broker'
import { nested } from '../../src/kit/parse.ts'
import { pageOf, parseOrder, parsePosition, parseTransaction, readAnswer } from '../../src/sandbox/codecs.ts'
import { interpretReplace, interpretSubmit, replaceRequest, submitRequest } from '../../src/sandbox/orders.ts'
import { fixture, reply, TICKET, unreadFixtures } from './fixtures.ts'
import type { Json } from './sandbox-process.ts'

after(() => assert.deepEqual(unreadFixtures('contract'), [], 'fixtures that no test reads'))

const CALL = 'SPY261218C00660000'
const OTHER = 'SPY261218C00670000'
const TIME = '2026-12-01T15:00:00.000000Z'
const one = parseDecimal('1', 'ratio')

const OPTION: NewOrder = {
  ...TICKET,
  brokerAccountId: 'acc',
  brokerClOrdId: 'c1',
  symbol: CALL,
  instrument: 'OPT',
  side: 'SELL_TO_OPEN',
  limitPrice: parseDecimal('4.10', 'limit')
}

const SPREAD: NewOrder = {
  ...OPTION,
  symbol: null,
  instrument: 'MLEG_OPT',
  side: 'SELL',
  limitPrice: parseDecimal('-0.05', 'limit'),
  legs: [
    { symbol: CALL, side: 'SELL_TO_OPEN', ratio: one, fills: [] },
    { symbol: OTHER, side: 'BUY_TO_CLOSE', ratio: parseDecimal('2', 'ratio'), fills: [] }
  ]
}

const bodyOf = (order: NewOrder): Json => JSON.parse(submitRequest(order).body ?? '')

test('an option order has its position effect, and nothing else does', () => {
  assert.deepEqual(bodyOf(OPTION), {
    account: 'acc',
    client_order_id: 'c1',
    symbol: CALL,
    direction: 'sell',
    effect: 'open',
    kind: 'limit',
    lifetime: 'day',
    quantity: '5',
    limit: '4.10'
  })
  for (const [side, direction, effect] of [
    ['BUY_TO_OPEN', 'buy', 'open'],
    ['SELL_TO_OPEN', 'sell', 'open'],
    ['BUY_TO_CLOSE', 'buy', 'close'],
    ['SELL_TO_CLOSE', 'sell', 'close']
  ] as const) {
    const sides = bodyOf({ ...OPTION, side })
    assert.deepEqual([sides.direction, sides.effect], [direction, effect])
  }
  const future = bodyOf({ ...OPTION, symbol: 'ESZ26', instrument: 'FUT', side: 'SELL' })
  assert.deepEqual([future.symbol, future.direction, 'effect' in future], ['ESZ26', 'sell', false])
  assert.throws(() => submitRequest({ ...OPTION, side: 'BUY' }), Malformed)
  assert.throws(() => submitRequest({ ...OPTION, instrument: 'FUT', side: 'BUY_TO_OPEN' }), Malformed)
})

test('a multi-leg order is requested by its legs, with a net price that may be negative', () => {
  assert.deepEqual(bodyOf(SPREAD), {
    account: 'acc',
    client_order_id: 'c1',
    direction: 'sell',
    legs: [
      { symbol: CALL, direction: 'sell', effect: 'open', ratio: '1' },
      { symbol: OTHER, direction: 'buy', effect: 'close', ratio: '2' }
    ],
    kind: 'limit',
    lifetime: 'day',
    quantity: '5',
    limit: '-0.05'
  })
  assert.throws(() => submitRequest({ ...SPREAD, side: 'SELL_TO_OPEN' }), Malformed)
  const legs = SPREAD.legs?.map(leg => ({ ...leg, side: 'BUY' as const })) ?? []
  assert.throws(() => submitRequest({ ...SPREAD, legs }), Malformed)
  const { body } = replaceRequest({ brokerAccountId: 'acc', brokerOrderId: 'o-1', brokerClOrdId: 'c2', ticket: SPREAD })
  assert.equal(body, '{"client_order_id":"c2","quantity":"5","limit":"-0.05"}')
})

const fill = (id: string, price: string): Json => ({ id, quantity: '5', price, fee: '0', at: TIME, venue: 'STREET' })

const MULTI_LEG: Json = {
  id: 'ord-1',
  client_order_id: 'c1',
  account: 'acc',
  symbol: null,
  class: 'package',
  direction: 'sell',
  effect: null,
  kind: 'limit',
  lifetime: 'day',
  quantity: '5',
  notional: null,
  limit: '-0.05',
  stop: null,
  state: 'done',
  reason: null,
  fills: [fill('exe-1', '-0.04')],
  legs: [
    { symbol: CALL, direction: 'sell', effect: 'open', ratio: '1', fills: [fill('exe-1-1', '4.10')] },
    { symbol: OTHER, direction: 'buy', effect: 'close', ratio: '2', fills: [fill('exe-1-2', '2.07')] }
  ],
  amends: null,
  amended_by: null,
  received: TIME,
  changed: TIME
}

test('a multi-leg order of the sandbox is an order with legs, each with its own fills', () => {
  const order = parseOrder(MULTI_LEG)
  assert.deepEqual(
    [order.instrument, order.symbol, order.side, order.limitPrice, order.status],
    ['MLEG_OPT', null, 'SELL', '-0.05', 'filled']
  )
  const fillOf = (fillId: string, price: string) => ({ fillId, at: TIME, quantity: '5', price, execDest: 'STREET' })
  assert.deepEqual(order.fills, [fillOf('exe-1', '-0.04')])
  assert.deepEqual(order.legs, [
    { symbol: CALL, side: 'SELL_TO_OPEN', ratio: '1', fills: [fillOf('exe-1-1', '4.10')] },
    { symbol: OTHER, side: 'BUY_TO_CLOSE', ratio: '2', fills: [fillOf('exe-1-2', '2.07')] }
  ])
})

test('a multi-leg order that is not one cannot be read', () => {
  const [first, second] = MULTI_LEG.legs
  for (const legs of [
    null,
    [],
    [first],
    [first, second, first, second, first],
    [first, { ...second, direction: 'hold' }],
    [first, { ...second, fills: null }]
  ])
    assert.throws(() => parseOrder({ ...MULTI_LEG, legs }), Malformed)
  assert.throws(() => parseOrder({ ...MULTI_LEG, legs: [first, { ...second, effect: 'constructor' }] }), Malformed)
  assert.throws(() => parseOrder({ ...MULTI_LEG, class: 'share' }), Malformed)
})

test('an option’s side is its direction and its effect', () => {
  const option: Json = { ...MULTI_LEG, class: 'option', symbol: CALL, legs: null }
  for (const [direction, effect, side] of [
    ['buy', 'open', 'BUY_TO_OPEN'],
    ['sell', 'open', 'SELL_TO_OPEN'],
    ['buy', 'close', 'BUY_TO_CLOSE'],
    ['sell', 'close', 'SELL_TO_CLOSE']
  ]) {
    const order = parseOrder({ ...option, direction, effect })
    assert.deepEqual([order.side, order.instrument, order.legs], [side, 'OPT', null])
  }
  assert.deepEqual(parseOrder({ ...option, class: 'future', symbol: 'ESZ26' }).instrument, 'FUT')
})

test('only the requested multi-leg order is its acceptance', () => {
  const answer = (order: Json) => ({ status: 201, headers: {}, body: JSON.stringify({ as_of: TIME, sandbox_time: TIME, order }) })
  assert.equal(interpretSubmit(answer(MULTI_LEG), SPREAD).kind, 'accepted')
  assert.throws(() => interpretSubmit(answer({ ...MULTI_LEG, legs: [...MULTI_LEG.legs].reverse() }), SPREAD), Malformed)
  assert.throws(
    () => interpretSubmit(answer({ ...MULTI_LEG, class: 'option', symbol: CALL, legs: null, effect: 'open' }), SPREAD),
    Malformed
  )
})

test('positions of contracts, and what their life leaves in the transactions', () => {
  const position: Json = {
    account: 'acc',
    quantity: '-2',
    last_price: '4.10',
    average_price: '4.00',
    unrealized: '-20',
    realized: '0',
    today: '0',
    total: '-20'
  }
  assert.deepEqual(
    [
      ['option', CALL],
      ['future', 'ESZ26']
    ].map(([kind, symbol]) => {
      const { instrument, brokerPositionId } = parsePosition({ ...position, class: kind, symbol })
      return [instrument, brokerPositionId]
    }),
    [
      ['OPT', null],
      ['FUT', 'acc:ESZ26']
    ]
  )
  const transaction: Json = {
    account: 'acc',
    id: 't-1',
    symbol: CALL,
    class: 'option',
    quantity: '2',
    price: null,
    amount: '0',
    fees: '0',
    currency: 'USD',
    date: '2026-12-18',
    settles: null,
    order: null,
    text: null
  }
  assert.deepEqual(
    ['exercise', 'assignment', 'expiration', 'settlement'].map(type => {
      const read = parseTransaction({ ...transaction, type })
      return [read.type, read.brokerType, read.instrument]
    }),
    [
      ['EXERCISE', 'exercise', 'OPT'],
      ['ASSIGNMENT', 'assignment', 'OPT'],
      ['EXPIRATION', 'expiration', 'OPT'],
      ['ADJUSTMENT', 'settlement', 'OPT']
    ]
  )
})

const read = (name: string) => readAnswer(reply(name).body)

test('what the sandbox really answers: an option, a future, multi-leg orders filled, open, amended and refused', () => {
  const option = parseOrder(nested(read('contract.option'), 'order'))
  assert.deepEqual([option.instrument, option.side, option.status, option.fills?.length], ['OPT', 'BUY_TO_OPEN', 'filled', 1])
  const future = parseOrder(nested(read('contract.future'), 'order'))
  assert.deepEqual([future.instrument, future.symbol, future.side], ['FUT', 'ESZ26', 'SELL'])
  const filled = parseOrder(nested(read('contract.multi-leg'), 'order'))
  assert.deepEqual([filled.instrument, filled.symbol, filled.side, filled.quantity], ['MLEG_OPT', null, 'BUY', '2'])
  const ids = filled.legs?.map(leg => leg.fills.map(({ fillId }) => fillId))
  const [own] = filled.fills ?? []
  assert.deepEqual(ids, [[`${own?.fillId}-1`], [`${own?.fillId}-2`]])
  assert.deepEqual(
    filled.legs?.map(({ side }) => side),
    ['BUY_TO_OPEN', 'SELL_TO_OPEN']
  )
  const open = parseOrder(nested(read('contract.multi-leg.open'), 'order'))
  assert.deepEqual([open.status, open.limitPrice, open.legs?.map(({ fills }) => fills)], ['working', '-0.05', [[], []]])
  const amended = interpretReplace(reply('contract.multi-leg.amended'), {
    brokerAccountId: open.brokerAccountId,
    brokerOrderId: open.brokerOrderId,
    brokerClOrdId: 'fix-credit-2',
    ticket: open
  })
  assert.ok(amended.kind === 'accepted' && amended.value !== null)
  assert.deepEqual([amended.value.limitPrice, amended.value.replacesBrokerOrderId], ['-0.1', open.brokerOrderId])
  const { body, status } = fixture('contract.multi-leg.refused')
  const refused = interpretSubmit({ status, headers: {}, body: JSON.stringify(body) }, SPREAD)
  assert.deepEqual(refused.kind === 'refused' ? refused.brokerStatus : null, 'bad_legs')
})

test('what the sandbox really answers: positions of contracts, and the end of their lives', () => {
  const positions = pageOf(reply('contract.positions')).records.map(parsePosition)
  assert.deepEqual(new Set(positions.map(({ instrument }) => instrument)), new Set(['OPT', 'FUT']))
  const ends = pageOf(reply('contract.transactions')).records.map(parseTransaction)
  assert.deepEqual(new Set(ends.map(({ type }) => type)), new Set(['BUY', 'SELL', 'EXERCISE', 'ASSIGNMENT', 'EXPIRATION']))
  for (const { type, quantity, amount } of ends) if (type === 'EXPIRATION') assert.deepEqual([quantity, Number(amount)], ['1', 0])
  const settled = pageOf(reply('contract.settlements')).records.map(parseTransaction)
  assert.deepEqual(new Set(settled.map(({ type, instrument }) => `${type} ${instrument}`)), new Set(['ADJUSTMENT FUT']))
})
