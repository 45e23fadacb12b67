import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Brokerage } from '../../src/brokerage/start.ts'
import { Customer, control, eventually, Listener, openBrokerage, send, tokenCall, type Wire } from './support.ts'

const fault = (brokerage: Brokerage, spec: Wire): Promise<Wire> => control(brokerage, 'POST', '/faults', spec)
const booked = async (brokerage: Brokerage, id: string): Promise<number> =>
  (await control(brokerage, 'GET', `/orders?client_order_id=${id}`)).accepted

test('F1 a lost answer: the order exists, the answer does not arrive', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'lose_answer', times: 1 })
  await assert.rejects(alex.submit({ client_order_id: 'lost' }))
  assert.equal(await booked(brokerage, 'lost'), 1)
  assert.equal((await alex.find('lost')).body.order.state, 'open')
  assert.equal((await alex.submit({ client_order_id: 'next' })).status, 201)
})

test('F2 a connection reset before the operation leaves no order', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'reset', times: 1 })
  await assert.rejects(alex.submit({ client_order_id: 'never' }))
  assert.equal(await booked(brokerage, 'never'), 0)
  assert.equal((await alex.find('never')).status, 404)
})

test('F3 a delayed answer arrives late, the order at once', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'delay', ms: 1_500, after: true, times: 1 })
  let isAnswered = false
  const late = alex.submit({ client_order_id: 'late' }).finally(() => {
    isAnswered = true
  })
  assert.equal(
    (
      await eventually(
        () => alex.find('late'),
        ({ status }) => status === 200
      )
    ).body.order.state,
    'open'
  )
  assert.equal(isAnswered, false)
  assert.equal((await late).status, 201)
})

test('a delay before the operation delays the order too', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'delay', ms: 1_500, times: 1 })
  const late = alex.submit({ client_order_id: 'late' })
  assert.equal((await alex.find('late')).status, 404)
  assert.equal((await late).status, 201)
})

test('F4 a hidden order is on the book, but in no answer and no event until its time', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const stream = await Listener.of(alex)
  await fault(brokerage, { on: 'orders.submit', do: 'hide', ms: 3_600_000, times: 1 })
  await assert.rejects(alex.submit({ client_order_id: 'hidden' }))
  assert.equal(await booked(brokerage, 'hidden'), 1)
  assert.equal((await alex.find('hidden')).status, 404)
  assert.deepEqual((await alex.call('GET', '/orders')).body.items, [])
  assert.ok(!stream.events.some(({ order }) => order !== undefined))
  const { orders } = await control(brokerage, 'GET', '/orders?client_order_id=hidden')
  await control(brokerage, 'POST', `/orders/${orders[0].id}/reveal`)
  await stream.until(() => stream.events.some(({ order }) => order?.client_order_id === 'hidden'))
  assert.equal((await alex.find('hidden')).body.order.state, 'open')
  assert.ok(stream.events.every(({ seq }, nth) => seq === stream.ready.seq + 1 + nth))
})

test('F6 F7 invalid answers: garbage, HTML, a truncated one', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'garbage', times: 1, after: true })
  const garbage = await alex.submit({ client_order_id: 'garbage' })
  assert.deepEqual([garbage.status, garbage.body], [201, { ok: true }])
  await fault(brokerage, { on: 'orders.submit', do: 'html', times: 1, after: true })
  const html = await alex.submit({ client_order_id: 'html' })
  assert.deepEqual([html.status, html.headers.get('content-type')], [200, 'text/html; charset=utf-8'])
  await fault(brokerage, { on: 'orders.submit', do: 'truncate', times: 1 })
  const cut = await alex.submit({ client_order_id: 'cut' })
  assert.equal(cut.status, 201)
  assert.equal(cut.body, undefined)
  assert.match(cut.text, /^\{"as_of"/)
  for (const id of ['garbage', 'html', 'cut']) assert.equal(await booked(brokerage, id), 1, id)
  await fault(brokerage, { on: 'orders.submit', do: 'html', status: 502, times: 1 })
  assert.equal((await alex.submit({ client_order_id: 'gateway' })).status, 502)
  assert.equal(await booked(brokerage, 'gateway'), 0)
})

