// Orders and what they leave behind: placing, duplicates, listing with every filter, modifying, cancelling, balances and positions.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Answer, Api, Body, User } from './api.ts'
import { ENGINES, type RunningService, startService } from './harness.ts'
import { connectAda, link } from './linking.ts'

const ORDER_FIELDS =
  'order_id cl_order_id user_id connection_id account_id account_number platform broker normalized_status broker_status broker_message side order_qty order_notional order_type broker_order_type order_tif order_limit_price stop_price symbol instrument exec_dest entry_time last_exec_time last_modified_time system_time fills legs'.split(
    ' '
  )
const MICROSECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/

for (const engine of ENGINES) {
  describe(`orders (${engine})`, () => {
    let service: RunningService
    let api: Api
    let ada: User
    let connectionId: string
    let accountId: string
    let count = 0
    before(async () => {
      service = await startService(engine)
      ;({ api, ada, connectionId, accountId } = await connectAda(service))
    })
    after(() => service[Symbol.asyncDispose]())

    const market = (change: Body = {}): Body => ({
      account_id: accountId,
      cl_order_id: `order-${++count}`,
      broker: 'SANDBOX',
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol: 'AAPL',
      order_qty: '3',
      ...change
    })
    /** An order far from the market, which stays open. */
    const resting = (change: Body = {}): Body => market({ order_type: 'LMT', order_tif: 'GTC', order_limit_price: '1.00', ...change })
    const place = (body: Body): Promise<Answer> => api.call('POST', '/orders', { headers: api.as(ada), body })
    const orders = async (query: string): Promise<Body> => (await api.call('GET', `/orders${query}`, { headers: api.as(ada) })).body
    const named = async (clOrderId: string): Promise<Body> =>
      (await orders('?limit=500')).data.find((row: Body) => row.cl_order_id === clOrderId)
    const settled = async (clOrderId: string, ...statuses: readonly string[]): Promise<Body> => {
      let found: Body
      await until(
        async () => {
          found = await named(clOrderId)
          return statuses.includes(found?.normalized_status)
        },
        `${clOrderId} is ${statuses.join(' or ')}`
      )
      return found
    }

    test('a market order is filled, and is read back as it was answered', async () => {
      const body = market()
      const placed = await place(body)
      assert.equal(placed.status, 201)
      assert.deepEqual(
        ORDER_FIELDS.filter(field => !(field in placed.body)),
        []
      )
      const { cl_order_id, side, order_type, order_tif, symbol, order_qty, instrument, user_id, account_id, connection_id } = placed.body
      assert.deepEqual({ account_id, cl_order_id, broker: 'SANDBOX', side, order_type, order_tif, symbol, order_qty }, body)
      assert.deepEqual({ instrument, user_id, connection_id }, { instrument: 'STK', user_id: 'ada', connection_id: connectionId })
      for (const field of ['entry_time', 'last_modified_time', 'system_time']) assert.match(placed.body[field], MICROSECONDS)
      const filled = await settled(body.cl_order_id, 'filled')
      assert.equal(filled.filled_qty, '3')
      assert.ok(filled.fills.length > 0)
      for (const fill of filled.fills) {
        assert.deepEqual(Object.keys(fill).sort(), ['exec_dest', 'fill_id', 'price', 'quantity', 'time'])
        assert.match(fill.quantity, /^\d+(\.\d+)?$/)
        assert.match(fill.time, MICROSECONDS)
      }
      const { body: positions } = await api.call('GET', `/positions?account_id=${accountId}&symbols=AAPL`, { headers: api.as(ada) })
      assert.deepEqual(
        positions.map(({ symbol, quantity }: Body) => [symbol, quantity]),
        [['AAPL', '3']]
      )
      assert.deepEqual((await api.call('GET', '/positions?symbols=MSFT,BTC%2FUSD', { headers: api.as(ada) })).body, [])
      const { body: balances } = await api.call('GET', `/balances?account_id=${accountId}`, { headers: api.as(ada) })
      assert.equal(balances.length, 1)
      assert.notEqual(balances[0].cash, null)
      assert.match(balances[0].system_time, MICROSECONDS)
    })

    test('a cl_order_id is taken once, whatever the timing and the body, and the answer names the order that has it and nothing else of it [S39, S40, S41]', async () => {
      const body = resting()
      const answers = await Promise.all(Array.from({ length: 100 }, () => place(body)))
      const [first, ...more] = answers.filter(({ status }) => status === 201)
      assert.ok(first !== undefined && more.length === 0)
      const refused = [...answers.filter(({ status }) => status !== 201), await place({ ...resting(), cl_order_id: body.cl_order_id })]
      assert.equal(refused.length, 100)
      const problems = new Set(refused.map(({ body }) => JSON.stringify({ ...body, request_id: null })))
      assert.equal(problems.size, 1, 'an order that differs learns no more than one that does not')
      for (const { status, body } of refused) {
        assert.deepEqual([status, body.code], [409, 'cl_order_id_duplicate'])
        assert.ok(body.message.includes(first.body.order_id))
        assert.equal(body.order_id, first.body.order_id)
      }
      assert.equal((await orders('?limit=500')).data.filter((row: Body) => row.cl_order_id === body.cl_order_id).length, 1)
      const bob = await api.user('bob')
      await link(api, bob, 'trade', 1)
      const { body: accounts } = await api.call('GET', '/accounts', { headers: api.as(bob) })
      const own = { ...body, account_id: accounts[0].account_id }
      const independent = await api.call('POST', '/orders', { headers: api.as(bob), body: own })
      assert.equal(independent.status, 201, 'another user’s ids are its own')
    })

    test('one order can be read by its id, and found by either of its ids; another user finds nothing', async () => {
      const { body: placed } = await place(resting())
      const order = await settled(placed.cl_order_id, 'working')
      const headers = api.as(ada)
      const own = `/accounts/${accountId}/orders/${order.order_id}`
      for (const address of [`/orders/${order.order_id}`, own]) {
        const read = await api.call('GET', address, { headers })
        assert.deepEqual([read.status, read.body.order_id, read.body.normalized_status], [200, order.order_id, 'working'])
        assert.ok(read.headers.get('trunkline-freshness')?.startsWith(`"${accountId}"`))
        const head = await fetch(`${service.url}${address}`, { method: 'HEAD', headers })
        assert.deepEqual([head.status, await head.text()], [200, ''])
      }
      for (const query of [`order_id=${order.order_id}`, `cl_order_id=${order.cl_order_id}`]) {
        const { data } = await orders(`?${query}`)
        assert.deepEqual(
          data.map((row: Body) => row.order_id),
          [order.order_id]
        )
      }
      const eve = api.as(await api.user(`eve-${engine}`))
      const unknown = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
      const foreign = await api.call('GET', `/orders/${order.order_id}`, { headers: eve })
      const missing = await api.call('GET', `/orders/${unknown}`, { headers: eve })
      assert.deepEqual([foreign.status, foreign.body.code], [404, 'order_not_found'])
      assert.deepEqual({ ...foreign.body, request_id: null }, { ...missing.body, request_id: null })
      assert.equal((await api.call('GET', own, { headers: eve })).status, 404)
      const [other] = (await api.call('GET', '/accounts', { headers })).body.filter((row: Body) => row.account_id !== accountId)
      const elsewhere = await api.call('GET', `/accounts/${other.account_id}/orders/${order.order_id}`, { headers })
      assert.deepEqual([elsewhere.status, elsewhere.body.code], [404, 'order_not_found'])
      assert.equal((await api.call('DELETE', own, { headers })).status, 200)
    })

    test('a refusal of the broker is a rejected order with its reason', async () => {
      const { status, body } = await place(market({ order_qty: '1000000' }))
      assert.equal(status, 201)
      const rejected = await settled(body.cl_order_id, 'rejected')
      assert.equal(typeof rejected.broker_message, 'string')
      assert.equal(rejected.reject_code, 'insufficient_funds')
      assert.deepEqual([rejected.fills, rejected.filled_qty], [[], '0'])
    })

    test('a modify makes a new record and ends the old one', async () => {
      const { body: old } = await place(resting())
      await settled(old.cl_order_id, 'working')
      const address = `/accounts/${accountId}/orders/${old.order_id}`
      const change = { new_cl_order_id: `${old.cl_order_id}-b`, broker: 'SANDBOX', order_qty: '5', order_limit_price: '1.01' }
      const { status, body } = await api.call('PATCH', address, { headers: api.as(ada), body: change })
      assert.equal(status, 200)
      assert.notEqual(body.order_id, old.order_id)
      assert.deepEqual([body.cl_order_id, body.replaces_order_id], [change.new_cl_order_id, old.order_id])
      const next = await settled(change.new_cl_order_id, 'working')
      assert.deepEqual([next.order_qty, next.order_limit_price], ['5', '1.01'])
      const replaced = await settled(old.cl_order_id, 'replaced')
      assert.equal(replaced.replaced_by_order_id, body.order_id)
      const again = await api.call('PATCH', address, { headers: api.as(ada), body: { ...change, new_cl_order_id: `${old.cl_order_id}-c` } })
      assert.deepEqual([again.status, again.body.code], [400, 'order_not_open'])
      assert.match(again.body.message, /replaced/)
    })

    test('a cancel ends an open order once', async () => {
      const { body: order } = await place(resting())
      await settled(order.cl_order_id, 'working')
      const address = `/accounts/${accountId}/orders/${order.order_id}`
      const { status, body } = await api.call('DELETE', address, { headers: api.as(ada) })
      assert.equal(status, 200)
      assert.ok(['pending_cancel', 'cancelled'].includes(body.normalized_status))
      assert.equal(body.order_id, order.order_id)
      await settled(order.cl_order_id, 'cancelled')
      const again = await api.call('DELETE', address, { headers: api.as(ada) })
      assert.deepEqual([again.status, again.body.code], [400, 'order_not_open'])
      assert.match(again.body.message, /cancelled/)
    })

    test('a list gives exactly what its filters select', async () => {
      await place(resting({ symbol: 'MSFT' }))
      await place(market({ side: 'SELL', order_qty: '1' }))
      const { data: all } = await orders('?limit=500')
      assert.ok(all.length >= 7)
      const open = ['pending', 'working', 'partially_filled', 'pending_cancel', 'pending_replace']
      const expectations: Readonly<Record<string, (row: Body) => boolean>> = {
        'status=all': () => true,
        'status=open': row => open.includes(row.normalized_status),
        'status=closed': row => !open.includes(row.normalized_status),
        'status=filled': row => row.normalized_status === 'filled',
        'status=cancelled': row => row.normalized_status === 'cancelled',
        'status=rejected': row => row.normalized_status === 'rejected',
        'status=replaced': row => row.normalized_status === 'replaced',
        'status=expired': row => row.normalized_status === 'expired',
        'symbols=MSFT': row => row.symbol === 'MSFT',
        'symbols=MSFT,AAPL': row => ['MSFT', 'AAPL'].includes(row.symbol),
        'symbols=BTC%2FUSD': row => row.symbol === 'BTC/USD',
        'side=SELL': row => row.side === 'SELL',
        'side=BUY&status=open&symbols=AAPL': row => row.side === 'BUY' && row.symbol === 'AAPL' && open.includes(row.normalized_status),
        'broker=SANDBOX': () => true,
        'broker=OTHER': () => false,
        [`account_id=${accountId}`]: row => row.account_id === accountId,
        [`connection_id=${connectionId}`]: row => row.connection_id === connectionId,
        [`start_time=${all[3].entry_time}`]: row => row.entry_time >= all[3].entry_time,
        [`end_time=${all[3].entry_time}`]: row => row.entry_time <= all[3].entry_time
      }
      for (const [query, belongs] of Object.entries(expectations)) {
        const { data: now } = await orders('?limit=500')
        const { data } = await orders(`?limit=500&${query}`)
        assert.deepEqual(
          data.map((row: Body) => row.order_id),
          now.filter(belongs).map((row: Body) => row.order_id),
          query
        )
      }
    })

    test('pages of every sort join without a gap or a repeat, both ways', async () => {
      for (let at = 0; at < 6; at++) await place(resting({ symbol: 'MSFT' }))
      for (const field of ['entry_time', 'last_modified_time', 'last_exec_time']) {
        for (const direction of ['asc', 'desc']) {
          const sort = `sort=${field}:${direction}&status=closed`
          const ids = (page: Body): string[] => page.data.map((row: Body) => row.order_id)
          const whole = await orders(`?limit=500&${sort}`)
          const times: string[] = whole.data.map((row: Body) => row[field] ?? '')
          assert.deepEqual(times, direction === 'asc' ? times.toSorted() : times.toSorted().reverse(), sort)
          const seen: string[] = []
          let page = await orders(`?limit=2&${sort}`)
          for (;;) {
            seen.push(...ids(page))
            if (page.next_cursor === null) break
            page = await orders(`?limit=2&${sort}&next_cursor=${page.next_cursor}`)
          }
          assert.deepEqual(seen, ids(whole), sort)
          const back: string[] = ids(page)
          while (page.prev_cursor !== null) {
            page = await orders(`?limit=2&${sort}&prev_cursor=${page.prev_cursor}`)
            back.unshift(...ids(page))
          }
          assert.deepEqual(back, ids(whole), `${sort}, backward`)
        }
      }
    })

    test('transactions show the fills', async () => {
      const transactions = async (query: string) => (await api.call('GET', `/transactions${query}`, { headers: api.as(ada) })).body
      await until(async () => (await transactions('')).some((row: Body) => row.type === 'SELL'), 'the sale is among the transactions')
      const rows = await transactions(`?account_id=${accountId}`)
      const bought = rows.findLast((row: Body) => row.type === 'BUY' && row.symbol === 'AAPL')
      assert.ok(bought.amount.startsWith('-'), 'a purchase takes cash')
      assert.ok([null, (await named('order-1')).order_id].includes(bought.order_id))
      assert.deepEqual(await transactions('?end_date=2000-01-01'), [])
      const page = await api.call('GET', '/transactions?limit=1&type=SELL', { headers: api.as(ada) })
      assert.ok(page.body.length === 1 && page.body[0].type === 'SELL')
      const first = await api.call('GET', '/transactions?limit=1', { headers: api.as(ada) })
      const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? []
      const second = await api.call('GET', next.slice(next.indexOf('/v1')), { headers: api.as(ada) })
      assert.deepEqual([...first.body, ...second.body], (await transactions('')).slice(0, 2))
      assert.match(first.headers.get('trunkline-freshness') ?? '', /^"[0-9a-f-]{36}";confirmed="[^"]+";state=fresh/)
      assert.ok((await transactions(`?start_date=${bought.date}&end_date=${bought.date}`)).length > 0, 'both days are inclusive')
    })
  })
}
