import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, type Credentials, type Outcome } from '@trunkline/core/ports/broker'
import { never as signal } from '@trunkline/testkit/patience'
import { type CallOptions, Calls } from '../../src/kit/calls.ts'
import { HttpClient, type HttpReply, type HttpRequest, header } from '../../src/kit/http.ts'
import { readJson } from '../../src/kit/json.ts'
import { RateLimitExceeded, RateLimiter } from '../../src/kit/rate-limiter.ts'
import { TokenSource } from '../../src/kit/tokens.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { json, type Script, ScriptedHost } from '../support/scripted-host.ts'

const READ: HttpRequest = { method: 'GET', path: '/x', headers: ['accept', 'application/json'] }
const ORDER: HttpRequest = { method: 'POST', path: '/orders', headers: ['content-type', 'application/json'], body: '{}' }

async function start(
  script: Script,
  refresh: () => Promise<Credentials> = () => Promise.resolve({ access_token: 'new' }),
  more: Partial<CallOptions> = {}
) {
  const host = await ScriptedHost.start(script)
  const http = new HttpClient({ origin: host.origin, plain: true })
  const tokens = new TokenSource({
    holder: new MemoryHolder({ access_token: 'old' }),
    clock: systemClock,
    log: new MemoryLog(),
    tokenOf: ({ access_token: token = '' }) => ({ token, issuedAt: null, expiresAt: null }),
    refresh
  })
  const limiter = new RateLimiter({ perSecond: 1_000, burst: 1_000, reservedForOrders: 0, waitingMax: 10, waitMsMax: 200 }, systemClock)
  const calls = new Calls({
    http,
    tokens,
    limiters: [limiter],
    retries: { firstMs: 1, longestMs: 1, attemptsMax: 3, retryAfterMsMax: 150 },
    deps: { clock: systemClock, fraction: () => 0.5 },
    authorize: token => ['authorization', `Bearer ${token}`],
    unauthorized: reply => reply.status === 401,
    errorMessage: reply => reply.body.slice(0, 20),
    ...more
  })
  return {
    host,
    calls,
    http,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    }
  }
}

const parse = (reply: HttpReply) => readJson(reply.body)

function interpret(reply: HttpReply): Outcome<unknown> {
  const value = readJson(reply.body)
  return reply.status === 201 ? { kind: 'accepted', value } : { kind: 'refused', message: 'no', rejectCode: null, brokerStatus: null }
}

test('reads are repeated, commands are not', async () => {
  await using broker = await start((seen, response) => json(response, broker.host.seen.length < 3 ? 503 : 200, { path: seen.path }))
  assert.deepEqual(await broker.calls.read(READ, parse, signal), { path: '/x' })
  assert.equal(broker.host.seen.length, 3)
  for (const failing of [
    (_: unknown, response: Parameters<Script>[1]) => void response.writeHead(503).end('<html>'),
    (_: unknown, _response: unknown, request: Parameters<Script>[2]) => void request.socket.resetAndDestroy()
  ]) {
    broker.host.seen.length = 0
    broker.host.script(failing)
    assert.equal((await broker.calls.command(ORDER, interpret, signal)).kind, 'unknown')
    assert.equal(broker.host.seen.length, 1)
  }
})

test('what an interpreter cannot read is unknown', async () => {
  await using broker = await start((_, response) => void response.writeHead(201).end('{"order":'))
  assert.equal((await broker.calls.command(ORDER, interpret, signal)).kind, 'unknown')
})

test('a command without capacity, token or connection was not sent', async () => {
  await using broker = await start((_, response) => json(response, 429, {}, { 'retry-after': '60' }))
  assert.equal((await broker.calls.command(ORDER, interpret, signal)).kind, 'refused')
  assert.equal((await broker.calls.command(ORDER, interpret, signal)).kind, 'not_sent')
  await assert.rejects(broker.calls.read(READ, parse, signal), (error: unknown) => {
    assert.ok(error instanceof BrokerFault && error.kind === 'rate_limited')
    assert.ok((error.retryAfterMs ?? 0) > 50_000)
    return true
  })
  assert.equal(broker.host.seen.length, 1)

  await using closed = await start(() => undefined)
  await closed.host[Symbol.asyncDispose]().catch(() => undefined)
  assert.equal((await closed.calls.command(ORDER, interpret, signal)).kind, 'not_sent')
  assert.equal((await closed.calls.command(ORDER, interpret, AbortSignal.abort())).kind, 'not_sent')
})

