import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDay, parseTimestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type NewOrder } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { ACCOUNT, dec, fixture, TICKET } from './fixtures.ts'
import { as, json, openAt, Venue } from './venue.ts'

const SINCE = parseTimestamp('2026-11-03T15:00:00Z', 'since')
const ORDER: NewOrder = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'tl0001' }
const OLD = 'd3b0c4a1-0000-4000-8000-000000000001'
const NEW = 'd3b0c4a1-0000-4000-8000-000000000002'

const isFault = (kind: string) => (error: unknown) => {
  assert.ok(error instanceof BrokerFault, String(error))
  assert.equal(error.kind, kind, error.message)
  return true
}

test('what is meant for another account never reaches this one', async () => {
  await using venue = await Venue.start()
  await using opened = openAt(venue)
  const { broker } = opened
  await assert.rejects(broker.positions('another', soon()), isFault('refused'))
  await assert.rejects(broker.orders('another', SINCE, soon()), isFault('refused'))
  const outcome = await broker.submit({ ...ORDER, brokerAccountId: 'another' }, soon())
  assert.equal(outcome.kind, 'not_sent')
  assert.deepEqual(venue.requests('POST'), [])
})

test('orders: every page of the open ones, then of those since; the later answer counts', async () => {
  await using venue = await Venue.start()
  const [first, second] = fixture('orders').body
  const many = Array.from({ length: 500 }, (_, index) => ({ ...first, id: `order-${index}`, client_order_id: `tl-${index}` }))
  venue.on('GET /api/v2/orders', ({ query }) => {
    if (query.get('nested') === 'false') return json(200, [])
    if (query.get('status') === 'open') return json(200, query.get('after_order_id') === null ? many : [second])
    assert.equal(query.get('after'), '2026-11-03T14:59:55.000000Z')
    return json(200, [{ ...many[0], status: 'canceled' }])
  })
  await using opened = openAt(venue)
  const { items } = await opened.broker.orders(ACCOUNT, SINCE, soon())
  assert.equal(items.length, 501)
  assert.equal(items.find(({ brokerOrderId }) => brokerOrderId === 'order-0')?.status, 'cancelled')
  assert.deepEqual(
    venue.requests('GET /api/v2/orders').map(({ path }) => new URL(path, 'http://x').searchParams.get('after_order_id')),
    [null, 'order-499', null, null]
  )
})

test('an exit whose entry has filled is in no nested list, and is there all the same; a multi-leg order counts once', async () => {
  await using venue = await Venue.start()
  const [first] = fixture('orders').body
  const exit = { ...first, id: 'exit', order_class: 'bracket', status: 'held' }
  const spread = fixture('order.multi-leg').body
  venue.on('GET /api/v2/orders', ({ query }) => {
    if (query.get('status') !== 'open') return json(200, [])
    return json(200, query.get('nested') === 'true' ? [spread] : [exit, { ...spread, legs: null }, ...spread.legs])
  })
  await using opened = openAt(venue)
  const { items, leftOut } = await opened.broker.orders(ACCOUNT, SINCE, soon())
  assert.deepEqual(
    items.map(({ brokerOrderId, status }) => [brokerOrderId, status]),
    [
      [spread.id, items[0]?.status],
      ['exit', 'pending']
    ]
  )
  assert.equal(leftOut, undefined)
})

test('an amount that is a JSON number is read as it was written', async () => {
  await using venue = await Venue.start()
  venue.on('GET /api/v2/positions', {
    status: 200,
    body: '[{"symbol":"KO","qty":0.557436865,"side":"long","avg_entry_price":86.8700,"asset_class":"us_equity"}]'
  })
  await using opened = openAt(venue)
  const { items } = await opened.broker.positions(ACCOUNT, soon())
  assert.deepEqual([items[0]?.quantity, items[0]?.averagePrice], ['0.557436865', '86.8700'])
})

test('activities: page by page by the last id, those of the days and no others', async () => {
  await using venue = await Venue.start()
  const all = fixture('activities').body
  const page = Array.from({ length: 100 }, (_, index) => ({ ...all[0], id: `fill-${index}` }))
  venue.on('GET /api/v2/account/activities', ({ query }) => {
    assert.equal(query.get('after'), '2026-11-03T04:59:59.999000Z')
    return json(200, query.get('page_token') === null ? page : all)
  })
  await using opened = openAt(venue)
  const day = parseDay('2026-11-03', 'day')
  const { items } = await opened.broker.transactions(ACCOUNT, day, day, soon())
  assert.equal(items.length, 104)
  assert.ok(items.every(item => item.day === day))
  assert.equal(
    new URL(venue.requests('GET /api/v2/account/activities').at(-1)?.path ?? '', 'http://x').searchParams.get('page_token'),
    'fill-99'
  )
})

test('what cannot be placed at Alpaca is refused with a message before anything is sent', async () => {
  await using venue = await Venue.start()
  await using opened = openAt(venue)
  const outcome = await opened.broker.submit({ ...ORDER, tif: 'DAY+', type: 'MKT', limitPrice: null }, soon())
  assert.ok(outcome.kind === 'refused' && outcome.brokerStatus === null && outcome.message.includes('order_tif DAY+'))
  assert.deepEqual(venue.seen, [])
})

