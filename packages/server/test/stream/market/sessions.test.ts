import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketRefusal } from '@trunkline/core/app/market/refusal'
import type { UserKey } from '@trunkline/core/domain/ids'
import { bar, NOON, quote, trade } from '@trunkline/testkit/market-stage'
import { Node } from './node.ts'

test('a user has so many sessions; one that ends, or a newer token, frees a slot', async () => {
  const node = new Node({ total: 100, perUser: 2, perAddress: 100, platformPercent: 100 })
  const opened = async (token: string) => {
    const session = node.open()
    session.use(token)
    await node.stage.clock.settled()
    return { ...session, reply: session.client.messages.at(-1) }
  }
  node.issue('token', 1)
  const [first, second, third] = [await opened('token'), await opened('token'), await opened('token')]
  assert.deepEqual([first.reply?.type, second.reply?.type, third.reply?.error_code], ['auth_success', 'auth_success', 'auth_error'])
  assert.match(String(third.reply?.message), /2 sessions/)
  assert.equal(first.client.closed, null)
  first.listener.gone()
  assert.equal((await opened('token')).reply?.type, 'auth_success')
  node.issue('newer', 2)
  assert.equal((await opened('newer')).reply?.type, 'auth_success')
  assert.equal(second.client.closed, 4003)
  assert.equal((await opened('newer')).reply?.type, 'auth_success')
  assert.equal((await opened('newer')).reply?.error_code, 'auth_error')
})

test('a session is known once its token is good, and not before', async () => {
  const node = new Node()
  node.issue('token', 1)
  const session = node.open()
  session.use('another')
  await node.stage.clock.settled()
  assert.equal(session.seen.isKnown, false)
  session.use('token')
  await node.stage.clock.settled()
  assert.equal(session.seen.isKnown, true)
})

test('requests of a session are answered when they can be: none waits for another’s history', async () => {
  const node = new Node()
  const { client, send } = await node.authenticated()
  const { broker, clock } = node.stage
  broker.list('QQQ')
  broker.history.set('QQQ 1m', [bar(NOON - 60_000, '5')])
  const gate = Promise.withResolvers<void>()
  broker.hold = () => (broker.requests.at(-1)?.symbol === 'SPY' ? gate.promise : Promise.resolve())
  const window = { start_time: '2026-01-05T14:00:00Z', end_time: '2026-01-05T15:00:00Z' }
  send({ action: 'subscribe', channel: 'bars', symbol: 'SPY', interval: '1m', backfill_nbars: 100, request_id: 'long' })
  send({ action: 'snapshot', data_type: 'bars', symbol: 'SPY', interval: '1m', ...window, request_id: 'past' })
  await clock.settled()
  send({ action: 'subscribe', channel: 'bars', symbol: 'QQQ', interval: '1m', backfill_nbars: 1, request_id: 'short' })
  send({ action: 'list_subscriptions', request_id: 'list' })
  await clock.settled()
  const answers = () => client.messages.map(({ request_id }) => request_id).filter(id => id !== undefined && id !== 'r')
  assert.deepEqual(answers(), ['list', 'short'])
  assert.equal(client.updates.length, 1)
  gate.resolve()
  await clock.settled()
  assert.deepEqual(answers().slice(2).toSorted(), ['long', 'past'])
})

test('subscriptions that are being made count for the most there may be', async () => {
  const node = new Node()
  const { client, send } = await node.authenticated()
  const gate = Promise.withResolvers<void>()
  node.stage.broker.hold = () => gate.promise
  for (let index = 0; index <= 500; index += 1)
    send({ action: 'subscribe', channel: 'bars', symbol: 'SPY', interval: '1m', request_id: `${index}` })
  await node.stage.clock.settled()
  assert.deepEqual(
    client.messages.slice(1).map(({ request_id, error_code }) => [request_id, error_code]),
    [['500', 'subscription_limit']]
  )
  gate.resolve()
  await node.stage.clock.settled()
  assert.equal(client.messages.filter(({ type }) => type === 'subscription_success').length, 500)
})