test('Retry-After on a read is waited for when it is short', async () => {
  const times: number[] = []
  await using broker = await start((_, response) => {
    times.push(performance.now())
    if (times.length === 1) json(response, 429, {}, { 'retry-after': '0.1' })
    else json(response, 200, { ok: true })
  })
  assert.deepEqual(await broker.calls.read(READ, parse, signal), { ok: true })
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 99)
})

test('a read after a 401 goes again with a new token; a command does not', async () => {
  await using broker = await start((seen, response) => json(response, seen.headers.authorization === 'Bearer new' ? 200 : 401, {}))
  assert.equal((await broker.calls.command(ORDER, interpret, signal)).kind, 'refused')
  assert.deepEqual(
    broker.host.seen.map(seen => seen.headers.authorization),
    ['Bearer old']
  )
  assert.deepEqual(await broker.calls.read(READ, parse, signal), {})
  assert.deepEqual(
    broker.host.seen.map(seen => seen.headers.authorization),
    ['Bearer old', 'Bearer new']
  )
})

test('a login that ended is a fault for reads and not sent for commands', async () => {
  const gone = () => Promise.reject(new BrokerFault('credentials_rejected', 'gone'))
  await using broker = await start((_, response) => json(response, 401, {}), gone)
  await assert.rejects(broker.calls.read(READ, parse, signal), isFault('credentials_rejected'))
  const outcome = await broker.calls.command(ORDER, interpret, signal)
  assert.ok(outcome.kind === 'not_sent' && isFault('credentials_rejected')(outcome.cause))
})

test('what reads are answered becomes a fault of its kind', async () => {
  const cases: readonly (readonly [Script, BrokerFault['kind']])[] = [
    [(_, response) => json(response, 403, { message: 'no' }), 'refused'],
    [(_, response) => json(response, 404, {}), 'refused'],
    [(_, response) => json(response, 502, {}), 'unreachable'],
    [(_, response) => json(response, 408, {}), 'unreachable'],
    [(_, response) => json(response, 302, {}, { location: '/elsewhere' }), 'unreachable'],
    [(_, response) => void response.writeHead(200).end('<html>'), 'malformed'],
    [(_, response) => void response.writeHead(200).end(Buffer.of(0xff)), 'malformed'],
    [(_, response, request) => void (response.headersSent || request.socket.destroy()), 'unreachable']
  ]
  for (const [script, kind] of cases) {
    await using broker = await start(script)
    await assert.rejects(broker.calls.read(READ, parse, signal), isFault(kind), kind)
  }
})

test('a status that the caller reads itself is no fault', async () => {
  await using broker = await start((_, response) => json(response, 404, { known: false }))
  assert.deepEqual(await broker.calls.read(READ, parse, signal, { also: [404] }), { known: false })
})

function isFault(kind: BrokerFault['kind']): (error: unknown) => boolean {
  return error => error instanceof BrokerFault && error.kind === kind
}

test('a broker below a path is called there', async () => {
  await using broker = await start((seen, response) => json(response, 200, { path: seen.path }), undefined, { base: '/sandbox/v2' })
  assert.deepEqual(await broker.calls.read(READ, parse, signal), { path: '/sandbox/v2/x' })
})

