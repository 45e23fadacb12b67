// Market data over sessions, tokens and readers that end at moments that do not suit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MarketStatus } from '../../src/streams/market/items.ts'
import { accept, authenticated, bar, streamOf } from './market.ts'
import { Network, type ScriptedSocket } from './scripted-socket.ts'

const turn = () => new Promise(setImmediate)
const MINUTE = 60_000

function askedBars(socket: ScriptedSocket): unknown {
  return socket.sentAs('subscribe').at(-1)?.backfill_nbars
}

/** Time passes in which the service answers and sends no update. */
function quiet(network: Network, minutes: number): void {
  for (let at = 0; at < minutes * 6; at += 1) {
    network.pass(10_000)
    network.last.receive({ type: 'pong' })
  }
}

async function reconnected(network: Network): Promise<ScriptedSocket> {
  network.last.drop()
  network.pass(4_000)
  return authenticated(network)
}

test('bars that close during an interruption are asked for, also if none had closed or come before it', async () => {
  const network = new Network()
  const bars = streamOf(network).bars({ symbol: 'SPY', interval: '1m' })
  const first = await authenticated(network)
  assert.equal(askedBars(first), 0)
  accept(first, '1')
  quiet(network, 3)
  const second = await reconnected(network)
  assert.equal(askedBars(second), 5)
  accept(second, '1')
  second.receive(bar(4, 'o'))
  await bars.next()
  network.sleep(2 * MINUTE)
  assert.equal(askedBars(await reconnected(network)), 9)
})

test('the rest of a backfill that was cut is asked for again, and an unanswered request counts for nothing', async () => {
  const network = new Network()
  const bars = streamOf(network).bars({ symbol: 'SPY', interval: '1m', backfill: 30 })
  const first = await authenticated(network)
  accept(first, '1')
  first.receive(...[1, 2, 3, 4, 5].map(minute => bar(minute, 'c')))
  for (let at = 0; at < 3; at += 1) {
    const socket = await reconnected(network)
    // 25 of them, one that may have been open, and one that may have closed since.
    assert.equal(askedBars(socket), 27)
  }
  accept(network.last, '1')
  network.last.receive(...Array.from({ length: 27 }, (_, at) => bar(at + 4, 'c')))
  assert.equal(askedBars(await reconnected(network)), 2)
  await bars.return()
})

test('bars of an interruption of the broker are asked for again when the connection breaks before all have come', async () => {
  const network = new Network()
  streamOf(network).bars({ symbol: 'SPY', interval: '1m' })
  const socket = await authenticated(network)
  accept(socket, '1')
  socket.receive(bar(1, 'c'))
  socket.receive({ type: 'error', error_code: 'broker_unavailable', request_id: null, message: '', sub_ids: ['1'] })
  quiet(network, 5)
  socket.receive(bar(2, 'c'), bar(3, 'c'))
  // Six may have closed, of which two came; and two as after any interruption.
  assert.equal(askedBars(await reconnected(network)), 6)
})

test('a token that comes for a session that has ended neither ends the next one nor is sent in it twice', async () => {
  const network = new Network()
  const tokens: { readonly resolve: (token: string) => void; readonly reject: (error: Error) => void }[] = []
  const token = () => new Promise<string>((resolve, reject) => tokens.push({ resolve, reject }))
  streamOf(network, { token }).trades({ symbol: 'SPY' })
  const sessions: ScriptedSocket[] = []
  for (const waitMs of [250, 500, 1_000]) {
    network.last.open()
    sessions.push(network.last)
    await turn()
    if (sessions.length === 3) break
    network.last.drop()
    network.pass(waitMs)
  }
  tokens[0]?.reject(Object.assign(new Error('an earlier failure'), { retrySafe: false }))
  tokens[1]?.resolve('early')
  await turn()
  const last = network.last
  assert.deepEqual([last.isClosed, last.sentAs('authenticate').length], [false, 0])
  tokens[2]?.resolve('mine')
  await turn()
  assert.deepEqual(
    last.sentAs('authenticate').map(({ access_token }) => access_token),
    ['mine']
  )
})