test('a reader that is behind gets the newest quote and book when it has caught up, and every trade and closed bar', async () => {
  const node = new Node()
  const { client, listener, send } = await node.authenticated()
  send({ action: 'subscribe', channel: 'quotes', symbol: 'SPY' })
  send({ action: 'subscribe', channel: 'trades', symbol: 'SPY' })
  send({ action: 'subscribe', channel: 'bars', symbol: 'SPY', interval: '1m' })
  await node.stage.clock.settled()
  const { broker } = node.stage
  client.isBehind = true
  for (const price of ['1', '2', '3']) {
    broker.topic('quotes', 'SPY').quote(quote(price))
    broker.topic('trades', 'SPY').trade(trade(NOON, price))
  }
  broker.topic('bars', 'SPY').bar(bar(NOON, '1', false))
  broker.topic('bars', 'SPY').bar(bar(NOON, '2'))
  broker.topic('bars', 'SPY').bar(bar(NOON + 60_000, '3', false))
  await node.stage.clock.advance(250)
  assert.deepEqual(
    client.updates.map(({ sub_id, p, c, st }) => [sub_id, p ?? c, st]),
    [
      ['2', '1', undefined],
      ['2', '2', undefined],
      ['2', '3', undefined],
      ['3', '2', 'c']
    ]
  )
  client.isBehind = false
  listener.caughtUp()
  assert.deepEqual(
    client.updates.slice(4).map(({ sub_id, bp, c, st }) => [sub_id, bp ?? c, st]),
    [
      ['1', '3', undefined],
      ['3', '3', 'o']
    ]
  )
})

test('what waits for a reader that is behind is dropped with its subscription', async () => {
  const node = new Node()
  const { client, listener, send } = await node.authenticated()
  send({ action: 'subscribe', channel: 'quotes', symbol: 'SPY' })
  await node.stage.clock.settled()
  client.isBehind = true
  node.stage.broker.topic('quotes', 'SPY').quote(quote('1'))
  send({ action: 'unsubscribe', sub_id: '1' })
  client.isBehind = false
  listener.caughtUp()
  assert.equal(client.updates.length, 0)
  assert.equal(node.stage.broker.open, 0)
})

test('a token that is superseded while it is looked up opens nothing beside the newer one', async () => {
  const node = new Node()
  node.issue('old', 1)
  const gate = Promise.withResolvers<void>()
  node.looking = () => gate.promise
  const [late, early] = [node.open(), node.open()]
  late.use('old')
  node.looking = async () => undefined
  node.issue('new', 2)
  early.use('new')
  await node.stage.clock.settled()
  assert.equal(early.client.messages.at(-1)?.type, 'auth_success')
  gate.resolve()
  await node.stage.clock.settled()
  assert.deepEqual([late.client.messages.at(-1)?.error_code, early.client.closed], ['auth_error', null])
})

test('a secret that is replaced while a token is looked up has the token looked up again [S30]', async () => {
  const node = new Node()
  node.issue('old', 1)
  const gate = Promise.withResolvers<void>()
  node.looking = () => gate.promise
  const late = node.open()
  late.use('old')
  node.looking = async () => undefined
  node.tokens.clear()
  node.bus.publish({ type: 'user_secret_changed', userKey: 'user' as UserKey })
  gate.resolve()
  await node.stage.clock.settled()
  assert.equal(late.client.messages.at(-1)?.error_code, 'auth_error')
})

test('a session that ends while a subscription is made leaves nothing of it running', async () => {
  const node = new Node()
  const { client, send } = await node.authenticated()
  node.stage.broker.answers = false
  send({ action: 'subscribe', channel: 'quotes', symbol: 'SPY' })
  await node.stage.clock.settled()
  node.bus.publish(Object({ type: 'connection_removed', userKey: 'user', connectionId: 'connection' }))
  assert.deepEqual([client.closed, client.messages.at(-1)?.error_code], [4003, 'connection_broken'])
  node.stage.broker.recover()
  await node.stage.clock.settled()
  assert.equal(node.stage.broker.open, 0)
  assert.equal(node.left, 1)
})

