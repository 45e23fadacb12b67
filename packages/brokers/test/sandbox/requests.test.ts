import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseDay, parseTimestamp } from '@trunkline/core/domain/timestamp'
import { ACCOUNTS, BALANCES, ORDERS, POSITIONS, SANDBOX_READS, TRANSACTIONS } from '../../src/sandbox/definition.ts'
import { replaceRequest, SANDBOX_ORDERS, submitRequest } from '../../src/sandbox/orders.ts'
import { TICKET } from './fixtures.ts'

const ORDER = { ...TICKET, brokerAccountId: 'acc', brokerClOrdId: 'c1' }

test('a submit has the terms of the ticket, to the letter, and nothing that is null', () => {
  const { body, ...rest } = submitRequest(ORDER)
  assert.deepEqual(rest, {
    method: 'POST',
    path: '/api/v1/orders',
    headers: ['accept', 'application/json', 'content-type', 'application/json']
  })
  assert.equal(
    body,
    '{"account":"acc","client_order_id":"c1","symbol":"SPY","direction":"buy","kind":"limit","lifetime":"day","quantity":"5","limit":"610.00"}'
  )
  const stop = submitRequest({ ...ORDER, side: 'SELL', type: 'STPLMT', tif: 'GTC+', stopPrice: parseDecimal('0.10', 'stop') })
  assert.match(stop.body ?? '', /"direction":"sell","kind":"stop_limit","lifetime":"gtc_ext","quantity":"5","limit":"610.00","stop":"0.10"/)
  const notional = submitRequest({ ...ORDER, type: 'MKT', quantity: null, notional: parseDecimal('99.50', 'n'), limitPrice: null })
  assert.match(notional.body ?? '', /"lifetime":"day","notional":"99.50"}$/)
})

test('a value the sandbox does not have is not replaced by a similar one', () => {
  assert.throws(() => submitRequest({ ...ORDER, side: 'BUY_TO_OPEN' }), Malformed)
})

test('a replacement carries the new id and the whole of its figures', () => {
  const { path, body } = replaceRequest({ brokerAccountId: 'acc', brokerOrderId: 'a/b?c', brokerClOrdId: 'c2', ticket: TICKET })
  assert.equal(path, '/api/v1/orders/a%2Fb%3Fc/amend')
  assert.equal(body, '{"client_order_id":"c2","quantity":"5","limit":"610.00"}')
})

test('paths and queries are encoded', () => {
  const since = parseTimestamp('2026-01-05T15:00:00Z', 'since')
  const day = parseDay('2026-01-05', 'day')
  const paths = [
    ACCOUNTS.request(null, null),
    BALANCES.request({ account: 'a&b' }, 'x=y'),
    POSITIONS.request({ account: 'acc' }, null),
    ORDERS.request({ account: 'acc', state: 'open', since: null }, null),
    ORDERS.request({ account: 'acc', state: 'all', since }, 'next'),
    TRANSACTIONS.request({ account: 'acc', from: day, to: day }, null),
    ...SANDBOX_READS.order.requests({ by: 'brokerClOrdId', brokerAccountId: 'acc', brokerClOrdId: 'a b/c' }, since),
    ...SANDBOX_READS.order.requests({ by: 'brokerOrderId', brokerAccountId: 'acc', brokerOrderId: '../x' }, since),
    SANDBOX_ORDERS.cancel.request('acc', 'o#1')
  ].map(request => `${request?.method} ${request?.path}`)
  assert.deepEqual(paths, [
    'GET /api/v1/accounts',
    'GET /api/v1/balances?account=a%26b&cursor=x%3Dy',
    'GET /api/v1/positions?account=acc',
    'GET /api/v1/orders?account=acc&state=open&limit=500',
    'GET /api/v1/orders?account=acc&state=all&since=2026-01-05T15%3A00%3A00.000000Z&limit=500&cursor=next',
    'GET /api/v1/transactions?account=acc&from=2026-01-05&to=2026-01-05&limit=500',
    'GET /api/v1/orders/find?client_order_id=a+b%2Fc&account=acc',
    'GET /api/v1/orders/..%2Fx',
    'DELETE /api/v1/orders/o%231'
  ])
})
