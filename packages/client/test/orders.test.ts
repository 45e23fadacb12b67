// Orders whose answers are lost, one case after the other.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ACCOUNT, answer, broken, errorOf, ORDER_ID, order, pageOf, problem, type Script, type Step, script, ticket } from './scripted.ts'

const DUPLICATE = problem(409, 'cl_order_id_duplicate', { order_id: ORDER_ID })

function requests({ sent }: Script): readonly string[] {
  return sent.map(({ method, url }) => `${method} ${url.pathname}`)
}

describe('placing', () => {
  test('an order is sent once, under the id of the caller', async () => {
    const run = script([answer(order(), 201)])
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
    assert.deepEqual(run.sent[0]?.body, ticket)
    assert.equal(run.sent[0]?.headers.get('user-secret'), 'us_the-secret-of-the-user')
  })

  test('without an id it gets one of 128 random bits, which an error names', async () => {
    const run = script([problem(400, 'field_invalid')])
    const { cl_order_id: _, ...withoutId } = ticket
    const { clOrderId, code } = await errorOf(run.user.orders.place(withoutId))
    assert.match(clOrderId ?? '', /^[0-9a-f]{32}$/)
    assert.deepEqual([code, run.sent[0]?.body?.cl_order_id], ['field_invalid', clOrderId])
  })

  test('a duplicate at the first attempt is the caller’s error', async () => {
    const run = script([DUPLICATE])
    const error = await errorOf(run.user.orders.place(ticket))
    assert.deepEqual([error.code, error.orderId, error.retrySafe], ['cl_order_id_duplicate', ORDER_ID, false])
  })

  const LOST: readonly (readonly [string, Step])[] = [
    ['a broken connection', broken()],
    ['a 500', problem(500, 'internal')],
    ['a 502 of a proxy', () => new Response('<p>Bad gateway</p>', { status: 502 })],
    ['a 503 of a proxy', () => new Response('busy', { status: 503 })],
    ['a 429 of a proxy', () => new Response('slow down', { status: 429 })],
    ['half a body', () => new Response('{"order_id":"01a1', { status: 201 })],
    ['JSON of somebody else', answer({ ok: true }, 201)],
    ['an answer about another order', answer(order({ cl_order_id: 'another' }), 201)],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: 'https://elsewhere.example' } })]
  ]
  for (const [what, lost] of LOST) {
    test(`after ${what} the same request goes out again, and the order that has the id is the answer`, async () => {
      const run = script([lost, DUPLICATE, answer(order())])
      assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
      assert.deepEqual(requests(run), ['POST /orders', 'POST /orders', `GET /orders/${ORDER_ID}`])
      assert.deepEqual(run.sent[0]?.body, run.sent[1]?.body)
      assert.ok(run.sent.every(({ url }) => url.host === 'trunkline.example'))
    })
  }

  test('an order that was never placed is placed by the next attempt', async () => {
    const run = script([broken(), answer(order(), 201)])
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
  })

  test('another order under the id is an error with that order', async () => {
    for (const other of [{ symbol: 'MSFT' }, { side: 'SELL' }, { account_id: ORDER_ID }, { order_qty: '11', revision: 1 }] as const) {
      const run = script([broken(), DUPLICATE, answer(order(other))])
      const error = await errorOf(run.user.orders.place(ticket))
      assert.deepEqual([error.code, error.order?.order_id, error.clOrderId], ['cl_order_id_taken', ORDER_ID, 'rebalance-1'])
    }
  })

  test('of an order whose terms its broker may have changed nothing is claimed', async () => {
    const run = script([broken(), DUPLICATE, answer(order({ order_limit_price: '187.55' }))])
    const error = await errorOf(run.user.orders.place(ticket))
    assert.deepEqual([error.code, error.order?.order_id], ['outcome_unknown', ORDER_ID])
  })

  test('a refusal after a lost answer says nothing of the first request: its order is looked up', async () => {
    const run = script([broken(), problem(409, 'connection_broken'), pageOf(order())])
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
    assert.equal(run.sent[2]?.url.searchParams.get('cl_order_id'), 'rebalance-1')
  })

  test('what the service refuses before it does anything is sent again, and stays the caller’s', async () => {
    const run = script([problem(503, 'store_unavailable', {}, { 'retry-after': '2' }), problem(429, 'rate_limited'), DUPLICATE])
    assert.equal((await errorOf(run.user.orders.place(ticket))).code, 'cl_order_id_duplicate')
    assert.equal(run.waits[0], 2_125)
  })

  test('when nothing could be sent, nothing is unknown', async () => {
    const run = script(Array.from({ length: 4 }, () => broken('ECONNREFUSED')))
    const error = await errorOf(run.user.orders.place(ticket))
    assert.deepEqual([error.code, error.nothingDone, error.retrySafe], ['connection_failed', true, true])
  })

  test('an order that stays unknown is said to be so', async () => {
    const run = script([...Array.from({ length: 4 }, () => broken()), ...Array.from({ length: 9 }, () => pageOf())])
    const error = await errorOf(run.user.orders.place(ticket))
    assert.deepEqual([error.code, error.clOrderId, error.retrySafe, error.nothingDone], ['outcome_unknown', 'rebalance-1', false, false])
    assert.match(error.message, /unknown whether the order rebalance-1 was placed/)
  })

  test('a duplicate of an id that was made for the call is its own order', async () => {
    const { cl_order_id: _, ...withoutId } = ticket
    let id = ''
    const run = script([
      sent => {
        id = String(sent.body?.cl_order_id)
        return DUPLICATE(sent)
      },
      sent => answer(order({ cl_order_id: id }))(sent)
    ])
    assert.equal((await run.user.orders.place(withoutId)).cl_order_id, id)
  })

  test('an abort ends it at once, and says that the order may exist', async () => {
    const control = new AbortController()
    const run = script([() => new Promise(() => control.abort())])
    const error = await errorOf(run.user.orders.place(ticket, { signal: control.signal }))
    assert.deepEqual([error.code, error.clOrderId], ['aborted', 'rebalance-1'])
    assert.match(error.message, /unknown whether/)
    const before = await errorOf(script([]).user.orders.place(ticket, { signal: AbortSignal.abort() }))
    assert.deepEqual([before.code, before.nothingDone], ['aborted', true])
    const waiting = new AbortController()
    const refused = script([problem(503, 'store_unavailable')], { sleep: async () => waiting.abort() })
    const between = await errorOf(refused.user.orders.place(ticket, { signal: waiting.signal }))
    assert.deepEqual([between.code, between.nothingDone, between.clOrderId], ['aborted', true, 'rebalance-1'])
  })
})

