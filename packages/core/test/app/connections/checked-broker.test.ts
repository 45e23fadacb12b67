// The answers of a broker's session are compared with the request, for every adapter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CheckedBroker } from '@trunkline/core/app/broker-access/checked-broker'
import { PartialLists } from '@trunkline/core/app/broker-access/partial-lists'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { FILLS_MAX } from '@trunkline/core/domain/executions'
import type { Fill } from '@trunkline/core/domain/order'
import { parseDay } from '@trunkline/core/domain/timestamp'
import {
  type AccountEvent,
  type BalanceReport,
  type Broker,
  type BrokerAccount,
  BrokerFault,
  type Listed,
  type OrderReport,
  type PositionReport,
  type TransactionReport
} from '@trunkline/core/ports/broker'
import { SCRIPTED_CAPABILITIES } from '@trunkline/testkit/scripted-broker/index'
import { anOrder } from '../../domain/an-order.ts'

const OURS = 'acc-ours'
const THEIRS = 'acc-of-somebody-else'
const AT = anOrder().systemTime
const CONNECTION = { connectionId: anOrder().connectionId, broker: anOrder().broker }
const DAY = parseDay('2026-11-20', 'day')
const { signal } = new AbortController()
const one = parseDecimal('1', 'one')

const BALANCE: BalanceReport = {
  ...{ brokerAccountId: OURS, currency: 'USD', cash: one, buyingPower: null, initialMargin: null, maintenanceMargin: null },
  ...{ regTBuyingPower: null, equity: null, marketValue: null, asOf: AT }
}
const POSITION: PositionReport = {
  ...{ brokerAccountId: OURS, symbol: 'AAPL', instrument: 'STK', quantity: one, lastPrice: null, averagePrice: null, unrealizedPl: null },
  ...{ realizedPl: null, dailyPl: null, totalPl: null, brokerPositionId: null }
}
const TRANSACTION: TransactionReport = {
  ...{ brokerAccountId: OURS, brokerTransactionId: 't1', type: 'BUY', brokerType: null, symbol: 'AAPL', instrument: 'STK', quantity: one },
  ...{ price: one, amount: one, fees: null, currency: 'USD', day: DAY, settlementDay: null, brokerOrderId: null, description: null }
}
const FILL: Fill = { fillId: 'f1', at: AT, quantity: one, price: parseDecimal('10', 'p'), execDest: null }
const ORDER: OrderReport = {
  ...anOrder(),
  ...{ brokerAccountId: OURS, brokerOrderId: 'o1', brokerStatus: 'open', fills: [FILL], filledTotal: null, updatedAt: AT },
  ...{ replacesBrokerOrderId: null, replacedByBrokerOrderId: null }
}

/** The adapter's answers. */
interface Answers {
  readonly accounts?: Listed<BrokerAccount>
  readonly balances?: readonly BalanceReport[]
  readonly positions?: readonly PositionReport[]
  readonly orders?: readonly OrderReport[]
  readonly transactions?: readonly TransactionReport[]
  /** Returned by look-ups and by every command. */
  readonly order?: OrderReport
  readonly events?: readonly AccountEvent[]
}

function session(answers: Answers) {
  const { accounts = { items: [] }, balances = [], positions = [], orders = [], transactions = [], order = ORDER, events = [] } = answers
  const unused = () => Promise.reject(new Error('not asked here'))
  const accepted = async () => ({ kind: 'accepted', value: order }) as const
  const adapter: Broker = {
    capabilities: SCRIPTED_CAPABILITIES,
    market: null,
    accounts: async () => accounts,
    preview: unused,
    balances: async () => ({ items: balances, asOf: AT }),
    positions: async () => ({ items: positions, asOf: AT }),
    orders: async () => ({ items: orders, asOf: AT }),
    transactions: async () => ({ items: transactions, asOf: AT }),
    findOrder: async () => ({ found: order, asOf: AT }),
    ...{ submit: accepted, replace: accepted, cancel: accepted },
    async *events() {
      yield* events
    },
    [Symbol.asyncDispose]: async () => undefined
  }
  const alarms: unknown[] = []
  const counted: string[] = []
  const quiet = () => undefined
  const partialLists = new PartialLists({ now: () => AT })
  const observed: unknown[] = []
  let ms = 0
  const broker = new CheckedBroker(adapter, {
    connection: CONNECTION,
    partialLists,
    log: { debug: quiet, info: quiet, warn: quiet, error: (...received) => void alarms.push(received) },
    clock: { monotonicMs: () => (ms += 250) },
    meter: {
      count: (name, labels = {}) => void counted.push([name, ...Object.values(labels)].join(' ')),
      observe: (...received) => void observed.push(received)
    }
  })
  return { broker, alarms, counted, observed, partialLists }
}

