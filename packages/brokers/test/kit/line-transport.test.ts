import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { SeededChance } from '@trunkline/testkit/chance'
import { until } from '@trunkline/testkit/until'
import { header } from '../../src/kit/http.ts'
import { type SocketOptions, SocketSession, type StreamStatus } from '../../src/kit/socket.ts'
import type { ProtocolFactory, StreamProtocol } from '../../src/kit/stream-protocol.ts'
import { LineStreamHost } from '../support/line-stream-host.ts'
import { streamOptions } from './stream-options.ts'

const LIVE = 'live 10000\n'

function protocol(host: LineStreamHost, more: Partial<StreamProtocol<string>> = {}): ProtocolFactory<string> {
  return {
    begin: async () => ({
      url: host.url,
      lines: { mediaType: /^application\/vnd\.tradestation\.streams/ },
      headers: { authorization: 'Bearer token' },
      hello: [],
      onFrame: frame => {
        if (frame === 'nonsense') throw new Malformed('frame', 'sense', frame)
        const [command, ms] = frame.split(' ')
        if (command === 'live') return [{ type: 'live', heartbeatMs: Number(ms) }]
        return [{ type: 'event', event: frame }]
      },
      ...more
    })
  }
}

function follow(of: ProtocolFactory<string>, more: Partial<SocketOptions> = {}) {
  const received: (string | StreamStatus)[] = []
  const stop = new AbortController()
  const options = streamOptions(more)
  const running = (async () => {
    for await (const item of new SocketSession([of], options, { signal: stop.signal })) received.push(item)
  })()
  running.catch(() => undefined)
  const history = () => received.map(item => (typeof item === 'string' ? item : item.type))
  const gaps = () => received.flatMap(item => (typeof item === 'object' && item.type === 'gap' ? [item] : []))
  return {
    received,
    history,
    gaps,
    causes: () => gaps().map(({ cause }) => cause),
    running,
    receives: (count: number) => until(() => received.length >= count, `${count} were received so far ${history().join(', ')}`),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running.catch(() => undefined)
    }
  }
}

test('a stream of lines is requested once, at its address, and is cut when given up', async () => {
  await using host = await LineStreamHost.start()
  host.greeting = LIVE
  const reader = follow(protocol(host))
  await reader.receives(1)
  host.last.write('a\r\n\r\n\nb\n')
  await reader.receives(3)
  assert.deepEqual(reader.history(), ['live', 'a', 'b'])
  const [request] = host.requests
  assert.deepEqual([request?.method, request?.url, request?.headers.authorization], ['GET', '/stream?of=lines', 'Bearer token'])
  assert.equal(host.requests.length, 1)
  await reader[Symbol.asyncDispose]()
  await until(() => host.open === 0, 'the socket is gone')
})

test('lines come whole wherever the pieces are cut, in letters of more than a byte too', async () => {
  await using host = await LineStreamHost.start()
  host.greeting = LIVE
  await using reader = follow(protocol(host))
  await reader.receives(1)
  const wanted = Array.from({ length: 200 }, (_, index) => `${index} ${'é€😀'.repeat(index % 7)}`)
  const bytes = Buffer.from(wanted.map((line, index) => `${line}${index % 2 === 0 ? '\n' : '\r\n'}`).join(''))
  const seed = performance.now()
  const chance = new SeededChance(seed)
  for (let from = 0; from < bytes.length; ) {
    const to = from + chance.whole(1, 40)
    // Each piece on its way before the next, so that they arrive apart.
    await new Promise<void>(resolve => host.last.write(bytes.subarray(from, to), () => setImmediate(resolve)))
    from = to
  }
  await reader.receives(1 + wanted.length)
  assert.deepEqual(reader.received.slice(1), wanted, `seed ${seed}`)
})

test('whatever ends a stream is a gap with its cause, and live again after', async () => {
  await using host = await LineStreamHost.start()
  host.greeting = LIVE
  await using reader = follow(protocol(host))
  await reader.receives(1)
  for (const [lose, cause] of [
    [() => host.last.end(), 'lost'],
    [() => host.last.socket?.destroy(), 'lost'],
    [() => host.last.write('half a li', () => host.last.end()), 'lost'],
    [() => host.last.write('nonsense\n'), 'malformed'],
    [() => host.last.write(`${'x'.repeat(2_000)}\n`), 'malformed'],
    [() => host.last.write('x'.repeat(2_000)), 'malformed'],
    [() => host.last.write(Buffer.from([0x61, 0xff, 0x0a])), 'malformed'],
    [() => host.last.socket?.write('this is no chunk\r\n'), 'malformed']
  ] as const) {
    const before = reader.received.length
    lose()
    await reader.receives(before + 2)
    assert.deepEqual(reader.history().slice(before), ['gap', 'live'])
    assert.equal(reader.causes().at(-1), cause)
  }
  await until(() => host.open === 1, 'the sockets of the lost ones are gone')
})

