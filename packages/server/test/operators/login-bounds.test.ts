// What visitors without credentials can take of the database and of the login provider: little at once, and ever less.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import cookies from '@fastify/cookie'
import { LocalBus } from '@trunkline/core/app/local-bus'
import type { ProvenIdentity } from '@trunkline/core/app/operators/provider-login'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { OperatorSession } from '@trunkline/core/domain/operator'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until as waitUntil } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import Fastify from 'fastify'
import { LoginRefused } from '../../src/oidc/faults.ts'
import { OperatorAccess } from '../../src/operators/access.ts'
import { waysIn } from '../../src/operators/attempts.ts'
import { OperatorCookie } from '../../src/operators/cookie.ts'
import { PendingLoginCookie } from '../../src/operators/pending-login.ts'
import { ProviderLogins } from '../../src/operators/provider-logins.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { key, ring } from '../vault/rings.ts'

const PUBLIC_URL = 'http://127.0.0.1:8080'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const START = new VirtualClock().now()
const FULL = new ServiceError('store_unavailable', 'the queue is full')
const ADA: OperatorSession = {
  ...{ sessionId: new RandomIds().uuid(), operator: 'ada@host', scopes: ['read'], origin: 'code' },
  ...{ createdAt: START, lastUsedAt: START, expiresAt: START }
}

/** Waits often and shortly: what is waited for takes a turn or two of the event loop. */
const until = (condition: () => boolean, what: string) => waitUntil(condition, what, PATIENCE_MS, 1)

/** Work that is under way until the test says how it ends. */
class Held<Result> {
  begun = 0
  #end = Promise.withResolvers<Result>()

  /** Counts every call; all that are under way end together. */
  readonly take = (): Promise<Result> => {
    this.begun += 1
    return this.#end.promise
  }

  resolve(value: Result): void {
    this.#end.resolve(value)
    this.#end = Promise.withResolvers<Result>()
  }

  reject(cause: unknown): void {
    this.#end.reject(cause)
    this.#end = Promise.withResolvers<Result>()
  }
}

/** A node whose database and login provider answer when the test says. */
async function stage(context: TestContext) {
  const clock = new VirtualClock()
  const [ids, hasher] = [new RandomIds(), new Sha256Hasher(randomBytes(32))]
  const [sessions, uses, proofs] = [new Held<OperatorSession | null>(), new Held<'first'>(), new Held<ProvenIdentity>()]
  const attempts = waysIn(() => clock.monotonicMs(), new LocalBus(SILENT))
  const unused = (): never => assert.fail('no test here needs this part of the store')
  const operators: OperatorStore = {
    ...{ createCode: unused, exchange: unused, createSession: async () => ADA, sessions: unused, endSession: unused },
    ...{ createKey: unused, useKey: unused, keys: unused, revokeKey: unused },
    useSession: sessions.take,
    useLogin: uses.take
  }
  const publicUrl = () => PUBLIC_URL
  const access = new OperatorAccess(
    { operators, attempts, hasher, ids, clock },
    { publicUrl, cookie: new OperatorCookie(publicUrl), accessAudit: { note() {} } }
  )
  const discovery = { isSlow: false, read: new Held<string>() }
  const logins = new ProviderLogins({
    ...{ name: 'Our company', publicUrl, access, attempts: attempts.provider, operators, hasher, ids, log: SILENT },
    grants: [{ value: 'traders', scopes: ['read'] }],
    provider: {
      host: 'login.example',
      begin: async (_uri, { state }) => (discovery.isSlow ? discovery.read.take() : state),
      complete: proofs.take
    },
    pending: new PendingLoginCookie(new OperatorCookie(publicUrl, 'login'), { vault: new EnvelopeVault(ring(key('k1'))), clock })
  })
  const http = Fastify()
  context.after(() => http.close())
  await http.register(cookies)
  http.setErrorHandler((error, _request, reply) => reply.code(400).send({ code: error instanceof ServiceError ? error.code : 'internal' }))
  http.get('/session', (request, reply) => access.operator(request, reply, 'read', false))
  http.post('/begin', async (request, reply) => ({ state: await logins.begin(request, reply, '/console/') }))
  http.post<{ Body: { answer: string } }>('/complete', (request, reply) => logins.complete(request, reply, request.body.answer))
  const own = { origin: PUBLIC_URL, 'x-trunkline-operator': '1' }
  /** Reads with the secret of a session: the code of the answer, undefined if it was answered. */
  const read = async (secret: string, remoteAddress: string): Promise<unknown> => {
    const headers = { cookie: `trunkline-operator-8080=${secret}` }
    return (await http.inject({ url: '/session', headers, remoteAddress })).json().code
  }
  /** Begins a login. What it returns sends the answer of the provider, and returns like `read`. */
  const begun = async (): Promise<(remoteAddress: string) => Promise<unknown>> => {
    const response = await http.inject({ method: 'POST', url: '/begin', headers: own })
    const headers = { ...own, cookie: `trunkline-login-8080=${response.cookies[0]?.value}` }
    const payload = { answer: `?code=x&state=${response.json().state}` }
    return async remoteAddress => (await http.inject({ method: 'POST', url: '/complete', headers, payload, remoteAddress })).json().code
  }
  return { sessions, uses, proofs, discovery, read, begun }
}

