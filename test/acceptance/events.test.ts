// The log behind the broker stream, read by REST: whole, in order, page by page, and equal to the other reads.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual, promisify } from 'node:util'
import { INHERITED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'
import type { Answer, Api, Body, User } from './api.ts'
import { type RunningService, startService } from './harness.ts'
import { connectAda } from './linking.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const FINAL = ['filled', 'cancelled', 'rejected', 'replaced', 'expired']

describe('events', () => {
  let service: RunningService
  let api: Api
  let ada: User
  let connectionId: string
  let accountId: string
  let count = 0
  before(async () => {
    service = await startService('embedded')
    ;({ api, ada, connectionId, accountId } = await connectAda(service))
  })
  after(() => service[Symbol.asyncDispose]())

  const ask = (query: string): Promise<Answer> => api.call('GET', `/events${query}`, { headers: api.platform })
  const page = async (query: string): Promise<Body> => {
    const { status, body, text } = await ask(query)
    assert.equal(status, 200, text)
    return body
  }
  const place = async (change: Body): Promise<Body> => {
    const order = { account_id: accountId, cl_order_id: `event-${++count}`, broker: 'SANDBOX', side: 'BUY', symbol: 'AAPL', ...change }
    const { status, body, text } = await api.call('POST', '/orders', { headers: api.as(ada), body: order })
    assert.equal(status, 201, text)
    return body
  }
  const market = () => place({ order_type: 'MKT', order_tif: 'DAY', order_qty: '2' })
  const resting = () => place({ order_type: 'LMT', order_tif: 'GTC', order_qty: '2', order_limit_price: '1.00' })
  const orders = async (): Promise<readonly Body[]> => (await api.call('GET', '/orders?limit=500', { headers: api.as(ada) })).body.data
  const settled = (...ids: readonly string[]) =>
    until(async () => {
      const found = (await orders()).filter(({ order_id }) => ids.includes(order_id))
      return found.length === ids.length && found.every(({ normalized_status: status }) => FINAL.includes(status))
    }, 'the orders came to their ends')

  /** Every update from `from` on, asked for in pages of `limit`. */
  const walk = async (limit: number, from = 0): Promise<readonly Body[]> => {
    const rows: Body[] = []
    for (let at: number | null = from; at !== null; ) {
      const { data, next_after } = await page(`?user_id=ada&limit=${limit}&after=${at}`)
      assert.ok(data.length <= limit)
      assert.equal(next_after === null || next_after === data.at(-1).seq, true)
      rows.push(...data)
      at = next_after
    }
    return rows
  }

  test('an answered request is in the log already', async () => {
    const placed = [await market(), await resting()]
    for (const { order_id } of placed) {
      const updates = (await page('?user_id=ada&limit=1000')).data.filter(
        ({ type, data }: Body) => type === 'orders' && data.order_id === order_id
      )
      assert.ok(updates.length > 0, 'the order is in the log')
      assert.equal(updates[0].data.normalized_status, 'pending', 'from its beginning')
    }
    const [bought, open] = placed
    const cancel = await api.call('DELETE', `/accounts/${accountId}/orders/${open.order_id}`, { headers: api.as(ada) })
    const { data } = await page('?user_id=ada&limit=1000')
    assert.ok(
      data.some((row: Body) => row.type === 'orders' && JSON.stringify(row.data) === JSON.stringify(cancel.body)),
      'the very record that was answered'
    )
    await settled(bought.order_id, open.order_id)
  })

  test('the log has every update once, numbered without a gap, and ends with the other reads', async () => {
    const open = await Promise.all(Array.from({ length: 10 }, () => resting()))
    const bought = await Promise.all(Array.from({ length: 10 }, () => market()))
    const headers = api.as(ada)
    const replaced = open.slice(0, 5).map(async ({ order_id, cl_order_id }) => {
      const body = { new_cl_order_id: `${cl_order_id}-b`, broker: 'SANDBOX', order_qty: '3', order_limit_price: '1.01' }
      const changed = await api.call('PATCH', `/accounts/${accountId}/orders/${order_id}`, { headers, body })
      assert.equal(changed.status, 200, changed.text)
      const cancelled = await api.call('DELETE', `/accounts/${accountId}/orders/${changed.body.order_id}`, { headers })
      assert.equal(cancelled.status, 200, cancelled.text)
      return changed.body
    })
    const cancelled = open.slice(5).map(async order => {
      const { status, text } = await api.call('DELETE', `/accounts/${accountId}/orders/${order.order_id}`, { headers })
      assert.equal(status, 200, text)
    })
    const successors = await Promise.all(replaced)
    await Promise.all(cancelled)
    await settled(...[...open, ...bought, ...successors].map(({ order_id }) => order_id))

    let rows: readonly Body[] = []
    let listed: readonly Body[] = []
    // The broker may confirm a replacement once more after the order has ended here.
    await until(async () => {
      const before = await orders()
      rows = await walk(1_000)
      listed = await orders()
      return isDeepStrictEqual(before, listed)
    }, 'no order changes while the log is read')
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      rows.map((_, index) => index + 1)
    )
    assert.equal(new Set(rows.map(({ event_id }) => event_id)).size, rows.length)
    assert.ok(rows.every(({ user_id }) => user_id === 'ada'))
    assert.deepEqual([...new Set(rows.map(({ type }) => type))].sort(), ['balances', 'orders', 'positions'])
    const newest = new Map<string, Body>(rows.filter(({ type }) => type === 'orders').map(({ data }) => [data.order_id, data]))
    assert.equal(listed.length, newest.size)
    for (const order of listed) assert.deepEqual(newest.get(order.order_id), order)
  })

  test('pages of any size give the same log, and one can begin anywhere', async () => {
    const { data: whole, last_seq, oldest_seq } = await page('?user_id=ada&limit=1000')
    assert.equal(oldest_seq, 1)
    for (const limit of [1, 7, 100]) {
      const rows = await walk(limit)
      assert.deepEqual(rows.slice(0, whole.length), whole)
    }
    const middle = Math.floor(last_seq / 2)
    assert.deepEqual((await walk(50, middle)).slice(0, whole.length - middle), whole.slice(middle))
    const first = await page('?user_id=ada')
    assert.equal(first.data.length, Math.min(100, first.last_seq), 'a hundred by default')
    assert.deepEqual((await page('?user_id=ada&limit=2')).next_after, 2)
    assert.deepEqual((await api.call('GET', '/v1/events?user_id=ada&limit=5', { headers: api.platform })).body.data, whole.slice(0, 5))
  })

  test('beyond the end is an empty page; so is the log of a user to whom nothing happened', async () => {
    const { last_seq } = await page('?user_id=ada')
    const beyond = await page(`?user_id=ada&after=${last_seq + 1_000_000}`)
    assert.deepEqual([beyond.data, beyond.next_after, beyond.oldest_seq], [[], null, 1])
    assert.ok(beyond.last_seq >= last_seq)
    await api.user('quiet')
    assert.deepEqual(await page('?user_id=quiet'), { data: [], next_after: null, oldest_seq: 1, last_seq: 0 })
  })

  test('what is asked wrongly is refused, naming the parameter', async () => {
    const wrong = [
      ['', 'user_id'],
      ['?after=1', 'user_id'],
      ['?user_id=', 'user_id'],
      [`?user_id=${'x'.repeat(65)}`, 'user_id'],
      ['?user_id=a%0Ab', 'user_id'],
      ['?user_id=ada&user_id=ada', 'user_id'],
      ...['-1', '1.5', '1e3', 'x', '', '01', '9007199254740993', '99999999999999999999'].map(after => [
        `?user_id=ada&after=${after}`,
        'after'
      ]),
      ...['0', '1001', '-1', 'all'].map(limit => [`?user_id=ada&limit=${limit}`, 'limit']),
      ['?user_id=ada&topic=orders', 'topic']
    ] as const
    for (const [query, name = ''] of wrong) {
      const { status, body } = await ask(query)
      assert.deepEqual([status, body.code, body.details?.[0]?.path], [422, 'query_invalid', name], query)
    }
    assert.deepEqual((await page('?user_id=ada&after=9007199254740991')).data, [])
  })

  test('only the platform itself reads it, and only of its own users', async () => {
    assert.equal((await api.call('GET', '/events?user_id=ada')).status, 401)
    const missing = await ask('?user_id=nobody')
    assert.deepEqual([missing.status, missing.body.code], [404, 'user_not_found'])
    const other = await otherPlatform(service)
    const foreign = await api.call('GET', '/events?user_id=ada', { headers: other })
    assert.deepEqual({ ...foreign.body, request_id: null }, { ...missing.body, request_id: null })
    assert.equal(foreign.status, 404)
  })

  test('the log outlives a connection and goes with its user', async () => {
    const before = await walk(1_000)
    const removed = await api.call('DELETE', `/connections/${connectionId}`, { headers: api.as(ada) })
    assert.equal(removed.status, 200, removed.text)
    assert.deepEqual((await walk(1_000)).slice(0, before.length), before)
    assert.equal((await api.call('DELETE', '/users/ada', { headers: api.platform })).status, 200)
    assert.equal((await ask('?user_id=ada')).status, 404)
    await api.user('ada')
    assert.deepEqual(await page('?user_id=ada'), { data: [], next_after: null, oldest_seq: 1, last_seq: 0 })
  })
})

/** Credentials of a platform that the operator makes now. */
async function otherPlatform({ dataDir }: RunningService): Promise<Readonly<Record<string, string>>> {
  const cli = join(ROOT, 'packages/server/src/cli.ts')
  const env = { ...INHERITED, TRUNKLINE_DATA_DIR: dataDir }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, 'platform', 'create', '--claim', 'off', '--name', 'Other', '--json'],
    { env }
  )
  const { client_id, client_secret } = JSON.parse(stdout)
  return { 'client-id': client_id, 'client-secret': client_secret }
}