describe('answers of another form', () => {
  test('lose neither the id of the order nor the word that it may exist', async () => {
    const steps: readonly (readonly Step[])[] = [
      [broken(), problem(409, 'connection_broken'), ...Array.from({ length: 9 }, () => answer({ data: null, next_cursor: null }))],
      [broken(), problem(409, 'connection_broken'), ...Array.from({ length: 9 }, () => answer({ data: [null], next_cursor: null }))],
      // A member of the record itself.
      [broken(), DUPLICATE, answer({ ...order(), legs: [null] })]
    ]
    for (const each of steps) {
      const { code, clOrderId, nothingDone } = await errorOf(
        script(each).user.orders.place({ ...ticket, legs: [{ symbol: 'A', action: 'BUY_TO_OPEN', ratio: '1' }] })
      )
      assert.deepEqual([code, clOrderId, nothingDone], ['outcome_unknown', 'rebalance-1', false])
    }
  })

  test('about another order than the one that was named are read again', async () => {
    const [own, other] = [answer(order({ normalized_status: 'cancelled' })), answer(order({ order_id: ACCOUNT }))]
    const given = { account_id: ACCOUNT, order_id: ORDER_ID.toUpperCase() }
    const calls = [(run: Script) => run.user.orders.cancel(given), (run: Script) => run.user.orders.read({ order_id: ORDER_ID })]
    for (const call of calls) {
      const run = script([other, own])
      assert.deepEqual([(await call(run)).order_id, run.sent.length], [ORDER_ID, 2])
    }
  })

  test('about another order than the one that has the id are not taken for it', async () => {
    for (const other of [{ cl_order_id: 'another' }, { order_id: ACCOUNT }]) {
      const run = script([broken(), DUPLICATE, ...Array.from({ length: 4 }, () => answer(order(other)))])
      const { code, orderId, order: found } = await errorOf(run.user.orders.place(ticket))
      assert.deepEqual([code, orderId, found], ['outcome_unknown', ORDER_ID, null])
    }
  })
})

