import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { RateBudget } from '../../src/kit/budget.ts'
import type { SocketProtocol } from '../../src/kit/conversation.ts'
import { JoinedSession } from '../../src/kit/joined.ts'
import type { SocketOptions, Told } from '../../src/kit/socket.ts'
import { systemClock } from '../support/clocks.ts'
import { LineHost } from '../support/line-host.ts'
import { MemoryLog } from '../support/log.ts'

function protocol(host: LineHost): SocketProtocol<string> {
  return {
    begin: async () => ({
      url: host.url,
      lines: { mediaType: /tradestation/ },
      hello: [],
      hear: frame => {
        if (frame === 'live') return [{ type: 'live', heartbeatMs: 10_000 }]
        if (frame === 'hole') return [{ type: 'gap', cause: 'missing', reason: 'missed one' }]
        if (frame === 'over') return [{ type: 'over', cause: 'refused', reason: 'no' }]
        return [{ type: 'event', event: frame }]
      }
    })
  }
}

function follow(protocols: readonly SocketProtocol<string>[], eventsMax = 100) {
  const told: (string | Told)[] = []
  const stop = new AbortController()
  const budget = () => new RateBudget({ perSecond: 1_000, burst: 1_000, keptForOrders: 0, waitingMax: 100, waitMsMax: 10_000 }, systemClock)
  const options: SocketOptions = {
    clock: systemClock,
    fraction: () => 0.5,
    log: new MemoryLog(),
    connects: { first: budget(), again: budget() },
    backoff: { firstMs: 5, longestMs: 20 },
    steadyMs: 10_000,
    handshakeMs: 5_000,
    eventsMax,
    frameMax: 1_000
  }
  let isEnded = false
  const ended = () => {
    isEnded = true
  }
  const running = (async () => {
    for await (const item of new JoinedSession(protocols, options, { signal: stop.signal, ended })) told.push(item)
  })()
  running.catch(() => undefined)
  const words = () => told.map(item => (typeof item === 'string' ? item : item.type === 'gap' ? `gap ${item.cause}` : item.type))
  return {
    words,
    running,
    isEnded: () => isEnded,
    hears: (wanted: readonly string[]) =>
      until(() => words().join() === wanted.join(), wanted.join(', ')).catch(() => assert.deepEqual(words(), wanted)),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running.catch(() => undefined)
    }
  }
}

async function two() {
  const hosts = [await LineHost.start(), await LineHost.start()] as const
  return {
    hosts,
    protocols: hosts.map(protocol),
    async [Symbol.asyncDispose]() {
      for (const host of hosts) await host[Symbol.asyncDispose]()
    }
  }
}

test('live when all lines are, and what one tells before that is nobody’s', async () => {
  await using lines = await two()
  const [first, second] = lines.hosts
  await using reader = follow(lines.protocols)
  await until(() => first.open === 1 && second.open === 1, 'both are open')
  first.last.write('live\nearly\n')
  second.last.write('live\n')
  await reader.hears(['live'])
  first.last.write('a\n')
  await reader.hears(['live', 'a'])
  second.last.write('b\n')
  await reader.hears(['live', 'a', 'b'])
})

test('a gap when one is lost, one outage however many are, and live when all are back', async () => {
  await using lines = await two()
  const [first, second] = lines.hosts
  first.greeting = 'live\n'
  second.greeting = 'live\n'
  await using reader = follow(lines.protocols)
  await reader.hears(['live'])
  second.greeting = ''
  second.last.end()
  await reader.hears(['live', 'gap lost'])
  first.last.write('unheard\n')
  first.last.end()
  await until(() => first.streams.length === 2 && second.streams.length === 2, 'both are asked for again')
  second.greeting = 'live\n'
  second.last.write('over\n')
  await reader.hears(['live', 'gap lost', 'gap refused', 'live'])
  second.last.write('hole\n')
  await reader.hears(['live', 'gap lost', 'gap refused', 'live', 'gap missing', 'live'])
})

test('a login that ended ends every line; one who stops reading closes every socket', async () => {
  await using lines = await two()
  const [first, second] = lines.hosts
  first.greeting = 'live\n'
  second.greeting = 'live\n'
  const gone = new BrokerFault('credentials_rejected', 'gone')
  const failing = follow([...lines.protocols, { begin: () => Promise.reject(gone) }])
  await assert.rejects(failing.running, gone)
  assert.ok(failing.isEnded())
  await until(() => first.open === 0 && second.open === 0, 'the sockets are gone')
  const stopped = follow(lines.protocols)
  await stopped.hears(['live'])
  await stopped[Symbol.asyncDispose]()
  await stopped.running
  await until(() => first.open === 0 && second.open === 0, 'the sockets are gone again')
})