/**
 * Sends so many at once. Resolves once all are refused for now but those that are to be under way, with the codes of the answers to these.
 */
async function flood(times: number, underWay: number, send: (at: number) => Promise<unknown>): Promise<() => Promise<readonly unknown[]>> {
  let refused = 0
  const sent = Array.from({ length: times }, async (_, at) => {
    const code = await send(at)
    if (code === 'rate_limited') refused += 1
    return code
  })
  await until(() => refused >= times - underWay, `all but ${underWay} of ${times} are refused`)
  assert.equal(refused, times - underWay)
  return async () => (await Promise.all(sent)).filter(code => code !== 'rate_limited')
}

test('of invented sessions eight of an address and sixteen in all are looked up at once, and operators beside them', async context => {
  const { sessions, read } = await stage(context)
  const first = read('os_ada', '192.0.2.1')
  await until(() => sessions.begun === 1, 'it is looked up')
  sessions.resolve(ADA)
  await first

  const floods = [
    await flood(100, 8, at => read(`os_a${at}`, '192.0.2.1')),
    await flood(100, 8, at => read(`os_b${at}`, '198.51.100.1')),
    await flood(100, 0, at => read(`os_c${at}`, '203.0.113.1')),
    await flood(100, 48, () => read('os_ada', '192.0.2.1'))
  ]
  assert.equal(sessions.begun, 1 + 64)
  sessions.resolve(null)
  for (const answers of floods) for (const code of await answers()) assert.equal(code, 'credentials_invalid')
})

test('the secret of a session that has ended is looked up once, however often a browser sends it', async context => {
  const { sessions, read } = await stage(context)
  const first = read('os_gone', '192.0.2.1')
  await until(() => sessions.begun === 1, 'it is looked up')
  sessions.resolve(null)
  assert.equal(await first, 'credentials_invalid')
  const codes: unknown[] = []
  for (let times = 0; times < 20; times++) void read('os_gone', '192.0.2.1').then(code => codes.push(code))
  await until(() => codes.length === 20 || sessions.begun > 1, 'all are answered')
  assert.deepEqual([sessions.begun, new Set(codes)], [1, new Set(['credentials_invalid'])])
})

test('visitors who find all look-ups taken by operators are refused, and leave nothing under way', async context => {
  const { sessions, read } = await stage(context)
  const first = read('os_ada', '192.0.2.1')
  await until(() => sessions.begun === 1, 'it is looked up')
  sessions.resolve(ADA)
  await first
  const operators = await flood(100, 64, () => read('os_ada', '192.0.2.1'))
  await flood(100, 0, at => read(`os_a${at}`, '198.51.100.1'))
  sessions.resolve(ADA)
  await operators()
  const strange = await flood(100, 8, at => read(`os_b${at}`, '198.51.100.1'))
  assert.equal(sessions.begun, 1 + 64 + 8)
  sessions.resolve(null)
  await strange()
})