const isMalformed = (cause: unknown) => cause instanceof BrokerFault && cause.kind === 'malformed'

test('records of another account in a broker’s answer are left out, with one alarm that does not name the owner [S79]', async () => {
  const { broker, alarms, counted } = session({
    balances: [BALANCE, { ...BALANCE, brokerAccountId: THEIRS, cash: parseDecimal('777777', 'c') }],
    positions: [POSITION, { ...POSITION, brokerAccountId: THEIRS, symbol: 'TSLA' }],
    orders: [ORDER, { ...ORDER, brokerAccountId: THEIRS, brokerOrderId: 'o2' }],
    transactions: [TRANSACTION, { ...TRANSACTION, brokerAccountId: THEIRS }, { ...TRANSACTION, brokerAccountId: null }]
  })
  assert.deepEqual((await broker.balances(OURS, signal)).items, [BALANCE])
  assert.deepEqual((await broker.positions(OURS, signal)).items, [POSITION])
  // The list is marked as incomplete, and has nothing of the other account.
  assert.deepEqual(await broker.orders(OURS, AT, signal), { items: [ORDER], asOf: AT, leftOut: [null] })
  // If the broker does not state whose transactions it lists, they count as those of the requested account.
  assert.deepEqual((await broker.transactions(OURS, DAY, DAY, signal)).items, [TRANSACTION, { ...TRANSACTION, brokerAccountId: null }])
  assert.deepEqual(counted, Array(4).fill('broker_records_refused_total SANDBOX foreign'))
  assert.equal(alarms.length, 1)
  assert.ok(!JSON.stringify(alarms).includes(THEIRS))
})

test('the duration of each read is measured, also of one that fails, and commands are not reads', async () => {
  const { broker, observed } = session({ positions: [{ ...POSITION, brokerAccountId: THEIRS }] })
  await broker.accounts(signal)
  await broker.balances(OURS, signal)
  await assert.rejects(broker.positions(OURS, signal), isMalformed)
  await broker.orders(OURS, AT, signal)
  await broker.transactions(OURS, DAY, DAY, signal)
  await broker.findOrder({ by: 'brokerOrderId', brokerAccountId: OURS, brokerOrderId: 'o1' }, signal)
  await broker.submit({ ...anOrder(), brokerAccountId: OURS, brokerClOrdId: 'c1' }, signal)
  assert.deepEqual(observed, Array(6).fill(['broker_read_seconds', 0.25]))
})

test('an answer that has only records of another account does not mean that this one is empty', async () => {
  const { broker } = session({
    balances: [{ ...BALANCE, brokerAccountId: THEIRS }],
    positions: [{ ...POSITION, brokerAccountId: THEIRS }],
    orders: [{ ...ORDER, brokerAccountId: THEIRS }]
  })
  await assert.rejects(broker.balances(OURS, signal), isMalformed)
  await assert.rejects(broker.positions(OURS, signal), isMalformed)
  // Absence from a list closes no order, and an incomplete list proves nothing else either.
  assert.deepEqual(await broker.orders(OURS, AT, signal), { items: [], asOf: AT, leftOut: [null] })
  assert.deepEqual((await session({}).broker.positions(OURS, signal)).items, [])
})