test('an order is looked up by its own id with a colon, and absence is distinguished from failure', async () => {
  await using venue = await Venue.start()
  venue.on('GET /api/v2/orders:by_client_order_id', ({ query }) =>
    query.get('client_order_id') === 'tl0001' ? as('order.filled') : as('error.order')
  )
  await using opened = openAt(venue)
  const { broker } = opened
  const key = { by: 'brokerClOrdId', brokerAccountId: ACCOUNT } as const
  const { found } = await broker.findOrder({ ...key, brokerClOrdId: 'tl0001' }, soon())
  assert.deepEqual([found?.status, found?.fills, found?.filledTotal], ['filled', null, { quantity: '2', averagePrice: '150.2' }])
  assert.equal((await broker.findOrder({ ...key, brokerClOrdId: 'tl0009' }, soon())).found, null)
  for (const body of ['<html>', '{"code":40410000,"message":"endpoint not found"}']) {
    venue.on('GET /api/v2/orders:by_client_order_id', { status: 404, body })
    await assert.rejects(broker.findOrder({ ...key, brokerClOrdId: 'tl0009' }, soon()), isFault('refused'), body)
  }
})

test('a replacement of a replacement requests no more than that had left, though an execution before it is not reported yet', async () => {
  const rows = [
    // Of 10, 3 were filled before this order, which is not known yet.
    { total: '10', totalChange: '0', requested: undefined },
    { total: '12', totalChange: '2', requested: '9' },
    // It is known, and the core has left it out itself.
    { total: '7', totalChange: '0', requested: undefined },
    // Another 2 filled between the look at the old order and the replacement: they were requested twice, and are not again.
    { total: '5', totalChange: '0', requested: '5' }
  ] as const
  for (const { total, totalChange, requested } of rows) {
    await using venue = await Venue.start()
    const old = { ...fixture('order.pending').body, qty: '7', filled_qty: '0' }
    venue.on(`GET /api/v2/orders/${OLD}`, () =>
      json(200, venue.requests('PATCH').length === 0 ? old : { ...old, status: 'replaced', replaced_by: NEW })
    )
    venue.on(`PATCH /api/v2/orders/${OLD}`, as('order.replacing'))
    await using opened = openAt(venue)
    const ticket = { ...TICKET, quantity: dec(total), limitPrice: dec('149.5') }
    const request = { brokerAccountId: ACCOUNT, brokerOrderId: OLD, brokerClOrdId: 'tl0006', ticket, totalChange: dec(totalChange) }
    assert.equal((await opened.broker.replace(request, soon())).kind, 'accepted')
    assert.equal(JSON.parse(venue.requests('PATCH')[0]?.body ?? '').qty, requested, `${total} ${totalChange}`)
  }
})

test('an order that Alpaca does not show is not replaced: what is left of it is not known', async () => {
  await using venue = await Venue.start()
  venue.on(`GET /api/v2/orders/${OLD}`, as('error.order'))
  venue.on(`PATCH /api/v2/orders/${OLD}`, as('order.replacing'))
  await using opened = openAt(venue)
  const ticket = { ...TICKET, quantity: dec('12') }
  const outcome = await opened.broker.replace({ brokerAccountId: ACCOUNT, brokerOrderId: OLD, brokerClOrdId: 'tl0006', ticket }, soon())
  assert.ok(outcome.kind === 'refused' && outcome.isUnsent === true)
  assert.deepEqual(venue.requests('PATCH'), [])
})

test('a replacement that Alpaca took and then did not carry out is unknown, or refused when the new order was', async () => {
  await using venue = await Venue.start()
  let [oldStatus, newStatus] = ['pending_replace', 'pending_new']
  venue.on(`GET /api/v2/orders/${OLD}`, () => json(200, { ...fixture('order.pending').body, status: oldStatus }))
  venue.on(`GET /api/v2/orders/${NEW}`, () => json(200, { ...fixture('order.replacing').body, status: newStatus }))
  venue.on('GET /api/v2/orders:by_client_order_id', () => json(200, { ...fixture('order.replacing').body, status: newStatus }))
  venue.on(`PATCH /api/v2/orders/${OLD}`, as('order.replacing'))
  await using opened = openAt(venue)
  const request = { brokerAccountId: ACCOUNT, brokerOrderId: OLD, brokerClOrdId: 'tl0006', ticket: { ...TICKET, limitPrice: dec('149.5') } }
  assert.deepEqual(await opened.broker.replace(request, soon()), { kind: 'accepted', value: null })
  // The quantity is the old order's, and nothing has filled: it stays as it is.
  assert.deepEqual(JSON.parse(venue.requests('PATCH')[0]?.body ?? ''), { limit_price: '149.5', client_order_id: 'tl0006' })
  const key = { by: 'brokerClOrdId', brokerAccountId: ACCOUNT, brokerClOrdId: 'tl0006' } as const
  await assert.rejects(opened.broker.findOrder(key, soon()), isFault('unreachable'))
  oldStatus = 'filled'
  newStatus = 'rejected'
  const outcome = await opened.broker.replace(request, soon())
  assert.ok(outcome.kind === 'refused' && outcome.message.includes('filled'))
  assert.equal((await opened.broker.findOrder(key, soon())).found?.status, 'rejected')
})

test('the limit that Alpaca reports is respected', async () => {
  await using venue = await Venue.start()
  const reset = String(Math.ceil(Date.now() / 1_000) + 30)
  venue.on('GET /api/v2/account', () => ({
    ...as('account'),
    headers: { 'x-ratelimit-limit': '200', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }
  }))
  await using opened = openAt(venue)
  await opened.broker.accounts(soon())
  await assert.rejects(opened.broker.accounts(soon()), isFault('rate_limited'))
  assert.equal(venue.seen.length, 1)
})
