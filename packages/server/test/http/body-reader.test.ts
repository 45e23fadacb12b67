import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import { bodyReader } from '../../src/http/body-reader.ts'
import { record } from '../../src/wire/common.ts'
import { connectionTicket } from '../../src/wire/connection.ts'
import { orderTicket } from '../../src/wire/order.ts'

const GOOD = {
  account_id: '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71',
  cl_order_id: 'a-1',
  broker: 'SANDBOX',
  side: 'BUY',
  order_type: 'MKT',
  order_tif: 'DAY',
  symbol: 'AAPL',
  order_qty: '1'
}
const LEG = { symbol: 'AAPL261218C00200000', action: 'BUY_TO_OPEN', ratio: '1' }
const reader = bodyReader(orderTicket)

function complaints(body: unknown): readonly (readonly [string, string])[] {
  try {
    reader.read(body)
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'field_invalid')
    return error.details.map(({ path, message }) => [path, message] as const)
  }
  return []
}

test('a valid body is returned unchanged', () => {
  assert.equal(reader.read(GOOD), GOOD)
  const withNulls = { ...GOOD, instrument: null, order_notional: null, order_limit_price: null, stop_price: null, legs: null }
  assert.equal(reader.read(withNulls), withNulls)
})

test('each error names its field, what was expected and what was found', () => {
  assert.deepEqual(complaints({ ...GOOD, order_qty: 1 }), [
    ['order_qty', 'must be a plain decimal string such as "1.50", at most 38 digits, was 1']
  ])
  assert.deepEqual(complaints({ ...GOOD, side: 'buy' }), [
    ['side', 'must be one of BUY, SELL, BUY_TO_OPEN, SELL_TO_OPEN, BUY_TO_CLOSE, SELL_TO_CLOSE, was "buy"']
  ])
  assert.deepEqual(complaints({ ...GOOD, legs: [{ ...LEG, ratio: 1 }, LEG] }), [
    ['legs.0.ratio', 'must be a positive whole number as a string, such as "1", was 1']
  ])
  assert.deepEqual(complaints({ ...GOOD, legs: [LEG] }), [['legs', 'must be a list of 2 to 4 legs, was a list of 1']])
  assert.deepEqual(complaints({ ...GOOD, account_id: '' }), [['account_id', 'must be a UUID, was ""']])
  assert.deepEqual(complaints({ ...GOOD, account_id: [] }), [['account_id', 'must be a UUID, was a list of 0']])
  assert.deepEqual(complaints({ ...GOOD, broker: { a: 1 } }), [
    ['broker', 'must be an upper-case broker name such as SANDBOX, was an object']
  ])
})

test('a field that is missing and one that is unknown are both named', () => {
  const { side: _, ...rest } = GOOD
  const [required, unknown] = complaints({ ...rest, sid: 'BUY' })
    .toSorted()
    .reverse()
  assert.deepEqual(required?.slice(0, 1).concat(required[1] ?? ''), ['side', 'is required'])
  assert.equal(unknown?.[0], 'sid')
  assert.match(unknown?.[1] ?? '', /^is not a field of this request; it takes account_id, cl_order_id, /)
  assert.equal(complaints({ ...GOOD, legs: [LEG, { ...LEG, price: '1' }] })[0]?.[0], 'legs.1.price')
})

test('a body that is not an object, or is missing, is refused', () => {
  for (const body of [[], 'text', 5, true, null]) assert.equal(complaints(body)[0]?.[0], '', JSON.stringify(body))
  assert.throws(
    () => reader.read(undefined),
    (error: unknown) => error instanceof ServiceError && error.code === 'body_malformed'
  )
})

test('a nullable enum accepts a value of the list or null', () => {
  const connections = bodyReader(connectionTicket)
  assert.deepEqual(connections.read({ connection_type: 'trade', type: null }), { connection_type: 'trade', type: null })
  assert.throws(
    () => connections.read({ connection_type: 'TRADE' }),
    /connection_type must be one of readonly, trade, market_data, was "TRADE"/
  )
})

test('of a hundred thousand wrong fields only a few are reported', () => {
  const flood = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1]))
  assert.ok(complaints(flood).length <= 20)
})

test('the error of a request without fields says that it takes none', () => {
  const { details } = thrownBy(() => bodyReader(record('Nothing', 'No fields.', {})).read({ a: 1 }))
  assert.deepEqual(details, [{ path: 'a', message: 'is not a field of this request; it takes none' }])
})

function thrownBy(work: () => unknown): ServiceError {
  try {
    work()
  } catch (error) {
    if (error instanceof ServiceError) return error
  }
  return assert.fail('nothing was thrown')
}