test('one loss of the broker is sent once for all subscriptions of a session', async () => {
  const node = new Node()
  const { client, send } = await node.authenticated()
  for (const symbol of ['SPY', 'BTC/USD']) send({ action: 'subscribe', channel: 'quotes', symbol })
  await node.stage.clock.settled()
  node.stage.broker.lose()
  await node.stage.clock.settled()
  const errors = client.messages.filter(({ type }) => type === 'error')
  assert.deepEqual(
    errors.map(({ error_code, request_id, sub_ids }) => [error_code, request_id, sub_ids]),
    [['broker_unavailable', null, ['1', '2']]]
  )
})

test('a session whose market cannot be had stays unauthenticated, and may try again', async () => {
  const node = new Node()
  node.issue('token', 1)
  const { client, send, use } = node.open()
  node.refusal = new MarketRefusal('broker_unavailable', 'not now')
  use('token')
  await node.stage.clock.settled()
  send({ action: 'list_subscriptions' })
  assert.deepEqual(
    client.messages.map(({ error_code }) => error_code),
    ['broker_unavailable', 'not_authenticated']
  )
  assert.equal(node.stream.authenticated, 0)
  node.refusal = null
  use('token')
  await node.stage.clock.settled()
  assert.equal(client.messages.at(-1)?.type, 'auth_success')
})

test('one user’s snapshots leave permits to others, and one that is no longer wanted is not read to its end', async () => {
  const node = new Node()
  const requested: string[] = []
  const gate = Promise.withResolvers<void>()
  node.stage.broker.bars = async function* ({ symbol }) {
    requested.push(symbol)
    await gate.promise
    yield [bar(NOON, '1')]
    requested.push('more')
    yield [bar(NOON + 60_000, '1')]
  }
  const [start_time, end_time] = ['2026-01-05T15:00:00Z', '2026-01-05T15:10:00Z']
  const snapshot = (symbol: string) => ({ action: 'snapshot', symbol, data_type: 'bars', interval: '1m', start_time, end_time })
  node.issue('token', 1)
  node.issueTo('other', 'other-token', 1)
  const mine = Array.from({ length: 10 }, () => node.open())
  for (const session of mine) session.use('token')
  const other = node.open()
  other.use('other-token')
  await node.stage.clock.settled()
  for (const session of mine) session.send(snapshot('SPY'))
  await node.stage.clock.settled()
  other.send(snapshot('BTC/USD'))
  await node.stage.clock.settled()
  assert.deepEqual(requested, ['SPY', 'SPY', 'BTC/USD'])
  for (const session of mine) session.listener.gone()
  gate.resolve()
  await node.stage.clock.settled()
  assert.deepEqual(requested, ['SPY', 'SPY', 'BTC/USD', 'more'])
  assert.equal(other.client.messages.at(-1)?.type, 'snapshot_response')
})

test('an address whose tokens were wrong too often costs no further look-up, and its good token still opens sessions', async () => {
  const node = new Node()
  let lookUps = 0
  node.looking = async () => {
    lookUps += 1
  }
  await node.authenticated()
  const before = lookUps
  for (let socket = 0; socket < 60; socket++) {
    const { use } = node.open()
    for (let count = 0; count < 5; count++) use('wrong')
    await node.stage.clock.settled()
  }
  assert.equal(lookUps - before, 100)
  const late = node.open()
  late.use('wrong')
  await node.stage.clock.settled()
  assert.deepEqual([late.client.messages.at(-1)?.error_code, late.client.closed], ['auth_error', 4029], 'at once')
  const good = node.open()
  good.use('token')
  await node.stage.clock.settled()
  assert.equal(good.client.messages.at(-1)?.type, 'auth_success')
})
