/** Lists of Tradier's of which a record cannot be read: what is left of them, and what must not be decided by them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay, parseTimestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { reply, TICKET } from './fixtures.ts'
import { ACCOUNT, type Answers, answering, raw, ScriptedTradier, soon } from './support.ts'

const SINCE = parseTimestamp('2026-01-01T00:00:00Z', 'since')
const ROW = { id: 1, symbol: 'AAPL', quantity: 8, cost_basis: 1912.4 }
const ORDER = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'osk01H' }

const parsed = (fixture: string) => JSON.parse(reply(fixture).body)
const isMalformed = (error: unknown) => error instanceof BrokerFault && error.kind === 'malformed'

function holding(...position: readonly object[]): Answers {
  const quote = (symbol: string, last: unknown) => ({ symbol, last, bid: null, ask: null })
  return {
    [`GET /accounts/${ACCOUNT}/positions`]: answering({ positions: { position } }),
    'POST /markets/quotes': answering({ quotes: { quote: [quote('AAPL', 242.1), quote('SPY', 'n/a'), quote('F', 12)] } }),
    [`POST /accounts/${ACCOUNT}/orders`]: 'place.ok'
  }
}

test('an account that cannot be read leaves the others', async () => {
  const [first, ...others] = parsed('profile.three').profile.account
  await using tradier = await ScriptedTradier.start({
    'GET /user/profile': answering({ profile: { account: [{ ...first, account_number: { no: 'text' } }, ...others] } })
  })
  const { items, leftOut } = await tradier.broker.accounts(soon())
  assert.deepEqual([items.map(({ accountNumber }) => accountNumber), leftOut], [['6YA00002'], [null]])
  assert.equal(tradier.meter.counted('broker_records_left_out_total', { broker: 'TRADIER', kind: 'accounts' }), 1)
})

test('an order of which only the quantity cannot be read is named, even if it is the only one; a look-up of it is a fault', async () => {
  const order = { ...parsed('orders.one').orders.order, quantity: 'forty' }
  await using tradier = await ScriptedTradier.start({
    [`GET /accounts/${ACCOUNT}/orders?`]: answering({ orders: { order } }),
    [`GET /accounts/${ACCOUNT}/orders/`]: answering({ order })
  })
  const { items, leftOut } = await tradier.broker.orders(ACCOUNT, SINCE, soon())
  assert.deepEqual([items, leftOut], [[], ['900500']])
  const key = { by: 'brokerOrderId', brokerAccountId: ACCOUNT, brokerOrderId: '900500' } as const
  await assert.rejects(tradier.broker.findOrder(key, soon()), isMalformed)
})

test('a bracket without orders, an order without an id and what is no record at all take no order with them', async () => {
  const good = parsed('orders.one').orders.order
  const { id: _, ...withoutId } = good
  const order = [
    good,
    { id: 7, class: 'otoco', status: 'open' },
    withoutId,
    null,
    { ...good, id: 8 },
    { ...good, id: 9 },
    { ...good, id: 10 }
  ]
  await using tradier = await ScriptedTradier.start({ [`GET /accounts/${ACCOUNT}/orders?`]: answering({ orders: { order } }) })
  const { items, leftOut } = await tradier.broker.orders(ACCOUNT, SINCE, soon())
  assert.deepEqual(
    [items.map(({ brokerOrderId }) => brokerOrderId), leftOut],
    [
      ['900500', '8', '9', '10'],
      ['7', null, null]
    ]
  )
})

test('a lot that cannot be read leaves out its symbol, whose quantity is unknown, and no other', async () => {
  const spy = { ...ROW, id: 2, symbol: 'SPY' }
  const rows = [ROW, spy, { ...spy, id: 3, quantity: 'two' }, { ...ROW, id: 4, symbol: 'F' }]
  await using tradier = await ScriptedTradier.start(holding(...rows))
  const { items, leftOut } = await tradier.broker.positions(ACCOUNT, soon())
  assert.deepEqual(
    [items.map(({ symbol }) => symbol), leftOut],
    [
      ['AAPL', 'F'],
      ['2', '3']
    ]
  )
  // However many lots it has: one record cannot be read.
  const lots = Array.from({ length: 9 }, (_, index) => ({ ...spy, id: 10 + index }))
  await using many = await ScriptedTradier.start(holding(ROW, ...lots, { ...spy, id: 3, cost_basis: {} }))
  const read = await many.broker.positions(ACCOUNT, soon())
  assert.deepEqual([read.items.map(({ symbol }) => symbol), read.leftOut?.length], [['AAPL'], 10])
})

test('a price that cannot be read is unknown, and the other prices are known', async () => {
  await using tradier = await ScriptedTradier.start(holding(ROW, { ...ROW, id: 2, symbol: 'SPY' }, { ...ROW, id: 3, symbol: 'F' }))
  const { items, leftOut } = await tradier.broker.positions(ACCOUNT, soon())
  assert.deepEqual(
    items.map(({ symbol, lastPrice }) => [symbol, lastPrice]),
    [
      ['AAPL', '242.1'],
      ['SPY', null],
      ['F', '12']
    ]
  )
  assert.equal(leftOut, undefined, 'every position was read')
})

test('an order of shares is not sent while a position cannot be read: what is held decides its side', async () => {
  await using tradier = await ScriptedTradier.start(holding(ROW, { ...ROW, id: 2, symbol: 'SPY', quantity: 'two' }))
  const outcome = await tradier.broker.submit(ORDER, soon())
  assert.ok(outcome.kind === 'not_sent' && isMalformed(outcome.cause), outcome.kind)
  assert.ok(
    tradier.requests.every(request => request.startsWith('GET ')),
    tradier.requests.join(', ')
  )
})

test('an event of the history that cannot be read leaves the others, each with the id that it always has', async () => {
  const event = parsed('history.events').history.event
  const from = parseDay('2000-01-01', 'from')
  const ids = async (events: readonly object[]) => {
    await using tradier = await ScriptedTradier.start({
      [`GET /accounts/${ACCOUNT}/history`]: ({ path }, response) => {
        const isFirst = new URL(path, 'http://host').searchParams.get('page') === '1'
        raw(response, 200, JSON.stringify({ history: isFirst ? { event: events } : 'null' }))
      }
    })
    const { items, leftOut } = await tradier.broker.transactions(ACCOUNT, from, parseDay('2100-01-01', 'to'), soon())
    return { ids: items.map(({ brokerTransactionId }) => brokerTransactionId), leftOut }
  }
  const whole = await ids(event)
  assert.equal(whole.leftOut, undefined)
  const spoilt = await ids([...event.slice(0, 2), { ...event[0], amount: 'much' }, ...event.slice(2), { type: 'trade' }])
  assert.deepEqual(spoilt, { ids: whole.ids, leftOut: [null, null] })
})

test('a symbol that cannot be read leaves the others in a search', async () => {
  const security = (symbol: unknown) => ({ symbol, exchange: 'N', type: 'stock', description: 'A company' })
  const securities = answering({ securities: { security: [security('F'), security({}), security('FF')] } })
  await using tradier = await ScriptedTradier.start({ 'GET /markets/': securities })
  const found = await tradier.broker.market?.search('F', soon())
  assert.deepEqual(
    found?.map(({ symbol }) => symbol),
    ['F', 'FF', 'F', 'FF']
  )
})
