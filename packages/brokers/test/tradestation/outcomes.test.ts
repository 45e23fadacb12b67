import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { interpretChange, interpretSubmit } from '../../src/tradestation/orders.ts'
import { ACCOUNT, NOW, reply, TICKET, unread } from './fixtures.ts'

after(() =>
  assert.deepEqual(
    unread(name => /^(submit|change)\.|^error\.(throttled|token)$/.test(name)),
    [],
    'fixtures that no test reads'
  )
)

const ORDER = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'a1b2c3d4e5f6g7h8i9j0k1' }

test('which answers to an order prove something', () => {
  const outcome = (name: string) => interpretSubmit(reply(name), ORDER, NOW)
  const taken = outcome('submit.taken')
  assert.ok(taken.kind === 'accepted')
  assert.deepEqual(
    [taken.value.brokerOrderId, taken.value.brokerClOrdId, taken.value.status, taken.value.entryTime, taken.value.symbol],
    ['900000001', null, 'pending', NOW, 'MSFT']
  )
  const refused = (name: string) => {
    const found = outcome(name)
    return found.kind === 'refused' ? `${found.brokerStatus}: ${found.message}` : found.kind
  }
  assert.deepEqual(
    ['submit.refused', 'submit.refused.among', 'submit.invalid', 'error.throttled', 'error.token', 'submit.twice', 'error.down'].map(
      refused
    ),
    [
      'FAILED: You are long 5 shares',
      'FAILED: Market closed',
      'BadRequest: Invalid quantity',
      'TooManyRequests: Rate quota exceeded',
      'Unauthorized: Token is expired',
      'unknown',
      'unknown'
    ]
  )
  const kindOf = (status: number, body: object) => interpretSubmit({ status, headers: {}, body: JSON.stringify(body) }, ORDER, NOW).kind
  const order = { OrderID: '1', Message: 'Sent' }
  const failed = { Error: 'FAILED', Message: 'no' }
  assert.equal(kindOf(200, { Orders: [order], Errors: [failed] }), 'unknown', 'an order and a failure')
  assert.equal(kindOf(200, { Orders: [order, order] }), 'unknown', 'two orders')
  assert.equal(kindOf(200, { Orders: [], Errors: [] }), 'unknown', 'neither')
  assert.equal(kindOf(200, { Orders: [{ Error: 'FAILED', Message: 'Order failed. Reason: Unknown error.' }] }), 'unknown', 'no reason')
  assert.equal(kindOf(200, { Orders: [], Errors: [{ Error: 'GatewayTimeout', Message: 'late' }] }), 'unknown')
  assert.equal(kindOf(201, { Orders: [order], Errors: [] }), 'unknown')
  const internalFailure = { Error: 'FAILED', Message: 'Order failed. Reason: The gateway timed out.' }
  assert.equal(kindOf(200, { Orders: [], Errors: [internalFailure] }), 'unknown', 'internal failure')
  assert.equal(kindOf(500, failed), 'unknown', 'the status leaves it open')
})

test('which answers to a cancel or a replacement prove something', () => {
  const kind = (name: string, of: 'cancel' | 'replace' = 'cancel') => interpretChange(reply(name), '9000-00001', of).kind
  assert.deepEqual(
    [kind('change.taken'), kind('change.over'), kind('change.under-way'), kind('change.under-way', 'replace'), kind('error.down')],
    ['accepted', 'refused', 'accepted', 'refused', 'unknown']
  )
  assert.throws(() => interpretChange(reply('change.taken'), '900000002', 'cancel'), Malformed)
})
