import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, StreamClient } from './support.ts'

const IEX = '/v2/iex'
const CRYPTO = '/v1beta3/crypto/us'
const last = (stream: StreamClient) => stream.messages.at(-1)

test('a stream greets, and gives nothing before it knows who asks', async () => {
  await using brokerage = await openBrokerage()
  const { keys } = await Client.of(brokerage)
  const stream = await StreamClient.open(brokerage, `/data-stream${IEX}`)
  stream.send({ action: 'subscribe', trades: ['SPY'] })
  stream.send('nonsense')
  stream.send({ action: 'dance' })
  stream.send({ action: 'auth', key: keys.key_id, secret: keys.secret_key })
  stream.send({ action: 'auth', key: keys.key_id, secret: keys.secret_key })
  await stream.until(messages => messages.length === 6)
  assert.deepEqual(stream.messages, [
    { T: 'success', msg: 'connected' },
    { T: 'error', code: 401, msg: 'not authenticated' },
    { T: 'error', code: 400, msg: 'invalid syntax' },
    { T: 'error', code: 400, msg: 'invalid syntax' },
    { T: 'success', msg: 'authenticated' },
    { T: 'error', code: 403, msg: 'already authenticated' }
  ])
  assert.ok(stream.binary.every(isBinary => !isBinary))
  stream.close()
})

test('subscriptions add up, and are always reported in full', async () => {
  await using brokerage = await openBrokerage()
  const stream = await StreamClient.ofData(await Client.of(brokerage), IEX)
  const asks = async (message: Wire) => {
    const before = stream.messages.length
    stream.send(message)
    await stream.until(messages => messages.length > before)
    return last(stream)
  }
  const none = { updatedBars: [], dailyBars: [], statuses: [], lulds: [], imbalances: [] }
  assert.deepEqual(await asks({ action: 'subscribe', trades: ['SPY'], bars: ['SPY'] }), {
    ...{ T: 'subscription', trades: ['SPY'], quotes: [], bars: ['SPY'], ...none },
    ...{ corrections: ['SPY'], cancelErrors: ['SPY'] }
  })
  const both = await asks({ action: 'subscribe', trades: ['AAPL', 'SPY'], quotes: ['AAPL', 'NOSUCH'] })
  assert.deepEqual(
    [both.trades, both.quotes, both.corrections],
    [
      ['SPY', 'AAPL'],
      ['AAPL', 'NOSUCH'],
      ['SPY', 'AAPL']
    ]
  )
  const less = await asks({ action: 'unsubscribe', trades: ['SPY'], quotes: ['AAPL', 'MSFT'] })
  assert.deepEqual([less.trades, less.quotes, less.cancelErrors], [['AAPL'], ['NOSUCH'], ['AAPL']])
  assert.equal((await asks({ action: 'subscribe', orderbooks: ['SPY'] })).code, 410)
  assert.equal((await asks({ action: 'subscribe', trades: 'SPY' })).code, 400)
  assert.equal((await asks({ action: 'subscribe', trades: ['no spaces'] })).code, 400)
  await control(brokerage, 'PUT', '/dialects/alpaca', { symbols_per_stream: 3 })
  stream.close()
  const small = await StreamClient.ofData(await Client.of(brokerage), IEX)
  small.send({ action: 'subscribe', trades: ['SPY', 'AAPL'], quotes: ['SPY'] })
  small.send({ action: 'subscribe', quotes: ['AAPL'] })
  await small.until(messages => messages.some(({ code }) => code === 405))
  small.send({ action: 'unsubscribe', trades: ['NOSUCH'] })
  await small.until(messages => last(small).T === 'subscription' && messages.length > 4)
  assert.deepEqual([last(small).trades, last(small).quotes], [['SPY', 'AAPL'], ['SPY']], 'a refused subscription changes nothing')
  small.close()
})

test('a login has so many streams of one endpoint and no more; the place is free again when one ends', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  await control(brokerage, 'PUT', '/dialects/alpaca', { connections_per_stream: 1 })
  const first = await StreamClient.ofData(client, IEX)
  const second = await StreamClient.open(brokerage, `/data-stream${IEX}`)
  second.send({ action: 'auth', key: 'oauth', secret: client.token })
  await second.until((_messages, { closed }) => closed !== undefined)
  assert.deepEqual(last(second), { T: 'error', code: 406, msg: 'connection limit exceeded' })
  for (const stream of [first, await StreamClient.ofData(client, CRYPTO)]) stream.close()
  let again: StreamClient | undefined
  for (let tries = 0; again === undefined && tries < 50; tries++) {
    const stream = await StreamClient.open(brokerage, `/data-stream${IEX}`)
    stream.send({ action: 'auth', key: 'oauth', secret: client.token })
    await stream.until(messages => messages.length === 2)
    if (last(stream).msg === 'authenticated') again = stream
  }
  assert.ok(again !== undefined)
  again.close()
})