test('F8 F9 F10 statuses before and after the operation, a given number of times', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'status', status: 503, after: true, times: 1 })
  const error = await alex.submit({ client_order_id: 'taken' })
  assert.deepEqual([error.status, error.body.error.code, await booked(brokerage, 'taken')], [503, 'internal_error', 1])
  await fault(brokerage, { on: 'orders.submit', do: 'status', status: 429, retry_after: 2, times: 2 })
  for (let nth = 0; nth < 2; nth++) {
    const slow = await alex.submit({ client_order_id: 'later' })
    assert.deepEqual([slow.status, slow.body.error.code, slow.headers.get('retry-after')], [429, 'slow_down', '2'])
  }
  assert.equal((await alex.submit({ client_order_id: 'later' })).status, 201)
  await fault(brokerage, { on: 'orders.*', do: 'status', status: 401, times: 1 })
  const unknown = await alex.call('GET', '/orders')
  assert.deepEqual([unknown.status, unknown.body.error.code], [401, 'token_invalid'])
  assert.equal((await alex.call('GET', '/orders')).status, 200)
})

test('F16 lists that are empty or lack a page', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  for (let nth = 0; nth < 6; nth++) await alex.submit({ quantity: '1', client_order_id: `n${nth}` })
  await fault(brokerage, { on: 'orders.list', do: 'empty', times: 1 })
  assert.deepEqual((await alex.call('GET', '/orders')).body.items, [])
  await fault(brokerage, { on: 'orders.list', do: 'lose_page', page: 2 })
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { body } = await alex.call('GET', `/orders?limit=2&sort=asc${cursor === null ? '' : `&cursor=${cursor}`}`)
    seen.push(...body.items.map((order: Wire) => order.client_order_id))
    cursor = body.next
  } while (cursor !== null)
  assert.deepEqual(seen, ['n0', 'n1', 'n4', 'n5'])
})

test('a list with one record that cannot be read', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  for (let nth = 0; nth < 3; nth++) await alex.submit({ quantity: '1', client_order_id: `n${nth}` })
  const listed = async () => (await alex.call('GET', '/orders?sort=asc')).body
  const whole = await listed()
  const [first, second, third] = whole.items
  await fault(brokerage, { on: 'orders.list', do: 'spoil', times: 1 })
  const { items, ...rest } = await listed()
  assert.deepEqual(items.slice(1), [second, third])
  assert.deepEqual([Object.keys(items[0]), items[0].id, items[0].quantity], [Object.keys(first), {}, {}])
  assert.deepEqual(
    Object.keys(rest).toSorted(),
    Object.keys(whole)
      .filter(name => name !== 'items')
      .toSorted()
  )
  await fault(brokerage, { on: 'orders.list', do: 'spoil', record: 'n1', body: 7, times: 1 })
  assert.deepEqual((await listed()).items, [first, 7, third])
  await fault(brokerage, { on: 'orders.list', do: 'spoil', record: 'elsewhere', times: 1 })
  assert.deepEqual((await listed()).items, whole.items)
})

test('refusals by the operator, before and after acceptance', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'refuse', code: 'compliance', message: 'Ask the operator.', times: 1 })
  const refused = await alex.submit({ client_order_id: 'before' })
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.message, refused.body.order],
    [422, 'compliance', 'Ask the operator.', null]
  )
  assert.equal(await booked(brokerage, 'before'), 0)
  const stream = await Listener.of(alex)
  await fault(brokerage, { on: 'orders.submit', do: 'refuse_later', code: 'risk', message: 'Too large.', times: 1 })
  const taken = await alex.submit({ client_order_id: 'after' })
  assert.deepEqual([taken.status, taken.body.order.state], [201, 'open'])
  const { order } = (await alex.find('after')).body
  assert.deepEqual([order.state, order.reason], ['refused', { code: 'risk', message: 'Too large.' }])
  await stream.until(() => stream.events.some(event => event.order?.state === 'refused'))
})

test('F13 a fill can overtake a slow cancel', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { order } = (await alex.submit({ client_order_id: 'crossed' })).body
  const stream = await Listener.of(alex)
  await fault(brokerage, { on: 'orders.cancel', do: 'slow', ms: 300, times: 1 })
  const answer = await alex.call('DELETE', `/orders/${order.id}`)
  assert.deepEqual([answer.status, answer.body.order.state], [202, 'cancelling'])
  assert.equal((await alex.call('DELETE', `/orders/${order.id}`)).body.error.code, 'order_busy')
  await control(brokerage, 'PUT', '/market/SPY', { price: '485.00' })
  const filled = await eventually(
    () => alex.find('crossed'),
    ({ body }) => body.order.state !== 'cancelling'
  )
  assert.equal(filled.body.order.state, 'done')
  assert.deepEqual(stream.events.filter(({ ev }) => ev === 'order').map(event => event.order.state)[0], 'cancelling')
})

