import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import fc from 'fast-check'
import { field, nested, type Wire } from '../../src/kit/parse.ts'
import {
  errorMessageOf,
  isUnknown,
  ORDER_ASSET_CLASSES,
  ORDER_TYPES,
  pageOf,
  parseAccount,
  parseBalance,
  parseError,
  parseOrder,
  parsePosition,
  parseTransaction,
  readAnswer,
  TIME_IN_FORCE
} from '../../src/sandbox/codecs.ts'
import { SANDBOX_CAPABILITIES } from '../../src/sandbox/definition.ts'
import { interpretCancel, interpretReplace, interpretSubmit } from '../../src/sandbox/orders.ts'
import { fixture, fixtureNames, MARGIN, reply, TICKET, unreadFixtures } from './fixtures.ts'

after(() => assert.deepEqual(unreadFixtures('orders'), [], 'fixtures that no test reads'))

const read = (name: string) => readAnswer(reply(name).body)
const order = (name: string) => parseOrder(nested(read(name), 'order'))
const page = <T>(name: string, item: (wire: Wire) => T) => {
  const { records, next, asOf } = pageOf(reply(name))
  return { items: records.map(item), next, asOf: asOf ?? assert.fail() }
}

test('a filled order, every field', () => {
  assert.deepEqual(order('submit.filled'), {
    brokerAccountId: MARGIN,
    brokerOrderId: 'ord-0f110201-1',
    brokerClOrdId: 'fix1',
    symbol: 'SPY',
    instrument: 'STK',
    side: 'BUY',
    type: 'MKT',
    tif: 'DAY',
    quantity: '10',
    notional: null,
    limitPrice: null,
    stopPrice: null,
    legs: null,
    status: 'filled',
    brokerStatus: 'done',
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: 'market',
    execDest: 'STREET',
    fills: [{ fillId: 'exe-0f110201-1', at: '2026-11-21T02:58:06.484000Z', quantity: '10', price: '666.39', execDest: 'STREET' }],
    filledTotal: null,
    entryTime: '2026-11-21T02:58:06.484000Z',
    updatedAt: '2026-11-21T02:58:06.484000Z',
    replacesBrokerOrderId: null,
    replacedByBrokerOrderId: null
  })
})

test('what else an order can be', () => {
  const held = order('submit.held')
  assert.deepEqual([held.status, held.type, held.tif, held.limitPrice, held.stopPrice], ['working', 'STPLMT', 'GTC', '700', '690'])
  const notional = order('submit.notional')
  assert.deepEqual([notional.quantity, notional.notional, notional.instrument], [null, '250.00', 'CRYPTO'])
  const fok = order('submit.fok')
  assert.deepEqual([fok.status, fok.brokerStatus], ['cancelled', 'cancelled'])
  assert.match(fok.brokerMessage ?? '', /\w+/)
  const amended = order('amend.done')
  assert.equal(amended.replacesBrokerOrderId, 'ord-0f110201-2')
  assert.equal(parseOrder(nested(read('amend.done'), 'superseded')).replacedByBrokerOrderId, amended.brokerOrderId)
  assert.equal(parseOrder(nested(read('amend.done'), 'superseded')).status, 'replaced')
  assert.equal(order('cancel.slow').status, 'pending_cancel')
  assert.equal(order('amend.slow').status, 'pending_replace')
  assert.equal(order('submit.open').status, 'working')
  assert.equal(order('find.found').brokerClOrdId, 'fix1')
  const { order: refused } = read('submit.refused')
  if (refused !== null) assert.equal(parseOrder(nested(read('submit.refused'), 'order')).status, 'rejected')
  const streamed = fixture('stream.order').body
  assert.equal(parseOrder(nested(streamed, 'order')).status, 'working')
})