test('a token that came too late for its session is sent in the next one, which asks for none', async () => {
  const network = new Network()
  const tokens: ((token: string) => void)[] = []
  streamOf(network, { token: () => new Promise<string>(resolve => tokens.push(resolve)) }).trades({ symbol: 'SPY' })
  network.last.open()
  await turn()
  network.last.drop()
  tokens[0]?.('late')
  await turn()
  network.pass(250)
  network.last.open()
  await turn()
  assert.deepEqual([tokens.length, network.last.sentAs('authenticate').map(({ access_token }) => access_token)], [1, ['late']])
})

test('a token that came too late takes no other’s place', async () => {
  const network = new Network()
  const tokens: ((token: string) => void)[] = []
  streamOf(network, { token: () => new Promise<string>(resolve => tokens.push(resolve)) }).trades({ symbol: 'SPY' })
  const next = async (waitMs: number) => {
    network.last.drop()
    network.pass(waitMs)
    network.last.open()
    await turn()
  }
  network.last.open()
  await next(250)
  tokens[1]?.('mine')
  await turn()
  tokens[0]?.('late')
  await turn()
  await next(500)
  assert.deepEqual(
    network.last.sentAs('authenticate').map(({ access_token }) => access_token),
    ['mine']
  )
})

test('a token that has ended is replaced at once; another that is refused as well only after half a minute', async () => {
  const network = new Network()
  let issued = 0
  streamOf(network, { token: async () => `mdt_${++issued}` }).trades({ symbol: 'SPY' })
  await authenticated(network)
  network.last.drop()
  network.pass(250)
  const refuse = async () => {
    network.last.open()
    await turn()
    network.last.receive({ type: 'error', error_code: 'auth_error', request_id: 'authenticate', message: 'ended' })
  }
  await refuse()
  network.pass(500)
  assert.equal(network.sockets.length, 3)
  await refuse()
  network.pass(44_999)
  assert.equal(network.sockets.length, 3)
  network.pass(1)
  assert.equal(network.sockets.length, 4)
  assert.equal(issued, 2)
})

test('a session whose key or login was replaced goes on with a new token', async () => {
  const network = new Network()
  let issued = 0
  const trades = streamOf(network, { token: async () => `mdt_${++issued}` }).trades({ symbol: 'SPY' })
  const socket = await authenticated(network)
  accept(socket, '1')
  const message = 'The user, the platform or the key of this token was disabled, or a secret was replaced; get a new access token.'
  socket.receive({ type: 'error', error_code: 'auth_error', request_id: null, message })
  socket.drop(4003)
  network.pass(250)
  const next = await authenticated(network)
  assert.equal(next.sentAs('authenticate')[0]?.access_token, 'mdt_2')
  accept(next, '1')
  next.receive({ p: '1.00', s: '1', n: '', ts: '5', sub_id: '1' })
  assert.equal((await trades.next()).value?.p, '1.00')
})

test('a login that was renewed takes the same token, so that two streams of a user do not end each other', async () => {
  const network = new Network()
  let issued = 0
  streamOf(network, { token: async () => `mdt_${++issued}` }).trades({ symbol: 'SPY' })
  const socket = await authenticated(network)
  const message = 'The login of the connection was renewed. Connect again; the access token is as good as before.'
  socket.receive({ type: 'error', error_code: 'auth_error', request_id: null, message })
  socket.drop(4003)
  network.pass(250)
  assert.equal((await authenticated(network)).sentAs('authenticate')[0]?.access_token, 'mdt_1')
})

test('a service that cannot check tokens for a while refuses none', async () => {
  const network = new Network()
  let issued = 0
  const trades = streamOf(network, { token: async () => `mdt_${++issued}` }).trades({ symbol: 'SPY' })
  for (let at = 0; at < 5; at += 1) {
    network.last.open()
    await turn()
    network.last.receive({ type: 'error', error_code: 'internal_error', request_id: 'authenticate', message: 'try again' })
    network.pass(30_000)
  }
  accept(await authenticated(network), '1')
  network.last.receive({ p: '1.00', s: '1', n: '', ts: '5', sub_id: '1' })
  assert.deepEqual([(await trades.next()).value?.p, issued], ['1.00', 1])
})