test('a slow cancel or amendment takes effect after its delay', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.cancel', do: 'slow', ms: 50, times: 1 })
  await fault(brokerage, { on: 'orders.amend', do: 'slow', ms: 50, times: 1 })
  const { order: one } = (await alex.submit({ client_order_id: 'one' })).body
  const { order: two } = (await alex.submit({ client_order_id: 'two' })).body
  await alex.call('DELETE', `/orders/${one.id}`)
  const amending = await alex.call('POST', `/orders/${two.id}/amend`, { limit: '480.00', client_order_id: 'three' })
  assert.deepEqual([amending.status, amending.body.order.state, amending.body.superseded], [202, 'amending', null])
  await eventually(
    () => alex.find('one'),
    ({ body }) => body.order.state === 'cancelled'
  )
  const replacement = await eventually(
    () => alex.find('three'),
    ({ status }) => status === 200
  )
  assert.equal(replacement.body.order.amends, two.id)
})

test('cancels and amendments with lost answers have taken effect', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const { order } = (await alex.submit({ client_order_id: 'a' })).body
  await fault(brokerage, { on: 'orders.amend', do: 'lose_answer', times: 1 })
  await assert.rejects(alex.call('POST', `/orders/${order.id}/amend`, { limit: '480.00', client_order_id: 'b' }))
  const amended = (await alex.find('b')).body.order
  assert.equal(amended.amends, order.id)
  await fault(brokerage, { on: 'orders.cancel', do: 'lose_answer', times: 1, client_order_id: 'b' })
  await assert.rejects(alex.call('DELETE', `/orders/${amended.id}`))
  assert.equal((await alex.find('b')).body.order.state, 'cancelled')
})

test('faults match by login, symbol and client order id, can wait, and are counted and cleared', async () => {
  await using brokerage = await openBrokerage()
  const [alex, robin] = [await Customer.of(brokerage), await Customer.of(brokerage, 'robin')]
  const { fault: set } = await fault(brokerage, { on: 'orders.submit', do: 'status', status: 500, login: 'robin', skip: 1 })
  assert.equal((await alex.submit()).status, 201)
  assert.equal((await robin.submit()).status, 201)
  assert.equal((await robin.submit()).status, 500)
  assert.equal((await control(brokerage, 'GET', '/faults')).items[0].hits, 1)
  await control(brokerage, 'DELETE', `/faults/${set.id}`)
  await fault(brokerage, { on: 'orders.submit', do: 'status', status: 500, symbol: 'AAPL' })
  await fault(brokerage, { on: 'orders.submit', do: 'status', status: 502, client_order_id: 'bad' })
  assert.equal((await alex.submit()).status, 201)
  assert.equal((await alex.submit({ symbol: 'AAPL', limit: '1.00' })).status, 500)
  assert.equal((await alex.submit({ client_order_id: 'bad' })).status, 502)
  await control(brokerage, 'DELETE', '/faults')
  assert.equal((await alex.submit({ client_order_id: 'bad' })).status, 201)
  const { operations } = await control(brokerage, 'GET', '/counters')
  assert.equal(operations['orders.submit'].faults, 3)
  assert.equal(operations['orders.submit'].answers['201'], 4)
})

test('a hanging answer hangs until the client or the sandbox closes the connection', async () => {
  const brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  await fault(brokerage, { on: 'orders.submit', do: 'hang', times: 1 })
  const hanging = alex.submit({ client_order_id: 'hangs' }).then(
    () => 'answered',
    () => 'cut'
  )
  assert.equal((await alex.call('GET', '/me')).status, 200)
  assert.equal(await booked(brokerage, 'hangs'), 0)
  await brokerage.close()
  assert.equal(await hanging, 'cut')
})

test('the token endpoint fails as injected, in its own protocol', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const refresh = () => tokenCall(brokerage, { grant_type: 'refresh_token', refresh_token: alex.refreshToken })
  await fault(brokerage, { on: 'token', do: 'status', status: 503, retry_after: 1, times: 1 })
  const busy = await refresh()
  assert.deepEqual([busy.status, busy.body.error, busy.headers.get('retry-after')], [503, 'temporarily_unavailable', '1'])
  await fault(brokerage, { on: 'token', do: 'status', status: 400, code: 'invalid_grant', times: 1 })
  assert.equal((await refresh()).body.error, 'invalid_grant')
  await fault(brokerage, { on: 'token', do: 'reset', times: 1 })
  await assert.rejects(refresh())
  await fault(brokerage, { on: 'token', do: 'html', times: 1 })
  assert.match((await refresh()).text, /^<!doctype html>/)
  const fine = await refresh()
  assert.equal(fine.status, 200)
  assert.equal(fine.headers.get('content-type'), 'application/json; charset=utf-8')
})

