// What updates hold, from an order's first state to its last: end to end through a brokerage, whatever caused it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from './api.ts'
import type { StreamClient } from './stream-client.ts'
import { accumulated, assertAgrees, assertLawful, assertSameUpdates, historiesOf, isReceived } from './stream-ledger.ts'
import { ASK, BID, type Stage, type Trader } from './stream-stage.ts'

const BALANCE_FIELDS =
  'account_number connection_id account_id user_id currency_code cash buying_power initial_margin maintenance_margin reg_t_buying_power system_time'
const POSITION_FIELDS =
  'connection_id account_id account_number user_id symbol quantity last_price position_average_price unrealized_pl realized_pl daily_pl total_pl instrument broker_position_id system_time'
const ORDER_FIELDS =
  'order_id cl_order_id user_id connection_id account_id account_number platform broker normalized_status broker_status broker_message side order_qty order_notional order_type broker_order_type order_tif order_limit_price stop_price symbol instrument exec_dest entry_time last_exec_time last_modified_time system_time fills legs'
const NUMBERS: Readonly<Record<string, string>> = {
  orders: 'order_qty order_notional order_limit_price stop_price filled_qty average_fill_price',
  positions: 'quantity last_price position_average_price unrealized_pl realized_pl daily_pl total_pl',
  balances: 'cash buying_power initial_margin maintenance_margin reg_t_buying_power equity market_value'
}
const MICROSECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/

