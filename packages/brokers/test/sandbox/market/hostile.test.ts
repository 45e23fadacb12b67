/** A sandbox with invalid messages: each is a loss that is published, or nothing, and never the end of the process. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { RecordingSink } from '../../support/recording-sink.ts'
import { brokerAt, FakeSandbox, tradeItem, trades } from './fake-sandbox.ts'

const UNREADABLE: readonly string[] = [
  '',
  ' ',
  'null',
  '7',
  '"trade"',
  '[]',
  '{}',
  '[{"seq":1,"items":[]}]',
  '{"seq":1}',
  '{"items":[]}',
  '{"seq":null,"items":[]}',
  '{"seq":1.5,"items":[]}',
  '{"seq":1e400,"items":[]}',
  '{"seq":9007199254740993,"items":[]}',
  '{"seq":"99999999999999999999","items":[]}',
  '{"seq":"one","items":[]}',
  '{"seq":1,"items":{"length":1}}',
  '{"seq":1,"items":[null]}',
  '{"seq":1,"items":[[]]}',
  '{"seq":1,"items":[{"t":"trade"}]}',
  '{"seq":1,"items":[{"t":"trade","s":"SPY","p":1,"z":"1","x":"","at":"1","k":"all"}]}',
  '{"seq":1,"items":[{"__proto__":{"t":"trade","s":"SPY"}}]}',
  '{"__proto__":{"seq":1,"items":[]}}',
  '{"ev":null}',
  '{"ev":7}',
  '{"ev":""}',
  `{"ev":"${'x'.repeat(100)}"}`,
  '{"ev":["heartbeat"],"seq":0}',
  '{"ev":"heartbeat"}',
  '{"ev":"heartbeat","seq":-0.5}',
  '{"ev":"heartbeat","seq":0,"sandbox_time":"soon"}',
  '{"ev":"heartbeat","seq":0,"sandbox_time":5}',
  '{"ev":"added"}',
  '{"ev":"added","n":"first","symbols":[],"unknown":[]}',
  '{"ev":"problem","n":null,"code":"bad_request"}',
  '{"ev":"problem","code":7}',
  `${'['.repeat(100_000)}`,
  '\u0000',
  '{"seq":1,"items":[]',
  '\ud800'
]

const HARMLESS: readonly string[] = [
  '{"ev":"constructor"}',
  '{"ev":"toString","n":1}',
  '{"ev":"pong","n":1e400}',
  '{"ev":"added","n":-1,"symbols":null}',
  '{"ev":"problem","n":12345,"code":"bad_request"}',
  '{"ev":"dropped"}',
  '{"seq":-5,"items":[{"t":"trade"}]}',
  '{"seq":0,"items":[7]}'
]

test('a message that cannot be read is a loss, and the stream goes on', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const sink = new RecordingSink()
  stage.market.stream(trades('SPY'), sink)
  for (const [index, frame] of UNREADABLE.entries()) {
    await until(() => sink.history.length === 1 + 2 * index && sink.history.at(-1) === 'live', `live again before ${frame.slice(0, 60)}`)
    sandbox.last.send(frame)
    await until(
      () => sink.history.length === 3 + 2 * index,
      `lost and live after ${frame.slice(0, 60)}, received ${sink.history.slice(-4)}`
    )
    assert.deepEqual(sink.history.slice(-2), ['lost malformed', 'live'], frame.slice(0, 60))
  }
  assert.equal(sink.events.length, 0)
})

test('an answer that lacks what it must have is a loss', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const sink = new RecordingSink()
  const wrong = [
    { symbols: null, unknown: [] },
    { symbols: [], unknown: [] },
    { symbols: ['QQQ'], unknown: [] },
    { symbols: [['SPY']], unknown: [] },
    { symbols: ['SPY'], unknown: 'none' },
    { symbols: ['SPY'] }
  ]
  sandbox.answer = (message, socket) => {
    const change = wrong[0]
    if (message.op === 'add' && change !== undefined) {
      wrong.shift()
      socket.send(JSON.stringify({ ev: 'added', n: message.n, ...change }))
    } else sandbox.usual(message, socket)
  }
  stage.market.stream(trades('SPY'), sink)
  await until(() => sink.history.includes('live'), 'the sandbox recovers')
  assert.deepEqual([sink.history, wrong.length], [['lost malformed', 'live'], 0])
})

test('a greeting that is none is an outage', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const sink = new RecordingSink()
  const wrong = [
    '{}',
    '{"ev":"ready"}',
    '{"ev":"ready","heartbeat_ms":1e300}',
    '{"ev":"hello","heartbeat_ms":100}',
    '{"ev":"denied"}',
    '[]',
    '{"seq":1,"items":[]}'
  ]
  sandbox.answer = (message, socket) => {
    const frame = message.op === 'login' ? wrong.shift() : undefined
    if (frame === undefined) sandbox.usual(message, socket)
    else socket.send(frame)
  }
  stage.market.stream(trades('SPY'), sink)
  await until(() => sink.history.includes('live'), 'the sandbox recovers')
  assert.deepEqual([sink.history, wrong.length], [['lost malformed', 'live'], 0])
})

test('a number far ahead of the truth does not make everything after it a repetition', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const sink = new RecordingSink()
  stage.market.stream(trades('SPY'), sink)
  await sink.receives('live')
  sandbox.items([tradeItem('SPY')], 1)
  sandbox.items([tradeItem('SPY')], Number.MAX_SAFE_INTEGER)
  sandbox.send({ ev: 'heartbeat', seq: 1 })
  await sink.receives('live', 'trade', 'lost missing', 'lost malformed', 'live')
  sandbox.items([tradeItem('SPY')], 1)
  await sink.receives('live', 'trade', 'lost missing', 'lost malformed', 'live', 'trade')
  sandbox.send({ ev: 'heartbeat', seq: 0 })
  await until(() => sink.history.length === 8, 'a heartbeat behind what came is a loss')
  assert.deepEqual(sink.history.slice(-2), ['lost malformed', 'live'])
})

test('what was not requested is skipped', async () => {
  await using sandbox = await FakeSandbox.start()
  await using stage = brokerAt(sandbox)
  const sink = new RecordingSink()
  stage.market.stream(trades('SPY'), sink)
  await sink.receives('live')
  for (const frame of HARMLESS) sandbox.last.send(frame)
  sandbox.items([tradeItem('SPY')])
  await sink.receives('live', 'trade')
})

test('a heartbeat announced for next year neither disables the silence check nor keeps us busy', async () => {
  await using sandbox = await FakeSandbox.start()
  sandbox.heartbeatMs = Number.MAX_SAFE_INTEGER
  await using stage = brokerAt(sandbox)
  const sink = new RecordingSink()
  stage.market.stream(trades('SPY'), sink)
  await sink.receives('live')
  const { user } = process.cpuUsage()
  sandbox.items([tradeItem('SPY')])
  await sink.receives('live', 'trade')
  assert.ok(process.cpuUsage().user - user < 1_000_000)
})

test('the token of a running stream is renewed, and one that the sandbox no longer accepts is replaced', async () => {
  await using sandbox = await FakeSandbox.start()
  let minted = 1
  sandbox.read = path => {
    assert.equal(path, '/oauth/token')
    minted += 1
    return {
      status: 200,
      body: {
        access_token: `token-${minted}`,
        refresh_token: `refresh-${minted}`,
        token_type: 'bearer',
        expires_in: 600,
        scope: 'read trade'
      }
    }
  }
  await using stage = brokerAt(sandbox, { livesMs: 2_500 })
  const sink = new RecordingSink()
  stage.market.stream(trades('SPY'), sink)
  await until(() => sandbox.received.some(({ op, token }) => op === 'token' && token === 'token-2'), 'the new token is sent')
  assert.deepEqual(sink.history, ['live'])
  sandbox.last.close(4003)
  await sink.receives('live', 'lost token', 'live')
  assert.deepEqual(sandbox.logins, ['token-1', 'token-3'])
})