test('accounts, balances, positions and transactions', () => {
  assert.deepEqual(page('accounts', parseAccount).items[0], {
    brokerAccountId: MARGIN,
    accountNumber: page('accounts', wire => String(field(wire, 'number'))).items[0],
    institutionName: SANDBOX_CAPABILITIES.name,
    name: 'Margin',
    accountType: 'margin',
    currency: 'USD'
  })
  const at = page('balances', parseAccountOf).asOf
  const [margin] = page('balances', wire => parseBalance(wire, at)).items
  assert.deepEqual(
    Object.keys(margin ?? {}).filter(key => Object.entries(margin ?? {}).some(([name, value]) => name === key && value === null)),
    []
  )
  const [crypto] = page('balances.crypto', wire => parseBalance(wire, at)).items
  assert.deepEqual([crypto?.initialMargin, crypto?.maintenanceMargin, crypto?.regTBuyingPower], [null, null, null])
  const [position] = page('positions', parsePosition).items
  assert.deepEqual([position?.symbol, position?.instrument, position?.quantity, position?.averagePrice], ['SPY', 'STK', '10', '666.39'])
  const [buy, deposit] = page('transactions', parseTransaction).items
  assert.deepEqual(buy, {
    brokerAccountId: 'acc-61799f0d269fa78f',
    brokerTransactionId: 'txn-0f110201-9',
    type: 'BUY',
    brokerType: 'buy',
    symbol: 'SPY',
    instrument: 'STK',
    quantity: '10',
    price: '666.39',
    amount: '-6663.90',
    fees: '0.00',
    currency: 'USD',
    day: '2026-11-20',
    settlementDay: '2026-11-23',
    brokerOrderId: 'ord-0f110201-1',
    description: 'Bought 10 SPY at 666.39'
  })
  assert.deepEqual([deposit?.type, deposit?.symbol, deposit?.amount], ['DEPOSIT', null, '100000.00'])
  assert.notEqual(page('orders', parseOrder).next, null)
  for (const name of ['stream.balance', 'stream.position', 'stream.fill', 'stream.ready', 'stream.heartbeat'])
    assert.ok(fixture(name).body.ev)
})

test('which answers to a submit prove what', () => {
  const sent = { ...TICKET, brokerAccountId: MARGIN, brokerClOrdId: 'fix2' }
  const kinds = (names: readonly string[]) => names.map(name => [name, kindOf(() => interpretSubmit(reply(name), sent))])
  assert.deepEqual(
    kinds([
      'submit.open',
      'submit.refused',
      'submit.refused-by-operator',
      'submit.bad',
      'error.throttled',
      'error.token',
      'cancel.unknown'
    ]),
    [
      ['submit.open', 'accepted'],
      ['submit.refused', 'refused insufficient_buying_power'],
      ['submit.refused-by-operator', 'refused refused_by_operator'],
      ['submit.bad', 'refused bad_request'],
      ['error.throttled', 'refused slow_down'],
      ['error.token', 'refused token_invalid'],
      ['cancel.unknown', 'refused unknown_order']
    ]
  )
  // Another user's order, an order that exists already, and everything that is not from the sandbox itself.
  assert.deepEqual(
    kinds(['submit.filled', 'submit.duplicate', 'error.injected', 'error.garbage']).map(([, kind]) => kind),
    ['unknown', 'unknown', 'unknown', 'unknown']
  )
  for (const status of [200, 202, 204, 301, 302, 407, 408, 418, 500, 502, 503, 504])
    assert.equal(
      kindOf(() => interpretSubmit({ ...reply('submit.refused'), status }, sent)),
      'unknown',
      String(status)
    )
  for (const body of ['', '<html>', '{}', 'null', '{"error":{"code":"bad_request"}}', '{"error":{"code":"bad_request","message":"no"}}'])
    for (const status of [201, 400, 401, 403, 404, 409, 413, 422, 429])
      assert.equal(
        kindOf(() => interpretSubmit({ status, headers: {}, body }, sent)),
        'unknown',
        `${status} ${body}`
      )
  assert.equal(
    kindOf(() => interpretSubmit({ ...reply('submit.refused'), status: 403 }, sent)),
    'unknown'
  )
})

test('which answers to a replacement and to a cancel prove what', () => {
  const replaced = { brokerAccountId: MARGIN, brokerOrderId: 'ord-0f110201-2', brokerClOrdId: 'fix7', ticket: TICKET }
  const replace = (name: string, of = replaced) => kindOf(() => interpretReplace(reply(name), of))
  assert.equal(replace('amend.done'), 'accepted')
  assert.equal(replace('amend.done', { ...replaced, brokerOrderId: 'ord-other' }), 'unknown')
  assert.equal(replace('amend.done', { ...replaced, brokerClOrdId: 'other' }), 'unknown')
  assert.equal(replace('amend.over'), 'refused order_not_open')
  assert.equal(replace('amend.slow', { ...replaced, brokerOrderId: 'ord-0f110201-9' }), 'accepted')
  assert.equal(replace('amend.slow'), 'unknown', 'it is about another order')
  const cancel = (name: string, id: string) => kindOf(() => interpretCancel(reply(name), id))
  const busy = String(field(nested(read('cancel.busy'), 'order'), 'id'))
  assert.equal(cancel('cancel.done', 'ord-0f110201-7'), 'accepted')
  assert.equal(cancel('cancel.done', 'ord-other'), 'unknown')
  assert.equal(cancel('cancel.over', 'ord-0f110201-7'), 'refused order_not_open')
  assert.equal(cancel('cancel.slow', busy), 'accepted')
  assert.equal(cancel('cancel.busy', busy), 'accepted')
  assert.equal(cancel('cancel.amending', 'ord-any'), 'refused order_busy')
})

