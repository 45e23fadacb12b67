import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bar, MarketStatus } from '../../src/streams/market/items.ts'
import { accept, authenticated, bar, MINUTE_NS, streamOf } from './market.ts'
import { Network } from './scripted-socket.ts'

async function take(bars: AsyncIterator<Bar>, count: number): Promise<readonly string[]> {
  const found: string[] = []
  for (let at = 0; at < count; at += 1) {
    const { value } = await bars.next()
    if (value !== undefined) found.push(`${BigInt(value.ts) / MINUTE_NS}${value.st} ${value.c}`)
  }
  return found
}

test('bars go on after an interruption: what was missed comes once, and a closed bar never again', async () => {
  const network = new Network()
  const states: MarketStatus[] = []
  const bars = streamOf(network).bars({
    symbol: 'SPY',
    interval: '1m',
    backfill: 2,
    onStatus: state => states.push(state)
  })
  const first = await authenticated(network)
  assert.equal(first.sentAs('subscribe')[0]?.backfill_nbars, 2)
  accept(first, '1')
  first.receive(bar(100, 'c'), bar(101, 'c'), bar(102, 'o'))
  assert.deepEqual(await take(bars, 3), ['100c 1.00', '101c 1.00', '102o 1.00'])
  // The machine sleeps.
  network.sleep(4 * 60_000)
  first.drop()
  network.pass(250)
  const second = await authenticated(network)
  assert.equal(second.sentAs('subscribe')[0]?.backfill_nbars, 6)
  accept(second, '9')
  second.receive(...[100, 101, 102, 103, 104, 105].map(minute => bar(minute, 'c', '2.00', '9')), bar(106, 'o', '2.00', '9'))
  assert.deepEqual(await take(bars, 5), ['102c 2.00', '103c 2.00', '104c 2.00', '105c 2.00', '106o 2.00'])
  assert.deepEqual(states, [{ isLive: true }, { isLive: false, reason: 'closed with 1006' }, { isLive: true }])
})

test('an open bar that waits is replaced, a closed one never', async () => {
  const network = new Network()
  const bars = streamOf(network).bars({ symbol: 'SPY', interval: '1m' })
  const socket = await authenticated(network)
  accept(socket, '1')
  socket.receive(
    bar(1, 'o', '1.01'),
    bar(1, 'o', '1.02'),
    bar(1, 'c', '1.03'),
    bar(2, 'o', '1.04'),
    bar(2, 'c', '1.05'),
    bar(3, 'o', '1.06')
  )
  assert.deepEqual(await take(bars, 3), ['1c 1.03', '2c 1.05', '3o 1.06'])
})

test('a slow reader of quotes gets the newest one', async () => {
  const network = new Network()
  const quotes = streamOf(network).quotes({ symbol: 'SPY' })
  const socket = await authenticated(network)
  accept(socket, '1')
  for (const bp of ['1.00', '1.01', '1.02']) socket.receive({ bp, bs: '1', ap: null, as: null, ts: '5', sub_id: '1' })
  assert.deepEqual((await quotes.next()).value, { bp: '1.02', bs: '1', ap: null, as: null, ts: '5' })
})

test('a token that is taken no longer is replaced; three refusals end every reader', async () => {
  const network = new Network()
  let issued = 0
  const quotes = streamOf(network, { token: async () => `mdt_${++issued}` }).quotes({ symbol: 'SPY' })
  const tokens: unknown[] = []
  for (const _ of [1, 2, 3]) {
    network.last.open()
    await new Promise(setImmediate)
    tokens.push(network.last.sentAs('authenticate')[0]?.access_token)
    network.last.receive({ type: 'error', error_code: 'auth_error', request_id: 'authenticate', message: 'The token has ended.' })
    network.pass(45_000)
  }
  assert.deepEqual(tokens, ['mdt_1', 'mdt_2', 'mdt_3'])
  await assert.rejects(quotes.next(), { code: 'credentials_refused', message: 'auth_error: The token has ended.' })
})

test('a session that another token took over is not opened again, and the reason is given', async () => {
  const network = new Network()
  const quotes = streamOf(network).quotes({ symbol: 'SPY' })
  const socket = await authenticated(network)
  socket.receive({ type: 'error', error_code: 'auth_error', request_id: null, message: 'Another access token of this user is in use now.' })
  socket.drop(4003)
  network.pass(60_000)
  assert.equal(network.sockets.length, 1)
  await assert.rejects(quotes.next(), { code: 'ended_by_service', message: 'auth_error: Another access token of this user is in use now.' })
})

test('a refused subscription ends its reader only; one that the broker did not answer is asked again', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const [bad, good] = [stream.quotes({ symbol: 'NOPE' }), stream.quotes({ symbol: 'SPY' })]
  const socket = await authenticated(network)
  const [first, second] = socket.sentAs('subscribe')
  socket.receive({ type: 'error', error_code: 'unsupported_symbol', request_id: first?.request_id, message: 'no such symbol' })
  socket.receive({ type: 'error', error_code: 'broker_unavailable', request_id: second?.request_id, message: 'no answer' })
  await assert.rejects(bad.next(), { code: 'subscription_refused', reason: 'unsupported_symbol' })
  network.pass(5_000)
  assert.equal(socket.sentAs('subscribe').length, 3)
  accept(socket, '1')
  socket.receive({ bp: '1.00', bs: '1', ap: null, as: null, ts: '5', sub_id: '1' })
  assert.equal((await good.next()).value?.bp, '1.00')
})

test('a reader that leaves is unsubscribed, also while its answer is under way', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const over = new AbortController()
  const [early, late] = [stream.quotes({ symbol: 'A', signal: over.signal }), stream.quotes({ symbol: 'B' })]
  const reading = early.next()
  const socket = await authenticated(network)
  const [first, second] = socket.sentAs('subscribe')
  over.abort()
  assert.equal((await reading).done, true)
  socket.receive({ type: 'subscription_success', request_id: first?.request_id, sub_id: '1' })
  assert.deepEqual(
    socket.sentAs('unsubscribe').map(({ sub_id }) => sub_id),
    ['1']
  )
  socket.receive({ type: 'subscription_success', request_id: second?.request_id, sub_id: '2' })
  const last = late.next()
  socket.receive({ bp: '1.00', bs: '1', ap: null, as: null, ts: '5', sub_id: '2' })
  await last
  await late.return()
  assert.ok(socket.isClosed)
})

test('past bars are asked for again when the connection breaks', async () => {
  const network = new Network()
  const read = streamOf(network).history({ symbol: 'SPY', interval: '1h', start: '2026-01-05T15:00:00Z', end: '2026-01-05T17:00:00Z' })
  const first = await authenticated(network)
  assert.equal(first.sentAs('snapshot').length, 1)
  first.drop()
  network.pass(500)
  const second = await authenticated(network)
  const [request] = second.sentAs('snapshot')
  assert.equal(request?.start_time, '2026-01-05T15:00:00Z')
  second.receive({ type: 'snapshot_response', request_id: request?.request_id, data: [{ ...bar(1, 'c'), ev: 'b', sym: 'SPY' }] })
  assert.deepEqual(
    (await read).map(({ ts }) => ts),
    [String(MINUTE_NS)]
  )
  assert.ok(second.isClosed)
})