describe('around midnight in New York', () => {
  const BEFORE = Date.parse('2026-11-25T04:59:00Z')

  test('what one user’s answers say of the service’s clock is true for all', async () => {
    const dated = answer({ data: [], next_cursor: null, prev_cursor: null }, 200, { date: 'Wed, 25 Nov 2026 04:59:00 GMT' })
    const found = order({ entry_time: '2026-11-25T04:59:00.200000Z' })
    const run = script([dated, broken(), pageOf(found)])
    await run.trunkline.users.list().toArray({ limit: 1 })
    await run.user.orders.place(ticket)
    assert.deepEqual(requests(run), ['GET /users', 'POST /orders', 'GET /orders'])
  })

  test('an old `date` of a proxy moves no clock', async () => {
    const earlier = order({ entry_time: '2026-11-24T15:00:00.000000Z' })
    const kept = { date: 'Tue, 24 Nov 2026 04:00:00 GMT', 'x-request-id': 'of-another-request' }
    const pages = Array.from({ length: 9 }, () => answer({ data: [earlier], next_cursor: null, prev_cursor: null }, 200, kept))
    const run = script([broken(), ...pages])
    run.clock.ms = BEFORE
    assert.equal((await errorOf(run.user.orders.place(ticket))).code, 'outcome_unknown')
  })

  test('a `date` that is older than the order under it is not the service’s', async () => {
    const earlier = order({ entry_time: '2026-11-24T15:00:00.000000Z' })
    const old = { date: 'Tue, 24 Nov 2026 04:00:00 GMT' }
    const pages = Array.from({ length: 9 }, () => answer({ data: [earlier], next_cursor: null, prev_cursor: null }, 200, old))
    const run = script([broken(), ...pages])
    run.clock.ms = BEFORE
    assert.equal((await errorOf(run.user.orders.place(ticket))).code, 'outcome_unknown')
  })

  test('an order of the next day under the same id hides neither ours nor that ours may exist', async () => {
    const next = order({ order_id: ACCOUNT, symbol: 'MSFT', entry_time: '2026-11-25T05:00:01.000000Z' })
    const ours = order({ entry_time: '2026-11-25T04:59:59.200000Z' })
    const both = script([broken(), pageOf(next, ours)])
    both.clock.ms = BEFORE + 59_000
    assert.equal((await both.user.orders.place(ticket)).order_id, ORDER_ID)
    const one = script([broken(), pageOf(next)])
    one.clock.ms = BEFORE + 59_000
    const { code, order: found } = await errorOf(one.user.orders.place(ticket))
    assert.deepEqual([code, found?.order_id], ['outcome_unknown', ACCOUNT])
  })

  test('a look-up reaches back far enough for a clock of this machine that is days ahead', async () => {
    const run = script([
      answer([], 200, { date: 'Sat, 21 Nov 2026 17:00:00 GMT' }),
      broken(),
      pageOf(order({ entry_time: '2026-11-21T17:00:01Z' }))
    ])
    await run.user.accounts.list()
    // Days apart, the trading day is not known.
    await run.user.orders.place(ticket).catch(() => undefined)
    const look = run.sent.find(({ url, method }) => url.pathname === '/orders' && method === 'GET')
    assert.ok((look?.url.searchParams.get('start_time') ?? '') < '2026-11-21')
  })

  test('an order is not sent again once the day may have changed, but looked up', async () => {
    const found = order({ entry_time: '2026-11-25T04:59:00.200000Z' })
    const run = script([broken(), pageOf(found)])
    run.clock.ms = BEFORE
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
    assert.deepEqual(requests(run), ['POST /orders', 'GET /orders'])
  })

  test('a request that the service asked to repeat is not sent in another day, whatever it answered', async () => {
    for (const [status, code] of [
      [503, 'shutting_down'],
      [429, 'rate_limited']
    ] as const) {
      // In the first case the day may have changed before the wait, in the second during it.
      for (const [startMs, seconds] of [
        [BEFORE, '0'],
        [Date.parse('2026-11-25T04:44:50Z'), '20']
      ] as const) {
        const refused = problem(status, code, {}, { 'retry-after': seconds })
        const run = script([refused, ...Array.from({ length: 9 }, () => pageOf())])
        run.clock.ms = startMs
        const error = await errorOf(run.user.orders.place(ticket))
        assert.deepEqual(
          [error.code, error.clOrderId, error.nothingDone, error.retrySafe],
          ['outcome_unknown', 'rebalance-1', false, false]
        )
        assert.match(error.message, /look for it/)
        assert.equal(requests(run).filter(each => each === 'POST /orders').length, 1)
      }
    }
  })

  test('an order that was carried out although a node refused a copy of its request is found in the next day', async () => {
    const run = script([problem(503, 'shutting_down'), pageOf(order({ entry_time: '2026-11-25T04:59:00.200000Z' }))])
    run.clock.ms = BEFORE
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
    assert.deepEqual(requests(run), ['POST /orders', 'GET /orders'])
  })

  test('a request that never left this machine may leave it in the next day', async () => {
    const run = script([broken('ECONNREFUSED'), answer(order(), 201)])
    run.clock.ms = BEFORE
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
  })

  test('yesterday’s order with the same id and terms is not taken for it', async () => {
    const yesterday = order({ entry_time: '2026-11-24T15:00:00.000000Z' })
    const run = script([broken(), ...Array.from({ length: 9 }, () => pageOf(yesterday))])
    run.clock.ms = BEFORE
    assert.equal((await errorOf(run.user.orders.place(ticket))).code, 'outcome_unknown')
  })

  test('the time of entry is judged by the clock of the service', async () => {
    const found = order({ entry_time: '2026-11-25T04:40:00.200000Z' })
    const page = answer({ data: [found], next_cursor: null, prev_cursor: null }, 200, { date: 'Wed, 25 Nov 2026 04:40:01 GMT' })
    const run = script([broken(), page])
    run.clock.ms = BEFORE
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
  })

  test('a wrong clock of this machine is corrected by the answers of the service', async () => {
    const found = order({ entry_time: '2026-11-25T04:59:00.200000Z' })
    const dated = answer([], 200, { date: 'Wed, 25 Nov 2026 04:58:59 GMT' })
    const run = script([dated, broken(), pageOf(found)])
    await run.user.accounts.list()
    assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID)
    assert.deepEqual(requests(run), ['GET /accounts', 'POST /orders', 'GET /orders'])
  })

  test('a long wait across midnight is not followed by another attempt', async () => {
    const run = script([broken(), ...Array.from({ length: 9 }, () => pageOf())], { random: () => 1, retries: 3 })
    run.clock.ms = Date.parse('2026-11-25T04:44:59.900Z')
    assert.equal((await errorOf(run.user.orders.place(ticket))).code, 'outcome_unknown')
    assert.equal(requests(run).filter(each => each === 'POST /orders').length, 1)
  })
})

