import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { never as signal } from '@trunkline/testkit/patience'
import { type CallOptions, Calls } from '../../src/kit/calls.ts'
import { HttpClient, type HttpReply } from '../../src/kit/http.ts'
import { readJson } from '../../src/kit/json.ts'
import { RateLimitExceeded, RateLimiter } from '../../src/kit/rate-limiter.ts'
import { TokenSource } from '../../src/kit/tokens.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { json, type Script, ScriptedHost, type Seen } from '../support/scripted-host.ts'

const ME = { method: 'GET', path: '/me', headers: [] } as const
const DEPTH = { method: 'GET', path: '/depth', headers: [] } as const
const authorize = (token: string) => ['authorization', `Bearer ${token}`]
const unauthorized = (reply: HttpReply) => reply.status === 401

function callsOf(options: Pick<CallOptions, 'http' | 'tokens'> & Partial<CallOptions>): Calls {
  const retries = { firstMs: 1, longestMs: 1, attemptsMax: 1, retryAfterMsMax: 100 }
  const deps = { clock: systemClock, fraction: () => 0.5 }
  return new Calls({ limiters: [], retries, deps, authorize, unauthorized, errorMessage: () => '', ...options })
}

/** A login with a token that cannot be renewed, unless `renewed` says what a renewal gives. */
async function start(script: Script, renewed: string | null = null, more: Partial<CallOptions> = {}) {
  const host = await ScriptedHost.start(script)
  const http = new HttpClient({ origin: host.origin, plain: true })
  const tokens = new TokenSource({
    holder: new MemoryHolder({ access_token: 'old' }),
    clock: { ...systemClock, sleep: () => Promise.resolve() },
    log: new MemoryLog(),
    tokenOf: ({ access_token: token = '' }) => ({ token, issuedAt: null, expiresAt: null, isRenewable: renewed !== null }),
    refresh: () =>
      renewed === null ? Promise.reject(new BrokerFault('credentials_rejected', 'none')) : Promise.resolve({ access_token: renewed }),
    confirm: (token, own) => calls.accepts(token, ME, own)
  })
  const calls: Calls = callsOf({ http, base: '/v1', tokens, ...more })
  return {
    host,
    tokens,
    accepts: (token: string) => calls.accepts(token, ME, signal),
    read: () => calls.read(DEPTH, reply => readJson(reply.body), signal),
    paths: () => host.seen.map(seen => `${seen.path.slice(4)} ${seen.headers.authorization?.slice(7)}`),
    async [Symbol.asyncDispose]() {
      await tokens[Symbol.asyncDispose]()
      await http[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    }
  }
}

const isMe = (seen: Seen) => seen.path === '/v1/me'

test('a hiccup of a 401 is confirmed to be one, and the read goes again with the same token', async () => {
  let refusals = 1
  await using broker = await start((seen, response) => {
    if (!isMe(seen) && refusals-- > 0) json(response, 401, {})
    else json(response, 200, { fine: true })
  }, 'new')
  assert.deepEqual(await broker.read(), { fine: true })
  assert.deepEqual(broker.paths(), ['depth old', 'me old', 'depth old'])
})

test('a 401 about the request is a refusal, and spends no refresh token', async () => {
  await using broker = await start((seen, response) => json(response, isMe(seen) ? 200 : 401, {}), 'new')
  for (let time = 0; time < 2; time += 1) await assert.rejects(broker.read(), isFault('refused'))
  assert.equal(broker.tokens.fresh(), 'old')
  assert.ok(broker.paths().every(path => path.endsWith(' old')))
})

test('a token that the broker no longer takes is replaced after one confirmation', async () => {
  await using broker = await start((seen, response) => json(response, seen.headers.authorization === 'Bearer new' ? 200 : 401, {}), 'new')
  await broker.read()
  assert.deepEqual(broker.paths(), ['depth old', 'me old', 'depth new'])
})

test('a token for which there is no other is condemned by two confirmations, and by no fewer', async () => {
  await using gone = await start((_, response) => json(response, 401, {}))
  await assert.rejects(gone.read(), isFault('credentials_rejected'))
  assert.deepEqual(gone.paths(), ['depth old', 'me old', 'me old'])
  await assert.rejects(gone.read(), isFault('credentials_rejected'))
  assert.equal(gone.host.seen.length, 3)

  let confirmations = 0
  await using back = await start((seen, response) => {
    if (isMe(seen)) confirmations += 1
    json(response, confirmations < 2 ? 401 : 200, {})
  })
  assert.deepEqual(await back.read(), {})
})

test('a new token that is refused as well is the end only when that is confirmed twice', async () => {
  await using broker = await start((_, response) => json(response, 401, {}), 'new')
  await assert.rejects(broker.read(), isFault('credentials_rejected'))
  assert.deepEqual(broker.paths(), ['depth old', 'me old', 'depth new', 'me new', 'me new'])
})

test('a broker that cannot answer breaks nothing', async () => {
  for (const status of [403, 404, 429, 500, 503]) {
    await using broker = await start((seen, response) => json(response, isMe(seen) ? status : 401, {}))
    await assert.rejects(broker.read(), isFault('unreachable'), String(status))
    assert.equal(broker.tokens.fresh(), 'old')
  }
})

test('no caller waits for a confirmation beyond its own deadline', async () => {
  const host = await ScriptedHost.start((_, response) => json(response, 401, {}))
  const http = new HttpClient({ origin: host.origin, plain: true })
  const tokens: TokenSource = new TokenSource({
    holder: new MemoryHolder({ access_token: 'old' }),
    clock: {
      ...systemClock,
      sleep: (_, until) => new Promise((_resolve, reject) => until?.addEventListener('abort', () => reject(until.reason)))
    },
    log: new MemoryLog(),
    tokenOf: ({ access_token: token = '' }) => ({ token, issuedAt: null, expiresAt: null, isRenewable: false }),
    refresh: () => Promise.reject(new BrokerFault('credentials_rejected', 'none')),
    confirm: (token, own) => callsOf({ http, tokens }).accepts(token, ME, own)
  })
  const patience = new AbortController()
  const waiting = assert.rejects(
    tokens.withToken(async () => ({ unauthorized: true, result: null }), patience.signal),
    isFault('unreachable')
  )
  patience.abort()
  await waiting
  assert.equal(tokens.fresh() ?? 'old', 'old')
  await tokens[Symbol.asyncDispose]()
  await http[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
})

test('a confirmation keeps to the rate limit', async () => {
  const limiter = new RateLimiter({ perSecond: 0.001, burst: 1, reservedForOrders: 0, waitingMax: 1, waitMsMax: 10 }, systemClock)
  await using broker = await start((_, response) => json(response, 200, {}), null, { limiters: [limiter] })
  assert.equal(await broker.accepts('t'), true)
  await assert.rejects(
    broker.accepts('t'),
    (error: unknown) => isFault('rate_limited')(error) && error instanceof Error && error.cause instanceof RateLimitExceeded
  )
})

function isFault(kind: BrokerFault['kind']): (error: unknown) => boolean {
  return error => error instanceof BrokerFault && error.kind === kind
}