test('absent is distinguished from failed', () => {
  assert.equal(isUnknown('order', read('find.none')), true)
  assert.equal(isUnknown('order', read('error.injected')), false)
  assert.match(errorMessageOf(reply('submit.refused')), /\w+ \w+/)
  assert.equal(errorMessageOf({ body: '<html>secret</html>' }), '')
})

test('strict where money hangs, tolerant where it only describes', () => {
  const order = nested(read('submit.filled'), 'order')
  for (const [key, value] of [
    ['state', 'melting'],
    ['class', 'warrant'],
    ['kind', 'iceberg'],
    ['lifetime', 'forever'],
    ['direction', 'hold'],
    ['quantity', 10],
    ['quantity', null],
    ['fills', null],
    ['id', ''],
    ['received', 'yesterday']
  ] as const)
    assert.throws(() => parseOrder({ ...order, [key]: value }), Malformed, key)
  assert.equal(parseOrder({ ...order, quantity: null, state: 'refused' }).status, 'rejected')
  const position = nested(fixture('stream.position').body, 'position')
  assert.equal(parsePosition({ ...position, class: 'warrant' }).instrument, 'STK')
  assert.equal(parsePosition({ ...position, class: undefined, symbol: 'ETH/USD' }).instrument, 'CRYPTO')
  const [transaction] = page('transactions', wire => parseTransaction({ ...wire, type: 'escheatment', class: 'warrant' })).items
  assert.deepEqual([transaction?.type, transaction?.brokerType, transaction?.instrument], ['OTHER', 'escheatment', null])
})

test('every offered value can be sent', () => {
  const { orderTypes, timesInForce, instruments } = SANDBOX_CAPABILITIES
  assert.deepEqual(new Set(Object.values(ORDER_ASSET_CLASSES.table)), new Set(instruments))
  assert.deepEqual(new Set(Object.values(ORDER_TYPES.table)), new Set(Object.values(orderTypes).flat()))
  assert.deepEqual(new Set(Object.values(TIME_IN_FORCE.table)), new Set(Object.values(timesInForce).flat()))
})

test('no answer makes the readers throw anything but Malformed, and an interpreter takes none for acceptance', () => {
  const parsers: readonly ((wire: Wire) => unknown)[] = [
    wire => pageOf({ body: JSON.stringify(wire) }).records.map(parseAccount),
    wire => pageOf({ body: JSON.stringify(wire) }).records.map(parsePosition),
    wire => pageOf({ body: JSON.stringify(wire) }).records.map(parseOrder),
    wire => pageOf({ body: JSON.stringify(wire) }).records.map(parseTransaction),
    wire => parseOrder(nested(wire, 'order')),
    parseOrder,
    parsePosition,
    parseTransaction,
    parseAccount,
    parseError
  ]
  const sent = { ...TICKET, brokerAccountId: MARGIN, brokerClOrdId: 'never-sent' }
  fc.assert(
    fc.property(mangled(), fc.constantFrom(200, 201, 202, 400, 409, 422, 500), (value, status) => {
      const body = JSON.stringify(value) ?? ''
      for (const parser of parsers) onlyMalformed(() => parser(readAnswer(body)))
      onlyMalformed(() => assert.notEqual(interpretSubmit({ status, headers: {}, body }, sent).kind, 'accepted'))
    }),
    { numRuns: 400 }
  )
})

/** A captured answer with one value, anywhere, replaced by something else. */
function mangled(): fc.Arbitrary<unknown> {
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('-0', '1e9', '', '2026-02-30T00:00:00.000Z', '__proto__', 0.1, null))
  return fc.tuple(fc.constantFrom(...fixtureNames()), fc.nat(200), anything).map(([name, at, value]) => {
    const { body } = fixture(name)
    const places = placesOf(body)
    return replaced(body, places[at % places.length] ?? [], value)
  })
}

function placesOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, item]) => placesOf(item, [...path, key]))]
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? replaced(item, rest, by) : item))
  if (typeof value !== 'object' || value === null) return by
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, name === key ? replaced(item, rest, by) : item]))
}

/** The outcome's kind, with its code when refused; what an interpreter throws counts as unknown, as the kit has it. */
function kindOf(run: () => ReturnType<typeof interpretSubmit> | ReturnType<typeof interpretCancel>): string {
  try {
    const outcome = run()
    return outcome.kind === 'refused' ? `refused ${outcome.brokerStatus}` : outcome.kind
  } catch (error) {
    assert.ok(error instanceof Malformed, String(error))
    return 'unknown'
  }
}

function onlyMalformed(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof Malformed, String(error))
  }
}

function parseAccountOf(wire: Wire): string {
  return String(field(wire, 'account'))
}
