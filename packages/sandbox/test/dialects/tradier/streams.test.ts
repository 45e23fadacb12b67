import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control } from '../../brokerage/support.ts'
import { Client, openBrokerage, Stream } from './support.ts'

test('a session is valid once, for five minutes', async () => {
  let now = Date.now()
  await using brokerage = await openBrokerage({ deps: { realNow: () => now } })
  const client = await Client.of(brokerage)
  const session = async () => (await client.call('POST', '/accounts/events/session')).body.stream.sessionid
  const attempt = async (sessionid: string) => {
    const stream = await Stream.open(brokerage, 'accounts')
    stream.send({ events: ['order'], sessionid, excludeAccounts: [] })
    await stream.until(({ messages, closed }) => messages.length > 0 || closed !== undefined)
    return stream
  }
  const first = await session()
  assert.equal((await attempt(first)).messages[0].event, 'heartbeat')
  assert.deepEqual((await attempt(first)).messages[0], { error: 'Session not found' })
  const late = await session()
  now += 5 * 60_000
  assert.deepEqual((await attempt(late)).messages[0], { error: 'Session not found' })
  assert.deepEqual((await attempt('made-up')).messages[0], { error: 'Session not found' })
})

test('a second stream of a customer closes the first', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const first = await Stream.ofAccounts(client)
  const other = await Stream.ofAccounts(await Client.of(brokerage, 'robin'))
  await Stream.ofAccounts(client)
  await first.until(({ closed }) => closed !== undefined)
  assert.deepEqual(first.messages.at(-1), { error: 'Too many sessions requested' })
  assert.equal(other.closed, undefined)
})

test('some orders are reported open before pending', async () => {
  await using brokerage = await openBrokerage({ options: { swapChance: 128 } })
  const client = await Client.of(brokerage)
  const stream = await Stream.ofAccounts(client)
  for (let nth = 0; nth < 24; nth++) await client.placed(client.order())
  await stream.until(({ orders }) => orders.length === 48)
  const firsts = stream.orders.filter((_, nth) => nth % 2 === 0).map(({ status }) => status)
  assert.deepEqual(new Set(firsts), new Set(['open', 'pending']))
})

test('stream faults, and the end of the grant', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await Stream.ofAccounts(client)
  const order = (fields: object) => control(brokerage, 'POST', '/streams', { dialect: 'tradier', on: 'account', login: 'alex', ...fields })
  assert.equal((await order({ do: 'lose', times: 1 })).streams, 1)
  const id = await client.placed(client.order())
  await stream.until(({ orders }) => orders.length > 0)
  assert.deepEqual(
    stream.orders.map(event => [event.id, event.status]),
    [[id, 'open']]
  )
  await order({ do: 'garble' })
  await stream.until(({ messages }) => messages.includes('{"id":9004'))
  const { items } = await control(brokerage, 'GET', '/streams')
  assert.ok(items.some((item: { dialect?: string; on: string }) => item.dialect === 'tradier' && item.on === 'account'))
  await control(brokerage, 'POST', '/logins/alex/revoke', {})
  await stream.until(({ closed }) => closed !== undefined)
  assert.equal((await client.get('/user/profile')).status, 401)
})

test('a muted stream sends neither messages nor pongs', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await Stream.ofAccounts(client)
  stream.ping()
  await stream.until(({ pongs }) => pongs === 1)
  await control(brokerage, 'POST', '/streams', { dialect: 'tradier', on: 'account', do: 'mute', ms: 0 })
  stream.ping()
  const count = stream.messages.length
  await client.placed(client.order())
  await control(brokerage, 'POST', '/streams', { dialect: 'tradier', on: 'account', do: 'normal' })
  await stream.until(({ messages }) => messages.length > count)
  assert.deepEqual([stream.messages[count].event, stream.orders.length, stream.pongs], ['heartbeat', 0, 1])
})

test('a wrong subscription is answered with an error, an unreadable one closes the stream', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const { body } = await client.call('POST', '/accounts/events/session')
  const stream = await Stream.open(brokerage, 'accounts')
  stream.send({ events: ['positions'], sessionid: body.stream.sessionid })
  await stream.until(({ messages }) => messages.length > 0)
  assert.deepEqual(stream.messages[0], { error: 'events must be ["order"]' })
  stream.send('{"events":')
  await stream.until(({ closed }) => closed !== undefined)
})

const marketSession = async (client: Client) => (await client.call('POST', '/markets/events/session')).body.stream.sessionid

test('the last list of symbols applies', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await Stream.open(brokerage, 'markets')
  const sessionid = await marketSession(client)
  stream.send({ symbols: ['SPY'], sessionid, filter: ['quote', 'timesale'], linebreak: true, validOnly: true })
  await stream.until(({ messages }) => messages.some(({ type }) => type === 'quote'))
  await control(brokerage, 'PUT', '/market/SPY', { price: '501.25' })
  await stream.until(({ messages }) => messages.some(({ type, last }) => type === 'timesale' && last === '501.25'))
  const quote = stream.messages.findLast(({ type }) => type === 'quote')
  assert.deepEqual(Object.keys(quote), ['type', 'symbol', 'bid', 'ask', 'bidsz', 'biddate', 'asksz', 'askdate'])
  assert.deepEqual([typeof quote.bid, typeof quote.bidsz, typeof quote.biddate], ['number', 'number', 'string'])
  assert.ok(stream.messages.every(({ type }) => ['quote', 'timesale'].includes(type)))
  stream.send({ symbols: ['BRK/B', 'NOPE'], sessionid, filter: ['quote'], linebreak: true })
  await stream.until(({ messages }) => messages.some(({ symbol }) => symbol === 'BRK/B'))
  const until = stream.messages.length
  await control(brokerage, 'PUT', '/market/SPY', { price: '502.00' })
  await control(brokerage, 'PUT', '/market/BRK.B', { price: '450.00' })
  await stream.until(({ messages }) => messages.slice(until).some(({ type }) => type === 'timesale'))
  assert.ok(stream.messages.slice(until).every(({ symbol }) => symbol === 'BRK/B'))
  stream.send({ symbols: [], sessionid })
  await stream.until(({ messages }) => messages.some(({ error }) => error === 'symbols are missing'))
})

test('sequence numbers of prints ascend', async () => {
  await using brokerage = await openBrokerage()
  const client = await Client.of(brokerage)
  const stream = await Stream.open(brokerage, 'markets')
  stream.send({ symbols: ['SPY'], sessionid: await marketSession(client), filter: ['timesale', 'quote'] })
  await stream.until(({ messages }) => messages.length > 0)
  for (const price of ['500.10', '500.20', '500.30']) await control(brokerage, 'PUT', '/market/SPY', { price })
  await stream.until(({ messages }) => messages.some(({ type, last }) => type === 'timesale' && last === '500.3'))
  const numbers = stream.messages.filter(({ type }) => type === 'timesale').map(({ seq }) => seq)
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b)
  )
})