export function updateCases(open: () => Stage): void {
  /** A session that receives everything of the trader, from its first update. */
  const watching = async (trader: Trader): Promise<StreamClient> => {
    const client = await open().session(['all'])
    await client.follow(trader.userId, 0)
    return client
  }
  const untilStatus = (client: StreamClient, { cl_order_id }: Body, ...statuses: readonly string[]): Promise<void> =>
    client.until(() => isReceived(client.updates, cl_order_id, ...statuses), `${cl_order_id} is ${statuses.join(' or ')}`)
  const lastPosition = (client: StreamClient): Body => accumulated(client.updates).positions.get('AAPL')
  const lastCash = (client: StreamClient): string => accumulated(client.updates).balances.get('USD')?.cash

  test('a purchase is sent from its placing to its position and its price', async () => {
    const ada = await open().trader('ada')
    await using client = await watching(ada)
    const placed = await ada.buy('10')
    await untilStatus(client, placed, 'filled')
    await client.until(() => lastPosition(client)?.quantity === '10', 'the position is there')
    await client.until(() => lastCash(client)?.startsWith('9998999') === true, 'it has been paid')
    const { orders, positions, balances } = accumulated(client.updates)
    const order = orders.get(placed.order_id)
    assert.deepEqual([order.side, order.symbol, order.filled_qty, order.average_fill_price], ['BUY', 'AAPL', '10', ASK])
    assert.equal(order.fills.length, 1)
    assert.deepEqual(Object.keys(order.fills[0]).toSorted(), ['exec_dest', 'fill_id', 'price', 'quantity', 'time'])
    assertFields(order, ORDER_FIELDS, ['entry_time', 'last_exec_time', 'last_modified_time', 'system_time'])
    assertFields(positions.get('AAPL'), POSITION_FIELDS, ['system_time'])
    assertFields(balances.get('USD'), BALANCE_FIELDS, ['system_time'])
    for (const { message } of client.updates) {
      assert.equal(message.user_id, ada.userId)
      assert.equal(Array.isArray(message.data), message.type === 'positions')
      for (const record of [message.data].flat()) {
        assert.deepEqual([record.user_id, record.account_id, record.connection_id], [ada.userId, ada.accountId, ada.connectionId])
        for (const field of (NUMBERS[message.type] ?? '').split(' ')) {
          const value = record[field]
          assert.ok(value === null || (typeof value === 'string' && NUMBER.test(value)), `${message.type}.${field} is ${value}`)
        }
      }
    }
    assertLawful(client.updates, 0)
    assertAgrees(client.updates, placed)
    assert.deepEqual((await ada.orders())[0], order, 'REST shows the very record')
  })

  test('a sale that closes a position is marked as such', async () => {
    const ada = await open().trader('ada')
    await using client = await watching(ada)
    await ada.buy('4')
    await client.until(() => lastPosition(client)?.quantity === '4', 'the position is there')
    await ada.buy('4', { side: 'SELL' })
    await client.until(() => lastPosition(client) === undefined, 'the position is sent with the quantity 0')
    assert.deepEqual((await ada.call('GET', '/positions')).body, [])
    assertLawful(client.updates, 0)
  })

  test('a fill in parts is sent in parts, each once', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using client = await watching(ada)
    const order = await ada.rest({ order_limit_price: '95.00', order_qty: '10' })
    await untilStatus(client, order, 'working')
    await stage.quote([['94.00', '1000000']], [['95.00', '4']])
    await untilStatus(client, order, 'partially_filled')
    await stage.quote([['94.00', '1000000']], [['95.00', '1000000']])
    await untilStatus(client, order, 'filled')
    await stage.quote([[BID, '1000000']], [[ASK, '1000000']])
    const history = historiesOf(client.updates).get(order.order_id) ?? []
    const partial = history.find(({ normalized_status }) => normalized_status === 'partially_filled')
    assert.equal(partial.filled_qty, '4')
    const quantities = history.at(-1)?.fills.map(({ quantity }: Body) => quantity)
    assert.deepEqual(quantities, ['4', '6'])
    await client.until(() => lastPosition(client)?.quantity === '10', 'all of it is held')
    assertLawful(client.updates, 0)
  })

  test('a modification ends one order and begins another; a cancellation ends it', async () => {
    const ada = await open().trader('ada')
    await using client = await watching(ada)
    const old = await ada.rest()
    await untilStatus(client, old, 'working')
    const next = await ada.modify(old, { order_qty: '5', order_limit_price: '1.01' })
    await untilStatus(client, old, 'replaced')
    await untilStatus(client, next, 'working')
    const cancelled = await ada.cancel(next)
    await untilStatus(client, next, 'cancelled')
    const { orders } = accumulated(client.updates)
    assert.equal(orders.get(old.order_id).replaced_by_order_id, next.order_id)
    assert.deepEqual(
      [orders.get(next.order_id).replaces_order_id, orders.get(next.order_id).order_qty, orders.get(next.order_id).order_limit_price],
      [old.order_id, '5', '1.01']
    )
    assertLawful(client.updates, 0)
    for (const answered of [old, next, cancelled]) assertAgrees(client.updates, answered)
  })

  test('a refusal is sent with its reason', async () => {
    const ada = await open().trader('ada')
    await using client = await watching(ada)
    const order = await ada.buy('10000000')
    await untilStatus(client, order, 'rejected')
    const streamed = accumulated(client.updates).orders.get(order.order_id)
    assert.equal(typeof streamed.broker_message, 'string')
    assert.equal(streamed.reject_code, 'insufficient_funds')
    assert.deepEqual([streamed.fills, streamed.filled_qty], [[], '0'])
    assertLawful(client.updates, 0)
  })

  test('what is done elsewhere at the broker is sent alike', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using client = await watching(ada)
    const bought = await ada.buyElsewhere('7')
    const hasUpdate = (id: string, ...statuses: readonly string[]) => isReceived(client.updates, id, ...statuses)
    await client.until(() => hasUpdate(bought.client_order_id, 'filled') || hasUpdate(bought.id, 'filled'), 'the purchase is sent')
    await client.until(() => lastPosition(client)?.quantity === '7', 'the position is sent')
    const resting = await ada.buyElsewhere('1', { kind: 'limit', lifetime: 'gtc', limit: '1.00' })
    await client.until(() => hasUpdate(resting.client_order_id, 'working') || hasUpdate(resting.id, 'working'), 'the open order is sent')
    await stage.control('POST', `/orders/${resting.id}/cancel`)
    await client.until(() => hasUpdate(resting.client_order_id, 'cancelled') || hasUpdate(resting.id, 'cancelled'), 'its end is sent')
    assertLawful(client.updates, 0)
    assert.equal((await ada.orders()).length, 2)
  })

  test('all sessions are sent the same, byte for byte', async () => {
    const stage = open()
    const ada = await stage.trader('ada')
    await using first = await watching(ada)
    await using second = await stage.session(['orders', 'positions', 'balances'], { extensions: ['stream_status'] })
    const after = await second.follow(ada.userId)
    const orders = await Promise.all(Array.from({ length: 8 }, () => ada.buy()))
    for (const order of orders) await untilStatus(first, order, 'filled')
    await assertSameUpdates(second, first, ada.userId, { after })
  })

  test('what a session receives can be read by REST already', async () => {
    const ada = await open().trader('ada')
    await using client = await watching(ada)
    const reads: Promise<void>[] = []
    client.onUpdate = ({ message }) => {
      const read = assertReadable(ada, message)
      read.catch(() => undefined) // it is awaited below
      reads.push(read)
    }
    const resting = await Promise.all(Array.from({ length: 4 }, () => ada.rest()))
    await Promise.all([...resting.map(order => ada.cancel(order)), ...Array.from({ length: 8 }, () => ada.buy())])
    for (const order of resting) await untilStatus(client, order, 'cancelled')
    await client.until(() => lastPosition(client)?.quantity === '8', 'all of it is held')
    assert.ok(reads.length >= 25, `${reads.length} reads`)
    await Promise.all(reads)
    assertLawful(client.updates, 0)
  })

  test('under many requests at once no answer is contradicted, and what was sent adds up to what REST shows', async () => {
    const ada = await open().trader('ada')
    await using client = await watching(ada)
    const answers: Body[] = []
    const note = (answer: Body): Body => {
      answers.push(answer)
      return answer
    }
    const scenario = async (index: number): Promise<Body> => {
      if (index % 3 === 0) return note(await ada.buy())
      const order = note(await ada.rest())
      if (index % 3 === 1) return note(await ada.cancel(order))
      return note(await ada.cancel(note(await ada.modify(order, { order_limit_price: '1.02' }))))
    }
    const ends = await Promise.all(Array.from({ length: 30 }, (_, index) => scenario(index)))
    for (const end of ends) await untilStatus(client, end, 'filled', 'cancelled')
    await client.until(() => lastPosition(client)?.quantity === '10', 'all of it is held')
    assertLawful(client.updates, 0)
    for (const answer of answers) assertAgrees(client.updates, answer)
    const rows = await ada.orders()
    const streamed = accumulated(client.updates)
    assert.deepEqual(rows.toSorted(byId), [...streamed.orders.values()].toSorted(byId), 'every order as it was last sent, and none besides')
    const [position] = (await ada.call('GET', '/positions')).body
    assert.deepEqual({ ...position, system_time: null }, { ...streamed.positions.get('AAPL'), system_time: null })
    const [balance] = (await ada.call('GET', '/balances')).body
    await client.until(() => lastCash(client) === balance.cash, 'the balance is sent')
  })
}

