// Orders that never reached a broker which knows no id of ours: only an operator's statement ends them, and that only where it can be true.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { Body, User } from './api.ts'
import { link } from './linking.ts'
import type { StreamClient } from './stream-client.ts'
import { Stage } from './stream-stage.ts'

/** What may still be on its way here, in seconds: five times the setting. */
const SETTINGS = { TRUNKLINE_ABSENCE_SECONDS: '3' }
/** Each try is a process. */
const COMMAND_EVERY_MS = 2_000

describe('orders of unknown outcome', () => {
  let stage: Stage
  let user: User
  let account: Body
  let watcher: StreamClient
  before(async () => {
    stage = await Stage.open('postgres', SETTINGS)
    user = await stage.api.user('patient')
    const { login } = await stage.control('POST', '/logins', { username: 'patient', accounts: [{ kind: 'margin', cash: '10000000' }] })
    await link(stage.api, user, 'trade', login, 'TRADESTATION')
    const { body } = await stage.api.call('GET', '/accounts', { headers: stage.api.as(user) })
    account = body[0]
    watcher = await stage.session(['orders'])
    await watcher.follow(user.userId)
  })
  after(async () => {
    await watcher?.close()
    await stage?.[Symbol.asyncDispose]()
  })

  const call = (method: string, address: string, body?: unknown) =>
    stage.api.call(method, address, { headers: stage.api.as(user), ...(body !== undefined && { body }) })
  const place = async (name: string, price: string): Promise<Body> => {
    const { status, body, text } = await call('POST', '/orders', {
      ...{ account_id: account.account_id, broker: 'TRADESTATION', cl_order_id: name, symbol: 'AAPL', side: 'BUY' },
      ...{ order_type: 'LMT', order_tif: 'DAY', order_qty: '3', order_limit_price: price }
    })
    assert.equal(status, 201, text)
    return body
  }
  const order = async ({ order_id }: Body): Promise<Body> =>
    (await call('GET', '/orders?limit=100')).body.data.find((one: Body) => one.order_id === order_id)
  const ended = (orderId: string, ...more: readonly string[]): Promise<Body> =>
    stage.operate('orders', 'never-received', orderId, '--because', 'the broker’s operations says so', ...more)
  const refusedWith = async (work: Promise<Body>): Promise<string> =>
    work.then(
      answer => assert.fail(`it was done: ${JSON.stringify(answer)}`),
      cause => String(cause.stderr)
    )

  test('a request that was lost on its way stays pending, is listed, and is ended by the operator', async () => {
    assert.deepEqual(await stage.operate('orders', 'unresolved'), [])
    await stage.control('POST', '/faults', { on: 'orders.submit', do: 'reset', times: 1 })
    const lost = await place('lost-1', '41.25')
    assert.deepEqual([lost.normalized_status, lost.submission.state], ['pending', 'unknown'])
    assert.match(await refusedWith(ended(lost.order_id)), /may still be on its way/)
    const [listed, ...others] = await stage.operate('orders', 'unresolved')
    assert.deepEqual(others, [])
    assert.deepEqual(
      [listed.order_id, listed.user_id, listed.broker, listed.asks],
      [lost.order_id, user.userId, 'TRADESTATION', 'BUY 3 AAPL LMT 41.25 DAY']
    )
    let settled: Body = null
    const isEnded = async () => {
      settled = await ended(lost.order_id).catch(() => null)
      return settled !== null
    }
    await until(isEnded, 'the order is ended', PATIENCE_MS, COMMAND_EVERY_MS)
    assert.deepEqual([settled.normalized_status, settled.submission], ['rejected', 'not_received'])
    const record = await order(lost)
    assert.deepEqual(
      [record.normalized_status, record.submission.state, record.submission.method, record.submission.attempts],
      ['rejected', 'not_received', 'operator', 1]
    )
    await watcher.until(
      () =>
        watcher
          .of(user.userId)
          .some(({ message }) => message.data.order_id === lost.order_id && message.data.normalized_status === 'rejected'),
      'the stream says so'
    )
    const [entry] = await stage.operate('audit', 'list', '--limit', '1')
    assert.deepEqual(
      [entry.action, entry.target, entry.detail.because],
      ['order.never_received', lost.order_id, 'the broker’s operations says so']
    )
    assert.deepEqual(await stage.operate('orders', 'unresolved'), [])
    // It can be placed again, and is another order.
    const again = await place('lost-2', '41.25')
    await until(async () => (await order(again)).normalized_status === 'working', 'the new one is at the broker', PATIENCE_MS)
    assert.equal((await order(lost)).normalized_status, 'rejected')
  })

  test('an order whose answer was lost is found, and cannot be ended', async () => {
    await stage.control('POST', '/faults', { on: 'orders.submit', do: 'lose_answer', times: 1 })
    const placed = await place('found-1', '42.50')
    await until(async () => (await order(placed)).normalized_status === 'working', 'it is found', PATIENCE_MS)
    assert.match(await refusedWith(ended(placed.order_id)), /is known: it is working/)
    assert.match(await refusedWith(ended(placed.order_id, '--unseen')), /is known: it is working/)
    assert.equal((await order(placed)).normalized_status, 'working')
  })
})