test('an order that was not requested, or is invalid, makes a look-up a fault and a command’s outcome unknown [S77, S79]', async () => {
  const many = Array.from({ length: FILLS_MAX + 1 }, (_, n) => ({ ...FILL, fillId: `f${n}` }))
  const wrong: readonly (readonly [string, Partial<OrderReport>])[] = [
    ['foreign', { brokerAccountId: THEIRS }],
    ['malformed', { symbol: '<script>' }],
    ['impossible_fill', { fills: [{ ...FILL, quantity: parseDecimal('-5', 'q') }] }],
    ['impossible_fill', { fills: null, filledTotal: { quantity: parseDecimal('-5', 'q'), averagePrice: null } }],
    ['impossible_fill', { fills: null, filledTotal: { quantity: one, averagePrice: parseDecimal('-1', 'p') } }],
    ['impossible_fill', { legs: [{ symbol: 'A', side: 'BUY', ratio: one, fills: [{ ...FILL, quantity: parseDecimal('0', 'q') }] }] }],
    ['too_many_fills', { fills: many }]
  ]
  for (const [reason, changes] of wrong) {
    const order = { ...ORDER, brokerOrderId: 'o2', ...changes }
    const { broker, counted } = session({ order, orders: [ORDER, order] })
    await assert.rejects(broker.findOrder({ by: 'brokerOrderId', brokerAccountId: OURS, brokerOrderId: 'o1' }, signal), isMalformed)
    const key = { brokerAccountId: OURS, brokerOrderId: 'o1', brokerClOrdId: 'c1' }
    for (const outcome of [
      await broker.submit({ ...anOrder(), ...key }, signal),
      await broker.replace({ ...key, ticket: anOrder() }, signal),
      await broker.cancel(key, signal)
    ])
      assert.equal(outcome.kind, 'unknown', reason)
    const leftOut = [reason === 'foreign' ? null : 'o2']
    assert.deepEqual(await broker.orders(OURS, AT, signal), { items: [ORDER], asOf: AT, leftOut }, reason)
    assert.equal(counted.filter(name => name === `broker_records_refused_total SANDBOX ${reason}`).length, 5)
    const alarms = counted.filter(name => name === `order_alarms_total SANDBOX ${reason}`).length
    assert.equal(alarms, reason.endsWith('fill') || reason.endsWith('fills') ? 5 : 0, reason)
  }
})

test('a record that cannot be true is left out of its list, which is partial; none that is true is a fault [S77]', async () => {
  const unfit = ['', 'US\u0000', '__proto__', '<script>', 'U$D"', 'x'.repeat(65), 'ＵＳＤ', '\u202eUSD', 'US\nD']
  // Of two balances of one currency neither is known to be right.
  for (const balances of [[BALANCE, BALANCE], ...[...unfit, 'usd', 'US'].map(currency => [{ ...BALANCE, currency }])])
    await assert.rejects(session({ balances }).broker.balances(OURS, signal), isMalformed, JSON.stringify(balances))
  for (const symbol of unfit) {
    const wrong = { ...POSITION, symbol, brokerPositionId: 'p2' }
    const spoilt = { ...TRANSACTION, symbol, brokerTransactionId: 't2' }
    const { broker } = session({ positions: [wrong], transactions: [spoilt] })
    await assert.rejects(broker.positions(OURS, signal), isMalformed, symbol)
    await assert.rejects(broker.transactions(OURS, DAY, DAY, signal), isMalformed, symbol)
    const among = session({
      balances: [BALANCE, { ...BALANCE, currency: symbol }],
      positions: [POSITION, wrong],
      transactions: [TRANSACTION, spoilt]
    })
    assert.deepEqual(await among.broker.balances(OURS, signal), { items: [BALANCE], asOf: AT, leftOut: [null] }, symbol)
    assert.deepEqual(await among.broker.positions(OURS, signal), { items: [POSITION], asOf: AT, leftOut: ['p2'] }, symbol)
    assert.deepEqual(await among.broker.transactions(OURS, DAY, DAY, signal), { items: [TRANSACTION], asOf: AT, leftOut: ['t2'] }, symbol)
    assert.deepEqual(among.partialLists.of(CONNECTION.connectionId), { records: 3, at: AT })
  }
  for (const symbol of ['AAPL', 'BRK.B', 'BRK/B', 'BF-B', 'BTC/USD', 'ESZ26', 'AAPL261218C00250000', '$SPXW.X 261218C6000', 'EURUSD']) {
    const positions = [{ ...POSITION, symbol }]
    assert.deepEqual((await session({ positions }).broker.positions(OURS, signal)).items, positions)
  }
})