test('who makes the database fail is slowed down, and who was refused a look-up is not', async context => {
  const { sessions, read } = await stage(context)
  const begun = (count: number) => until(() => sessions.begun === count, `${count} were looked up`)
  for (let count = 8; count <= 304; count += 8) {
    const answers = await flood(8, 8, at => read(`os_${count}-${at}`, '192.0.2.1'))
    await begun(count)
    await flood(20, 0, at => read(`os_more-${at}`, '192.0.2.1'))
    sessions.reject(FULL)
    for (const code of await answers()) assert.equal(code, 'store_unavailable')
  }
  await flood(20, 0, at => read(`os_more-${at}`, '192.0.2.1'))
  const other = read('os_other', '198.51.100.1')
  await begun(305)
  sessions.resolve(null)
  assert.equal(await other, 'credentials_invalid')
})

test('four logins of an address and eight in all are completed at once, and one that finds no place is not used up', async context => {
  const { uses, proofs, begun } = await stage(context)
  const [wrong, right] = [await begun(), await begun()]
  const floods = [await flood(50, 4, () => wrong('192.0.2.1')), await flood(50, 4, () => wrong('198.51.100.1'))]
  assert.equal(uses.begun, 8)
  assert.equal(await right('203.0.113.1'), 'rate_limited')
  uses.resolve('first')
  await until(() => proofs.begun === 8, 'the provider is asked')
  assert.equal(await right('203.0.113.1'), 'rate_limited')
  assert.equal(uses.begun, 8)
  proofs.reject(new LoginRefused('proves nobody'))
  for (const answers of floods) for (const code of await answers()) assert.equal(code, 'credentials_invalid')

  const late = right('203.0.113.1')
  await until(() => uses.begun === 9, 'it is used now')
  uses.resolve('first')
  await until(() => proofs.begun === 9, 'the provider is asked')
  proofs.resolve({ host: 'login.example', subject: 'ada', name: 'ada', grantClaim: 'groups', values: [] })
  assert.equal(await late, 'scope_missing')
})

test('a login that finds all places taken by logins that begin is not used up either, and is not slowed down', async context => {
  const { uses, discovery, begun } = await stage(context)
  const send = await begun()
  discovery.isSlow = true
  const beginning = Array.from({ length: 8 }, begun)
  await until(() => discovery.read.begun === 8, 'eight begin')
  for (let times = 0; times < 30; times++) assert.equal(await send('192.0.2.1'), 'rate_limited')
  assert.equal(uses.begun, 0)
  discovery.read.resolve('state')
  await Promise.all(beginning)
  const answer = send('192.0.2.1')
  await until(() => uses.begun === 1, 'it is used now')
  uses.reject(FULL)
  assert.equal(await answer, 'store_unavailable')
})

test('logins that the database or the provider fails slow their address down, and nobody else', async context => {
  const { uses, begun } = await stage(context)
  const send = await begun()
  for (let count = 4; count <= 20; count += 4) {
    const answers = await flood(4, 4, () => send('192.0.2.1'))
    await until(() => uses.begun === count, `${count} were used`)
    uses.reject(FULL)
    for (const code of await answers()) assert.equal(code, 'store_unavailable')
  }
  await flood(20, 0, () => send('192.0.2.1'))
  const other = send('198.51.100.1')
  await until(() => uses.begun === 21, 'another address is not')
  uses.reject(FULL)
  assert.equal(await other, 'store_unavailable')
})

test('logins that succeed leave nothing under way, and slow nobody down', async context => {
  const { uses, proofs, begun } = await stage(context)
  const send = await begun()
  for (let count = 1; count <= 30; count++) {
    const answer = send('192.0.2.1')
    await until(() => uses.begun === count, `${count} were used`)
    uses.resolve('first')
    await until(() => proofs.begun === count, 'the provider is asked')
    proofs.resolve({ host: 'login.example', subject: 'ada', name: 'ada', grantClaim: 'groups', values: ['traders'] })
    assert.equal(await answer, undefined)
  }
})