test('streams are dropped, muted, garbled and refused', async () => {
  await using brokerage = await openBrokerage({ heartbeatMs: 50 })
  const alex = await Customer.of(brokerage)
  const cut = await Listener.of(alex)
  await control(brokerage, 'POST', '/streams', { do: 'drop', login: 'alex' })
  await cut.until(() => cut.closed !== undefined)
  assert.equal(cut.closed, 1006)
  const polite = await Listener.of(alex)
  await control(brokerage, 'POST', '/streams', { do: 'drop', code: 1012 })
  await polite.until(() => polite.closed !== undefined)
  assert.equal(polite.closed, 1012)
  for (const code of [1000, 1003, 1007, 1014, 3000, 4999]) {
    const dropped = await Listener.of(alex)
    await control(brokerage, 'POST', '/streams', { do: 'drop', code })
    await dropped.until(() => dropped.closed !== undefined)
    assert.equal(dropped.closed, code)
  }
  const garbled = await Listener.of(alex)
  await control(brokerage, 'POST', '/streams', { do: 'garble' })
  await garbled.until(messages => messages.some(message => typeof message === 'string'))
  await fault(brokerage, { on: 'stream.connect', do: 'status', status: 503, times: 1 })
  await assert.rejects(Listener.of(alex))
  await fault(brokerage, { on: 'stream.connect', do: 'reset', times: 1 })
  await assert.rejects(Listener.of(alex))
})

test('a drop with a code that no socket can send is refused, and the streams stay', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const open = await Listener.of(alex)
  for (const code of [1004, 1005, 1006, 1015, 1016, 2000, 2999, 999, 5000]) {
    const { status, body } = await send(`${brokerage.controlUrl}/streams`, 'POST', { do: 'drop', code })
    assert.deepEqual([status, body.error.code, body.error.field], [400, 'bad_request', 'code'], String(code))
    assert.match(body.error.message, new RegExp(`must be .* to .*, was ${code}$`))
  }
  assert.equal(open.closed, undefined)
})

test('a mute stream sends nothing and loses the events of that time', async () => {
  await using brokerage = await openBrokerage({ heartbeatMs: 50 })
  const alex = await Customer.of(brokerage)
  const [mute, other] = [await Listener.of(alex), await Listener.of(await Customer.of(brokerage, 'robin'))]
  const beats = async (count: number) => {
    const before = other.messages.length
    await other.until(messages => messages.length >= before + count)
  }
  await control(brokerage, 'POST', '/streams', { do: 'mute', login: 'alex' })
  // Earlier messages may still be in transit.
  await beats(1)
  const received = mute.messages.length
  await alex.submit()
  await beats(3)
  assert.equal(mute.messages.length, received)
  await control(brokerage, 'POST', '/streams', { do: 'normal', login: 'alex' })
  await mute.until(messages => messages.length > received)
  assert.ok(mute.messages.at(-1).seq > mute.ready.seq)
  assert.deepEqual(mute.events, [])
})

test('F11 events are repeated, reordered, delayed or lost', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const stream = await Listener.of(alex)
  const step = async (order: Wire, many: number): Promise<readonly number[]> => {
    const before = stream.events.length
    await control(brokerage, 'POST', '/streams', order)
    await alex.submit()
    await stream.until(() => stream.events.length >= before + many)
    await control(brokerage, 'POST', '/streams', { do: 'normal' })
    return stream.events.slice(before).map(({ seq }) => seq)
  }
  const [first = 0, second = 0] = await step({ do: 'normal' }, 2)
  assert.equal(second, first + 1)
  assert.deepEqual(await step({ do: 'duplicate', times: 1 }, 3), [first + 2, first + 2, first + 3])
  assert.deepEqual(await step({ do: 'reorder', window: 2 }, 2), [first + 5, first + 4])
  assert.deepEqual(await step({ do: 'lose', times: 1 }, 1), [first + 7])
  const begun = performance.now()
  assert.deepEqual(await step({ do: 'delay', ms: 120 }, 2), [first + 8, first + 9])
  assert.ok(performance.now() - begun >= 119)
})

test('an invalid fault is refused', async () => {
  await using brokerage = await openBrokerage()
  for (const spec of [
    {},
    { on: 'orders.submit' },
    { on: 'nothing', do: 'reset' },
    { on: 'orders.submit', do: 'explode' },
    { on: 'orders.submit', do: 'delay' },
    { on: 'orders.submit', do: 'status' },
    { on: 'orders.submit', do: 'reset', time: 1 },
    { on: 'orders.submit', do: 'reset', times: 0 }
  ]) {
    assert.equal((await send(`${brokerage.controlUrl}/faults`, 'POST', spec)).status, 400, JSON.stringify(spec))
  }
})
