import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { json } from '../support/scripted-host.ts'
import { ACCOUNT, CLOSED, fixture, type Json, orderOf, positionOf } from './fixtures.ts'
import { Followed, Venue } from './venue.ts'

const END = { StreamStatus: 'EndSnapshot' }
const order = (id: string, status: string, executed = '0', more: Json = {}) =>
  orderOf(id, status, { ...more, leg: { ExecQuantity: executed } })

const list = (...orders: readonly Json[]): Json => ({ Orders: orders, Errors: [] })

test('live once both streams have sent their initial snapshot, which is not published', async () => {
  await using venue = await Venue.start()
  venue.greetings.set('/orders', [order('1', 'ACK'), order('2', 'FLL', '10', CLOSED)])
  venue.greetings.set('/positions', [positionOf('p1', 'F', '3'), END])
  await using followed = new Followed(venue.broker)
  await until(() => venue.open().length === 2, 'both are open')
  venue.send('/orders', { Heartbeat: 1, Timestamp: '2026-11-20T15:00:05Z' })
  venue.send('/positions', positionOf('p1', 'F', '4'))
  venue.send('/orders', END)
  await followed.receives(() => followed.history.includes('live'), 'live')
  venue.send('/orders', order('1', 'ACK'), order('1', 'ACK', '4'), order('1', 'FLL', '10', CLOSED), order('1', 'FLL', '10', CLOSED))
  await followed.receives(() => followed.history.includes('1 filled'), 'the order is filled')
  assert.deepEqual(
    followed.history.filter(kind => kind !== 'balances' && kind !== 'positions'),
    ['live', '1 partially_filled', '1 filled']
  )
  assert.deepEqual(venue.open(), [
    `/below/v3/brokerage/stream/accounts/${ACCOUNT}/orders`,
    `/below/v3/brokerage/stream/accounts/${ACCOUNT}/positions`
  ])
})

test('an order that is off the order book while it is replaced has not ended: it is read again', async () => {
  await using venue = await Venue.start()
  venue.greetings.set('/orders', [order('1', 'ACK'), END])
  await using followed = await Followed.live(venue.broker)
  venue.answer('GET /orders/1', list(order('1', 'ACK', '0', { LimitPrice: '401' })))
  venue.send('/orders', order('1', 'RSN'), order('1', 'OUT'))
  await followed.receives(() => followed.history.includes('1 working'), 'it works again')
  venue.send('/orders', order('1', 'ACK', '0', { LimitPrice: '401' }), order('1', 'UCN', '0', { LimitPrice: '401' }))
  venue.send('/orders', order('1', 'OUT', '0', { LimitPrice: '401', ...CLOSED }), order('1', 'OUT', '0', { LimitPrice: '401', ...CLOSED }))
  await followed.receives(() => followed.history.includes('1 cancelled'), 'it is cancelled')
  assert.deepEqual(
    followed.history.filter(kind => kind !== 'balances'),
    ['live', '1 pending_replace', '1 working', '1 pending_cancel', '1 cancelled']
  )
})

test('an order sent in an older state than before is a gap on the same connection', async () => {
  await using venue = await Venue.start()
  await using followed = await Followed.live(venue.broker)
  venue.send('/orders', order('1', 'FLL', '10', CLOSED), order('1', 'ACK', '4'))
  await followed.receives(() => followed.history.includes('gap missing'), 'the gap is reported')
  await followed.receives(events => events.filter(({ type }) => type === 'live').length === 2, 'live again')
  assert.equal(venue.streams.length, 2)
})

test('an order with unknown enum values is counted and a gap, and hides no other', async () => {
  await using venue = await Venue.start()
  venue.greetings.set('/orders', [order('0', 'ZZZ'), END])
  await using followed = await Followed.live(venue.broker)
  venue.send('/orders', order('1', 'ZZZ'), order('2', 'ACK'))
  await followed.receives(() => followed.history.includes('2 working'), 'the other one')
  assert.deepEqual(
    followed.history.filter(kind => kind !== 'balances'),
    ['live', 'gap malformed', 'live', '2 working']
  )
  assert.equal(venue.meter.counted('broker_unknown_values_total', { broker: 'TRADESTATION', field: 'Status' }), 2)
  assert.equal(venue.streams.length, 2)
})

test('an order and a position that cannot be read hide no others; the positions of the account are read', async () => {
  await using venue = await Venue.start()
  venue.greetings.set('/orders', [{ ...order('0', 'ACK'), OpenedDateTime: 7 }, END])
  venue.greetings.set('/positions', [{ ...positionOf('p1', 'F', 'two') }, positionOf('p2', 'MSFT', '3'), END])
  const rows = [positionOf('p1', 'F', 'two'), positionOf('p2', 'MSFT', '4')]
  venue.answer('GET /positions', { Positions: rows, Errors: [] })
  await using followed = await Followed.live(venue.broker)
  venue.send('/positions', positionOf('p2', 'MSFT', '4'))
  venue.send('/orders', order('2', 'ACK'))
  await followed.receives(() => followed.history.includes('2 working'), 'the other order')
  await followed.receives(events => events.some(({ type }) => type === 'positions'), 'the positions')
  const [read] = followed.events.flatMap(event => (event.type === 'positions' ? [event.positions] : []))
  assert.deepEqual([read?.items.map(({ symbol, quantity }) => [symbol, quantity]), read?.leftOut], [[['MSFT', '4']], ['p1']])
  assert.equal(followed.history[0], 'live')
  assert.equal(venue.streams.length, 2)
})

