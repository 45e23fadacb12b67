// The parts of the practice account on the live page that need no browser.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BarList } from '../../../src/http/docs/live/client/trading/bar-list.js'
import { FILLS_MAX, fillsOf, marksOf } from '../../../src/http/docs/live/client/trading/fills.js'
import { KeptOrder } from '../../../src/http/docs/live/client/trading/kept-order.js'

const START_S = Date.parse('2026-11-24T15:00:00Z') / 1_000
const COLORS = { buy: 'blue', sell: 'amber' }
type Orders = Parameters<typeof fillsOf>[0]
type Order = Orders extends Iterable<infer T> ? T : never

const fill = (id: string, time: string, price = '227.62', quantity = '3') => ({ fill_id: id, time, price, quantity, exec_dest: null })

function order(symbol: string | null, side: Order['side'], fills: Order['fills']): Order {
  const ids = { order_id: 'o', cl_order_id: 'c', user_id: 'u', connection_id: 'n', account_id: 'a', account_number: '1' }
  const state = { normalized_status: 'filled', broker_status: null, broker_message: null, reject_code: null } as const
  const terms = { order_qty: '3', order_notional: null, order_type: 'MKT', order_tif: 'DAY', order_limit_price: null } as const
  const rest = { broker_order_type: null, stop_price: null, instrument: 'STK', exec_dest: null, legs: null, revision: 1 } as const
  const related = { replaces_order_id: null, replaced_by_order_id: null, previously_filled_qty: null }
  const times = { trading_day: '2026-11-24', entry_time: '', last_exec_time: null, last_modified_time: '', system_time: '' }
  const submission = { state: 'acknowledged', since: '', attempts: 1, method: 'reply' } as const
  const sums = { platform: 'SANDBOX', broker: 'SANDBOX', filled_qty: '3', average_fill_price: '227.62' }
  return { ...ids, ...state, ...terms, ...rest, ...related, ...times, ...sums, submission, symbol, side, fills }
}

describe('fills of orders', () => {
  test('that are near each other have one text together, by side, so that none lies on another', () => {
    const list = new BarList()
    const minutes = Array.from({ length: 20 }, (_, minute) => START_S + 60 * minute)
    for (const start of minutes) list.put({ o: '1', h: '1', l: '1', c: '1', v: '1', st: 'c', ts: `${start}000000000` })
    const at = (s: number) => new Date((START_S + s) * 1_000).toISOString()
    const fills = fillsOf([
      order('AAPL', 'BUY', [fill('a', at(1), '227.5', '1.5'), fill('b', at(61), '227.6', '2'), fill('far', at(481), '227.6', '1')]),
      order('AAPL', 'SELL', [fill('c', at(3), '228', '4')])
    ])
    assert.deepEqual(
      marksOf(fills, list.all, COLORS).map(({ id, text, color }) => [id, text, color]),
      [
        ['a', 'BUY 3.5 in 2, SELL 4', 'blue'],
        ['c', '', 'amber'],
        ['b', '', 'blue'],
        ['far', 'BUY 1', 'blue']
      ]
    )
  })

  test('are listed newest first, bounded, with their exact texts, and without those of multi-leg orders', () => {
    const orders = [
      order('AAPL', 'BUY', [fill('1', '2026-11-24T15:00:00Z', '227.620000001')]),
      order('AAPL', 'SELL_TO_CLOSE', [fill('2', '2026-11-24T15:00:01.5Z')]),
      order(null, 'BUY', [fill('3', '2026-11-24T15:00:02Z')])
    ]
    assert.deepEqual(
      fillsOf(orders).map(({ id, side, price, seconds }) => [id, side, price, seconds - START_S]),
      [
        ['2', 'SELL', '227.62', 1.5],
        ['1', 'BUY', '227.620000001', 0]
      ]
    )
    const many = Array.from({ length: FILLS_MAX + 1 }, (_, at) => fill(String(at), new Date((START_S + at) * 1_000).toISOString()))
    const shown = fillsOf([order('AAPL', 'BUY', many)])
    assert.deepEqual([shown.length, shown[0]?.id, shown.at(-1)?.id], [FILLS_MAX, String(FILLS_MAX), '1'])
    const older = { ...order('MSFT', 'BUY', [fill('older', '2026-11-23T15:00:00Z')]), account_id: 'b' }
    const both = fillsOf([order('AAPL', 'BUY', many), older])
    assert.deepEqual([both.length, both.at(-1)?.id, both.at(-1)?.accountId], [FILLS_MAX + 1, 'older', 'b'], 'each account has its own')
  })

  test('are marked at their price, at the bar in which they happened, and not before the oldest bar', () => {
    const list = new BarList()
    for (const minute of [0, 1, 2]) list.put({ o: '1', h: '1', l: '1', c: '1', v: '1', st: 'c', ts: `${START_S + 60 * minute}000000000` })
    const at = (s: number) => new Date((START_S + s) * 1_000).toISOString()
    const fills = fillsOf([
      order('AAPL', 'BUY', [fill('early', at(-1)), fill('first', at(0), '227.5'), fill('second', at(119.9))]),
      order('AAPL', 'SELL', [fill('later', at(3_600), '228', '1.5')])
    ])
    assert.deepEqual(
      marksOf(fills, list.all, COLORS).map(({ id, time, price, text, color }) => [id, time - START_S, price, text, color]),
      [
        ['first', 0, 227.5, 'BUY 6 in 2, SELL 1.5', 'blue'],
        ['second', 60, 227.62, '', 'blue'],
        ['later', 120, 228, '', 'amber']
      ]
    )
    assert.deepEqual(marksOf(fills, [], COLORS), [])
  })
})

test('an order under way outlives the page, and what is no order is none', () => {
  const stored = new Map<string, string>()
  const storage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
    removeItem: (name: string) => void stored.delete(name)
  }
  const terms = {
    account_id: 'a',
    broker: 'SANDBOX',
    side: 'BUY',
    order_type: 'MKT',
    order_tif: 'DAY',
    symbol: 'AAPL',
    order_qty: '1'
  } as const
  new KeptOrder(storage, 'kept').keep({ ...terms, cl_order_id: 'live-1' })
  assert.deepEqual(new KeptOrder(storage, 'kept').order, { ...terms, cl_order_id: 'live-1' })
  for (const name of stored.keys())
    for (const text of ['{', 'null', '{}', '{"cl_order_id":1}']) {
      stored.set(name, text)
      assert.equal(new KeptOrder(storage, 'kept').order, null, text)
    }
  new KeptOrder(storage, 'another user').keep({ ...terms, cl_order_id: 'live-2' })
  new KeptOrder(storage, 'kept').forget()
  assert.equal(new KeptOrder(storage, 'another user').order?.cl_order_id, 'live-2')
  new KeptOrder(storage, 'another user').forget()
  assert.equal(stored.size, 0)
})