test('accounts that cannot be read, or have an invalid currency, are left out; a list without an account that can be read is a fault', async () => {
  const account = (brokerAccountId: string, currency: string | null): BrokerAccount => ({
    ...{ brokerAccountId, accountNumber: brokerAccountId, institutionName: 'Bank', name: null, accountType: null, currency }
  })
  const good = account('a', 'USD')
  const read = (...accounts: readonly BrokerAccount[]) => session({ accounts: { items: accounts } }).broker.accounts(signal)
  assert.deepEqual(await read(good, account('b', 'U$')), { items: [good], leftOut: ['b'] })
  assert.deepEqual(await read(good, account('b', null)), { items: [good, account('b', null)] })
  const { broker, partialLists } = session({ accounts: { items: [good], leftOut: [null] } })
  assert.deepEqual(await broker.accounts(signal), { items: [good], leftOut: [null] })
  assert.equal(partialLists.of(CONNECTION.connectionId)?.records, 1)
  for (const accounts of [{ items: [account('b', 'U$')] }, { items: [], leftOut: ['a'] }, { items: [good, good] }])
    await assert.rejects(session({ accounts }).broker.accounts(signal), isMalformed)
})

test('a connection lacks records until each of its lists is whole again', () => {
  const partialLists = new PartialLists({ now: () => AT })
  const { connectionId } = CONNECTION
  assert.equal(partialLists.of(connectionId), null)
  partialLists.note(connectionId, 'orders a', 2)
  partialLists.note(connectionId, 'positions a', 1)
  partialLists.note(connectionId, 'orders b', 0)
  assert.deepEqual(partialLists.of(connectionId), { records: 3, at: AT })
  partialLists.note(connectionId, 'orders a', 0)
  assert.deepEqual(partialLists.of(connectionId), { records: 1, at: AT })
  partialLists.note(connectionId, 'positions a', 0)
  assert.equal(partialLists.of(connectionId), null)
  partialLists.note(connectionId, 'orders a', 1)
  partialLists.forget(connectionId)
  assert.equal(partialLists.of(connectionId), null)
})

test('a stream’s events have the same checks: an invalid order is left out, and an impossible state ends the stream, for a snapshot to decide [S79]', async () => {
  const foreign = { ...POSITION, brokerAccountId: THEIRS, symbol: 'TSLA' }
  const good: AccountEvent[] = [
    { type: 'live', at: AT },
    { type: 'positions', brokerAccountId: OURS, positions: { items: [POSITION, foreign], asOf: AT } },
    { type: 'balances', brokerAccountId: OURS, balances: { items: [BALANCE], asOf: AT } },
    { type: 'order', report: ORDER }
  ]
  const impossible = { ...ORDER, fills: [{ ...FILL, quantity: parseDecimal('-1', 'q') }] }
  const many = { ...ORDER, fills: Array.from({ length: FILLS_MAX + 1 }, (_, n) => ({ ...FILL, fillId: `f${n}` })) }
  const odd = { ...ORDER, symbol: "BAC'L" }
  const received: AccountEvent[] = []
  for await (const event of session({ events: good }).broker.events(signal)) received.push(event)
  const own = { type: 'positions', brokerAccountId: OURS, positions: { items: [POSITION], asOf: AT, leftOut: [null] } } as const
  assert.deepEqual(received, good.with(1, own))
  const spoilt = [impossible, many, odd, odd].map(report => ({ type: 'order', report }) as const)
  const { broker, alarms, counted } = session({ events: [...spoilt, ...good.slice(-1)] })
  assert.deepEqual(await Array.fromAsync(broker.events(signal)), [...spoilt.map(() => ({ type: 'left_out' })), ...good.slice(-1)])
  // One alarm of each kind; each record counts.
  assert.deepEqual([alarms.length, counted.filter(name => name.startsWith('broker_records_refused_total')).length], [3, 4])
  const bad: readonly AccountEvent[] = [
    { type: 'balances', brokerAccountId: OURS, balances: { items: [BALANCE, BALANCE], asOf: AT } },
    { type: 'positions', brokerAccountId: OURS, positions: { items: [foreign], asOf: AT } }
  ]
  for (const event of bad) {
    const { broker } = session({ events: [event] })
    await assert.rejects(Array.fromAsync(broker.events(signal)), isMalformed)
  }
})