test('an order of another user is dropped', async () => {
  await using venue = await Venue.start()
  await using followed = await Followed.live(venue.broker)
  venue.send('/orders', { ...order('1', 'ACK'), AccountID: 'other' }, order('2', 'ACK'))
  venue.send('/positions', { ...positionOf('p1', 'F', '1'), AccountID: 'other' }, positionOf('p2', 'F', '2'))
  await followed.receives(events => ['order', 'positions'].every(type => events.some(event => event.type === type)), 'ours')
  assert.ok(!followed.history.includes('1 working'))
  assert.equal(venue.log.lines.filter(({ message }) => /not of this login/.test(message)).length, 2)
})

test('what the stream lost shows in the list: reported as a gap, once, and not while it is on its way', async () => {
  await using venue = await Venue.start({ compareMs: 100 })
  venue.greetings.set('/orders', [order('1', 'ACK'), END])
  venue.answer('GET /orders', list(order('1', 'ACK')))
  await using followed = await Followed.live(venue.broker)
  await until(() => venue.seen('GET /orders').length >= 3, 'it is compared')
  assert.deepEqual(followed.history, ['live'])
  // The list is ahead of the stream for a moment.
  venue.answer('GET /orders', list(order('1', 'ACK', '4')))
  const before = venue.seen('GET /orders').length
  await until(() => venue.seen('GET /orders').length > before, 'it is seen')
  venue.send('/orders', order('1', 'ACK', '4'))
  await until(() => venue.seen('GET /orders').length > before + 2, 'it is compared again')
  assert.ok(!followed.history.includes('gap missing'))
  venue.answer('GET /orders', list(order('1', 'FLL', '10', CLOSED), order('2', 'ACK')))
  await followed.receives(() => followed.history.includes('gap missing'), 'the loss is reported')
  const compared = venue.seen('GET /orders').length
  await until(() => venue.seen('GET /orders').length > compared + 3, 'it goes on')
  assert.equal(followed.history.filter(kind => kind === 'gap missing').length, 1)
  const gap = followed.events.find(event => event.type === 'gap')
  assert.ok(gap?.type === 'gap' && /has 2 that the stream did not send/.test(gap.reason))
})

test('GoAway and errors end a stream, and it is requested again; both are one outage', async () => {
  await using venue = await Venue.start()
  await using followed = await Followed.live(venue.broker)
  let lives = 1
  for (const [kind, line, cause] of [
    ['/orders', { StreamStatus: 'GoAway' }, 'lost'],
    ['/positions', { Error: 'InternalServerError', Message: 'no', AccountID: ACCOUNT }, 'refused'],
    ['/orders', { nonsense: true }, 'malformed']
  ] as const) {
    venue.send(kind, line)
    lives += 1
    await followed.receives(events => events.filter(({ type }) => type === 'live').length === lives, `live again after ${kind}`)
    assert.equal(followed.history.filter(kind => kind.startsWith('gap')).at(-1), `gap ${cause}`)
  }
  assert.equal(followed.history.filter(kind => kind.startsWith('gap')).length, 3)
  assert.equal(venue.open().length, 2)
})

test('an account that may not be streamed is left out of the next stream', async () => {
  await using venue = await Venue.start()
  venue.answer('GET /accounts', fixture('accounts').body)
  await using followed = await Followed.live(venue.broker)
  assert.ok(venue.open('/orders')[0]?.includes('/11111111,210FUT01/'))
  venue.send('/orders', { Error: 'Forbidden', Message: 'not streamed', AccountID: '210FUT01' })
  await followed.receives(events => events.filter(({ type }) => type === 'live').length === 2, 'live again')
  assert.ok(venue.open('/orders')[0]?.includes('/11111111/'))
})

test('a refused token is replaced; a refused grant ends the events', async () => {
  await using venue = await Venue.start()
  await using followed = await Followed.live(venue.broker)
  let isOver = false
  const byToken = (body: Json) => (seen: Json, response: Json) => {
    if (!isOver && seen.headers.authorization === 'Bearer token-2') json(response, 200, body)
    else json(response, 401, fixture('error.token').body)
  }
  venue.answer('GET /accounts', byToken(fixture('accounts').body))
  venue.answer('POST /token', (_seen: Json, response: Json) => {
    if (isOver) json(response, 403, { error: 'invalid_grant', error_description: 'Unknown or invalid refresh token.' })
    else json(response, 200, { access_token: 'token-2', token_type: 'Bearer', expires_in: 1_200 })
  })
  for (const { response } of venue.streams) response.end()
  await followed.receives(events => events.filter(({ type }) => type === 'live').length === 2, 'live with the other token')
  assert.equal(venue.holder.renewals, 1)
  isOver = true
  venue.answer('GET /stream', fixture('error.token').body, 401)
  for (const { response } of venue.streams) response.end()
  const error = await followed.ended
  assert.ok(error instanceof BrokerFault && error.kind === 'credentials_rejected', String(error))
  await until(() => venue.open().length === 0, 'no stream is left')
})

test('a full quota of streams is waited for as long as the broker says', async () => {
  await using venue = await Venue.start()
  venue.answer('GET /stream', fixture('error.throttled').body, 429, { 'x-ratelimit-reset': '1' })
  await using followed = new Followed(venue.broker)
  await followed.receives(() => followed.history.includes('gap refused'), 'it is reported')
  const from = performance.now()
  venue.answers.delete('GET /stream')
  await followed.receives(() => followed.history.includes('live'), 'live')
  assert.ok(performance.now() - from >= 800)
})