describe('changing and cancelling', () => {
  const change = { account_id: ACCOUNT, order_id: ACCOUNT, broker: 'SANDBOX', new_cl_order_id: 'rebalance-1b', order_limit_price: '188' }
  const successor = (more = {}) => order({ cl_order_id: 'rebalance-1b', replaces_order_id: ACCOUNT, order_limit_price: '188.00', ...more })

  test('a modification whose answer is lost is the order that has its id and replaces the named one', async () => {
    const run = script([broken(), DUPLICATE, answer(successor())])
    assert.equal((await run.user.orders.modify(change)).order_limit_price, '188.00')
    assert.deepEqual(run.sent[0]?.body, { broker: 'SANDBOX', new_cl_order_id: 'rebalance-1b', order_limit_price: '188' })
    const other = script([broken(), DUPLICATE, answer(successor({ replaces_order_id: ORDER_ID }))])
    assert.equal((await errorOf(other.user.orders.modify(change))).code, 'cl_order_id_taken')
  })

  test('a cancel is repeated, and an order that has ended since is read', async () => {
    const ended = order({ normalized_status: 'cancelled' })
    const run = script([broken(), problem(400, 'order_not_open'), answer(ended)])
    assert.equal((await run.user.orders.cancel({ account_id: ACCOUNT, order_id: ORDER_ID })).normalized_status, 'cancelled')
    const first = script([problem(400, 'order_not_open')])
    assert.equal((await errorOf(first.user.orders.cancel({ account_id: ACCOUNT, order_id: ORDER_ID }))).code, 'order_not_open')
  })

  test('a cancel of all orders is repeated while some are left, and gives the last result of each', async () => {
    const result = (id: string, what: string) => ({ order_id: id, result: what })
    const run = script([
      answer({ results: [result('a', 'cancelled'), result('b', 'not_attempted')], remaining: 1 }),
      broken(),
      answer({ results: [result('b', 'requested'), result('c', 'cancelled')], remaining: 0 })
    ])
    const { results, remaining } = await run.user.orders.cancelAll({ all: true })
    assert.deepEqual(
      results.map(each => `${each.order_id} ${each.result}`),
      ['a cancelled', 'b requested', 'c cancelled']
    )
    assert.equal(remaining, 0)
  })

  test('an error of a cancel of all orders has the results until then', async () => {
    const begun = answer({ results: [{ order_id: 'a', result: 'cancelled' }], remaining: 5 })
    const run = script([begun, problem(401, 'credentials_invalid')])
    const { code, results, nothingDone } = await errorOf(run.user.orders.cancelAll({ all: true }))
    assert.deepEqual([code, results.map(({ order_id }) => order_id), nothingDone], ['credentials_invalid', ['a'], false])
    const control = new AbortController()
    const waiting = script([begun], { sleep: async () => control.abort() })
    const aborted = await errorOf(waiting.user.orders.cancelAll({ all: true }, { signal: control.signal }))
    assert.deepEqual([aborted.code, aborted.results.length, aborted.nothingDone], ['aborted', 1, false])
  })

  test('an answer that does not say how many orders remain is not the last', async () => {
    const run = script([answer({ results: [] }), answer({ results: [], remaining: 0 })])
    assert.equal((await run.user.orders.cancelAll({ all: true })).remaining, 0)
    assert.equal(run.sent.length, 2)
  })

  test('orders whose cancel is only requested again and again are left after as many rounds as retries', async () => {
    const round = answer({ results: [{ order_id: 'a', result: 'requested' }], remaining: 1 })
    const run = script(Array.from({ length: 20 }, () => round))
    const { results, remaining } = await run.user.orders.cancelAll({ all: true })
    assert.deepEqual([results[0]?.result, remaining], ['requested', 1])
    // The first round was a step; of those after it, there are no more than retries.
    assert.equal(run.sent.length, 4)
  })

  test('what cannot be cancelled is in the results', async () => {
    const left = answer({ results: [{ order_id: 'a', result: 'failed' }], remaining: 0 })
    const run = script([left, left, left, left])
    assert.equal((await run.user.orders.cancelAll({ all: true })).results[0]?.result, 'failed')
  })
})