test('silence is a gap though the socket is open, and empty lines are silence', async () => {
  await using host = await LineStreamHost.start()
  host.greeting = 'live 60\n'
  await using reader = follow(protocol(host))
  await reader.receives(1)
  const beating = setInterval(() => host.last.write('beat\n'), 30)
  await reader.receives(10)
  clearInterval(beating)
  assert.deepEqual(reader.causes(), [])
  const blank = setInterval(() => host.last.write('\r\n'), 20)
  await until(() => reader.causes().includes('silence'), 'the silence is reported')
  clearInterval(blank)
})

test('a stream that never becomes live, and one whose answer never begins, are closed and tried again', async () => {
  await using host = await LineStreamHost.start()
  await using reader = follow(protocol(host), { handshakeMs: 50 })
  await until(() => host.streams.length >= 2, 'it is tried again')
  host.answer = () => undefined
  const before = host.requests.length
  await until(() => host.requests.length >= before + 2, 'and again')
  assert.deepEqual(reader.causes(), ['silence'])
  host.answer = null
  host.greeting = LIVE
  await reader.receives(2)
  assert.deepEqual(reader.history(), ['gap', 'live'])
})

test('a stream with heartbeats that never becomes live is closed and tried again', async () => {
  await using host = await LineStreamHost.start()
  await using reader = follow(protocol(host), { handshakeMs: 200 })
  await until(() => host.streams.length >= 1, 'it is requested')
  const beating = setInterval(() => host.last.write('beat\n'), 20)
  await until(() => host.streams.length >= 3, 'it is tried again, and again')
  clearInterval(beating)
  assert.deepEqual(reader.causes(), ['silence'])
})

test('an answer that is no stream is refused, and the protocol decides what it means', async () => {
  await using host = await LineStreamHost.start()
  const answers = [
    [401, { 'content-type': 'application/json' }, 'token'],
    [429, { 'x-ratelimit-reset': '7' }, 'refused'],
    [503, {}, 'refused'],
    [302, { location: 'http://127.0.0.1:1/' }, 'refused']
  ] as const
  const seen: string[] = []
  const gone = new BrokerFault('credentials_rejected', 'gone')
  for (const [status, headers, cause] of answers) {
    host.greeting = LIVE
    host.answer = response => {
      host.answer = null
      response.writeHead(status, headers).end(`{"Message":"${'no '.repeat(10_000)}"}`)
    }
    const refused: StreamProtocol<string>['refused'] = answer => {
      seen.push(`${answer.status} ${header(answer, 'x-ratelimit-reset')} ${answer.body.length}`)
      return answer.status === 401 ? { cause: 'token', recover: async () => undefined } : null
    }
    await using reader = follow(protocol(host, { refused }))
    await reader.receives(2)
    assert.deepEqual([reader.history(), reader.causes()], [['gap', 'live'], [cause]])
    assert.match(reader.gaps()[0]?.reason ?? '', new RegExp(String(status)))
  }
  assert.deepEqual(seen, ['401 null 8192', '429 7 8192', '503 null 8192', '302 null 8192'])

  host.answer = response => response.writeHead(401).end()
  const reader = follow(protocol(host, { refused: () => ({ cause: 'token', recover: () => Promise.reject(gone) }) }))
  await assert.rejects(reader.running, gone)
})

test('a success that is no stream, or an encoded one, cannot be read', async () => {
  await using host = await LineStreamHost.start()
  for (const headers of [{ 'content-type': 'text/html' }, {}, { 'content-type': host.mediaType, 'content-encoding': 'gzip' }] as const) {
    host.greeting = LIVE
    host.answer = response => {
      host.answer = null
      response.writeHead(200, headers).end('live 1000\n')
    }
    await using reader = follow(protocol(host))
    await reader.receives(2)
    assert.deepEqual([reader.history(), reader.causes()], [['gap', 'live'], ['malformed']])
  }
})

test('without a connection it is lost, and given up while it waits for one', async () => {
  const host = await LineStreamHost.start()
  const of = protocol(host)
  await host[Symbol.asyncDispose]()
  const reader = follow(of)
  await reader.receives(1)
  assert.deepEqual(reader.causes(), ['lost'])
  await reader[Symbol.asyncDispose]()
  await reader.running
})

test('an attempt to send something ends it', async () => {
  await using host = await LineStreamHost.start()
  host.greeting = LIVE
  let rounds = 0
  const maintain: StreamProtocol<string>['maintain'] = async connection => {
    rounds += 1
    if (rounds === 1) connection.send('hello')
    return 10_000
  }
  await using reader = follow(protocol(host, { maintain }))
  await reader.receives(3)
  assert.deepEqual([reader.history(), reader.causes()], [['live', 'gap', 'live'], ['refused']])
})