function byId(a: Body, b: Body): number {
  return a.order_id < b.order_id ? -1 : 1
}

function assertFields(record: Body, fields: string, times: readonly string[]): void {
  for (const field of fields.split(' ')) assert.ok(field in record, `${field} is missing`)
  for (const time of times) assert.match(record[time], MICROSECONDS, time)
}

/** Fails when REST shows something older than the update just received. */
async function assertReadable(trader: Trader, { type, data }: Body): Promise<void> {
  if (type === 'orders') {
    const row = (await trader.orders()).find(({ order_id }) => order_id === data.order_id)
    assert.ok(row !== undefined, `an update had the order ${data.order_id}, and REST does not know it`)
    assert.ok(row.revision >= data.revision, `revision ${data.revision} was sent, and REST shows ${row.revision}`)
    return
  }
  const rows: readonly Body[] = (await trader.call('GET', `/${type}?account_id=${trader.accountId}`)).body
  for (const record of [data].flat()) {
    const key = type === 'positions' ? 'symbol' : 'currency_code'
    const row = rows.find(one => one[key] === record[key])
    assert.ok(row !== undefined, `${record[key]} was sent, and REST does not show it`)
    assert.ok(
      row.system_time >= record.system_time,
      `${type} of ${record.system_time} were sent, and REST shows those of ${row.system_time}`
    )
  }
}
