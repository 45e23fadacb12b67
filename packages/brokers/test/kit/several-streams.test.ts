import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { SocketSession, type StreamStatus } from '../../src/kit/socket.ts'
import type { ProtocolFactory } from '../../src/kit/stream-protocol.ts'
import { LineStreamHost } from '../support/line-stream-host.ts'
import { streamOptions } from './stream-options.ts'

function protocol(host: LineStreamHost): ProtocolFactory<string> {
  return {
    begin: async () => ({
      url: host.url,
      lines: { mediaType: /tradestation/ },
      hello: [],
      onFrame: frame => {
        if (frame === 'live') return [{ type: 'live', heartbeatMs: 10_000 }]
        if (frame === 'hole') return [{ type: 'gap', cause: 'missing', reason: 'missed one' }]
        if (frame === 'over') return [{ type: 'over', cause: 'refused', reason: 'no' }]
        return [{ type: 'event', event: frame }]
      }
    })
  }
}

function follow(protocols: readonly ProtocolFactory<string>[], eventsMax = 100) {
  const received: (string | StreamStatus)[] = []
  const stop = new AbortController()
  const options = streamOptions({ handshakeMs: 5_000, eventsMax })
  let isEnded = false
  const ended = () => {
    isEnded = true
  }
  const running = (async () => {
    for await (const item of new SocketSession(protocols, options, { signal: stop.signal, ended })) received.push(item)
  })()
  running.catch(() => undefined)
  const history = () => received.map(item => (typeof item === 'string' ? item : item.type === 'gap' ? `gap ${item.cause}` : item.type))
  return {
    history,
    running,
    isEnded: () => isEnded,
    receives: (wanted: readonly string[]) =>
      until(() => history().join() === wanted.join(), wanted.join(', ')).catch(() => assert.deepEqual(history(), wanted)),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running.catch(() => undefined)
    }
  }
}

async function two() {
  const hosts = [await LineStreamHost.start(), await LineStreamHost.start()] as const
  return {
    hosts,
    protocols: hosts.map(protocol),
    async [Symbol.asyncDispose]() {
      for (const host of hosts) await host[Symbol.asyncDispose]()
    }
  }
}

test('live when all streams are, and what one sends before that is dropped', async () => {
  await using pair = await two()
  const [first, second] = pair.hosts
  await using reader = follow(pair.protocols)
  await until(() => first.open === 1 && second.open === 1, 'both are open')
  first.last.write('live\nearly\n')
  second.last.write('live\n')
  await reader.receives(['live'])
  first.last.write('a\n')
  await reader.receives(['live', 'a'])
  second.last.write('b\n')
  await reader.receives(['live', 'a', 'b'])
})

test('a gap when one is lost, one outage however many are, and live when all are back', async () => {
  await using pair = await two()
  const [first, second] = pair.hosts
  first.greeting = 'live\n'
  second.greeting = 'live\n'
  await using reader = follow(pair.protocols)
  await reader.receives(['live'])
  second.greeting = ''
  second.last.end()
  await reader.receives(['live', 'gap lost'])
  first.last.write('unheard\n')
  first.last.end()
  await until(() => first.streams.length === 2 && second.streams.length === 2, 'both are requested again')
  second.greeting = 'live\n'
  second.last.write('over\n')
  await reader.receives(['live', 'gap lost', 'gap refused', 'live'])
  second.last.write('hole\n')
  await reader.receives(['live', 'gap lost', 'gap refused', 'live', 'gap missing', 'live'])
})

test('a login that ended ends every stream; a reader that stops closes every socket', async () => {
  await using pair = await two()
  const [first, second] = pair.hosts
  first.greeting = 'live\n'
  second.greeting = 'live\n'
  const gone = new BrokerFault('credentials_rejected', 'gone')
  const failing = follow([...pair.protocols, { begin: () => Promise.reject(gone) }])
  await assert.rejects(failing.running, gone)
  assert.ok(failing.isEnded())
  await until(() => first.open === 0 && second.open === 0, 'the sockets are gone')
  const stopped = follow(pair.protocols)
  await stopped.receives(['live'])
  await stopped[Symbol.asyncDispose]()
  await stopped.running
  await until(() => first.open === 0 && second.open === 0, 'the sockets are gone again')
})