test('a request that the service dropped unread is sent again in another session', async () => {
  const network = new Network()
  streamOf(network).trades({ symbol: 'SPY' })
  const socket = await authenticated(network)
  socket.receive({ type: 'error', error_code: 'invalid_request', request_id: null, message: 'Too many messages. This one was dropped.' })
  assert.ok(socket.isClosed)
  network.pass(250)
  assert.equal((await authenticated(network)).sentAs('subscribe').length, 1)
})

test('a reader in whose place another comes is not refused because the service has not ended the first', async () => {
  const network = new Network()
  const states: MarketStatus[] = []
  streamOf(network).trades({ symbol: 'SPY', onStatus: state => states.push(state) })
  const socket = await authenticated(network)
  const refusal = { type: 'error', error_code: 'subscription_limit', request_id: socket.sentAs('subscribe')[0]?.request_id, message: '500' }
  socket.receive(refusal)
  network.pass(5_000)
  accept(socket, '1')
  assert.deepEqual(states, [{ isLive: false, reason: 'subscription_limit: 500' }, { isLive: true }])
})

test('what the service answers to a sign of life is no reason of a later end', async () => {
  const network = new Network()
  const states: MarketStatus[] = []
  streamOf(network).trades({ symbol: 'SPY', onStatus: state => states.push(state) })
  accept(await authenticated(network), '1')
  network.pass(15_000)
  const [ping] = network.last.sentAs('ping')
  network.last.receive({ type: 'error', error_code: 'unknown_action', request_id: ping?.request_id, message: 'action must be one of' })
  network.last.drop()
  assert.deepEqual(states.at(-1), { isLive: false, reason: 'closed with 1006' })
})

test('the status is reported from the first failure on, each reason once, and what a report throws is nobody else’s', async () => {
  const network = new Network()
  const states: MarketStatus[] = []
  const onStatus = async (status: MarketStatus) => {
    states.push(status)
    throw new Error('not handled')
  }
  streamOf(network).trades({ symbol: 'SPY', onStatus })
  for (const waitMs of [250, 500]) {
    network.last.drop()
    network.pass(waitMs)
  }
  accept(await authenticated(network), '1')
  await turn()
  assert.deepEqual(states, [{ isLive: false, reason: 'closed with 1006' }, { isLive: true }])
})

test('a reader that leaves before its first item, or while it waits for one, is gone', async () => {
  const network = new Network()
  const stream = streamOf(network)
  await stream.trades({ symbol: 'SPY' }).return()
  assert.ok(network.last.isClosed)
  const quotes = stream.quotes({ symbol: 'SPY' })
  const waiting = quotes.next()
  await quotes.return()
  assert.equal((await waiting).done, true)
  assert.ok(network.last.isClosed)
})

test('a read of past bars leaves nothing on its signal, and fails when one of them is no bar', async () => {
  const network = new Network()
  const stream = streamOf(network)
  const { signal } = new AbortController()
  const listeners: unknown[] = []
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
  Object.assign(signal, {
    addEventListener(...args: Parameters<typeof add>) {
      listeners.push(args[1])
      add(...args)
    },
    removeEventListener(...args: Parameters<typeof remove>) {
      listeners.splice(listeners.indexOf(args[1]), 1)
      remove(...args)
    }
  })
  const read = stream.history({ symbol: 'SPY', interval: '1m', start: '', end: '', signal })
  const socket = await authenticated(network)
  const answer = { type: 'snapshot_response', request_id: socket.sentAs('snapshot')[0]?.request_id }
  socket.receive({ ...answer, data: [bar(1, 'c'), { ...bar(2, 'c'), ts: 2 }] })
  await assert.rejects(read, { code: 'subscription_refused' })
  assert.deepEqual(listeners, [])
  const over = new AbortController()
  const aborted = stream.history({ symbol: 'SPY', interval: '1m', start: '', end: '', signal: over.signal })
  over.abort(new Error('no longer'))
  await assert.rejects(aborted, /no longer/)
  assert.ok(network.last.isClosed)
})