test('what the broker reports as left of its limit is respected, by its own clock', async () => {
  const date = Date.UTC(2020, 1, 1)
  await using broker = await start(
    (_, response) =>
      json(response, 200, {}, { date: new Date(date).toUTCString(), 'x-left': '1', 'x-reset-at': String(date / 1_000 + 900) }),
    undefined,
    {
      limits: (reply, nowMs) => ({
        remaining: Number(header(reply, 'x-left')),
        resetInMs: Number(header(reply, 'x-reset-at')) * 1_000 - nowMs
      })
    }
  )
  await broker.calls.read(READ, parse, signal)
  await broker.calls.read(READ, parse, signal, { kind: 'order' })
  broker.host.script((_, response) => json(response, 200, {}, { 'x-left': '0', 'x-reset-at': String(Date.now() / 1_000 + 900) }))
  await broker.calls.read(READ, parse, signal)
  const outcome = await broker.calls.command(ORDER, interpret, signal)
  assert.ok(outcome.kind === 'not_sent' && outcome.cause instanceof RateLimitExceeded && outcome.cause.retryAfterMs > 800_000)
  assert.equal(broker.host.seen.length, 3)
})

test('a 429 that names no pause holds until the limit resets', async () => {
  await using broker = await start((_, response) => json(response, 429, {}), undefined, {
    limits: () => ({ remaining: 0, resetInMs: 60_000 })
  })
  await assert.rejects(broker.calls.read(READ, parse, signal), (error: unknown) => {
    return error instanceof BrokerFault && error.kind === 'rate_limited' && error.retryAfterMs === 60_000
  })
})

test('a read with the priority of orders takes what is reserved for them', async () => {
  const limiter = new RateLimiter({ perSecond: 0.001, burst: 2, reservedForOrders: 2, waitingMax: 10, waitMsMax: 10 }, systemClock)
  await using broker = await start((_, response) => json(response, 200, {}), undefined, { limiters: [limiter] })
  await assert.rejects(broker.calls.read(READ, parse, signal), isFault('rate_limited'))
  assert.deepEqual(await broker.calls.read(READ, parse, signal, { kind: 'order' }), {})
})

test('a query sent as a POST is sent once, whatever becomes of its answer, and leaves the capacity reserved for orders', async () => {
  const rates = { perSecond: 0.001, burst: 3, reservedForOrders: 1, waitingMax: 10, waitMsMax: 0 }
  const limiter = new RateLimiter(rates, systemClock)
  await using broker = await start((_, response) => json(response, 201, { ok: true }), undefined, { limiters: [limiter] })
  const ask = () => broker.calls.ask(ORDER, interpret, signal)
  assert.deepEqual(await ask(), { kind: 'accepted', value: { ok: true } })
  broker.host.script((_, response) => json(response, 400, {}))
  assert.equal((await ask()).kind, 'refused')
  await assert.rejects(ask(), error => error instanceof BrokerFault && error.kind === 'rate_limited')
  assert.equal((await broker.calls.command(ORDER, interpret, signal)).kind, 'refused', 'an order has capacity')
  limiter[Symbol.dispose]()
})

test('a query without a conclusive answer is a fault, and is not repeated', async () => {
  await using broker = await start(() => undefined)
  const unknown = (): Outcome<unknown> => ({ kind: 'unknown', cause: new Error('trouble') })
  for (const [kind, script, read] of [
    ['unreachable', (_: unknown, response: Parameters<Script>[1]) => void response.writeHead(503).end('<html>'), unknown],
    ['unreachable', (_: unknown, response: Parameters<Script>[1]) => json(response, 200, {}), unknown],
    ['unreachable', (_: unknown, _response: unknown, request: Parameters<Script>[2]) => void request.socket.resetAndDestroy(), interpret],
    ['rate_limited', (_: unknown, response: Parameters<Script>[1]) => json(response, 429, {}), interpret]
  ] as const) {
    broker.host.seen.length = 0
    broker.host.script(script)
    await assert.rejects(broker.calls.ask(ORDER, read, signal), error => error instanceof BrokerFault && error.kind === kind)
    assert.equal(broker.host.seen.length, 1, kind)
  }
})

test('a command that may not be sent any more is not sent, however long it waited', async () => {
  let mayCommand = true
  await using scene = await start((_, response) => void json(response, 201, {}), undefined, { mayCommand: () => mayCommand })
  assert.equal((await scene.calls.command(ORDER, interpret, signal)).kind, 'accepted')
  const made = async () => {
    mayCommand = false
    return ORDER
  }
  assert.equal((await scene.calls.command(made, interpret, signal)).kind, 'not_sent')
  assert.equal(scene.host.seen.length, 1)
})
