// The cookie of a login that is under way: what fits into it, until when it is read, and which of several counts.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import cookies from '@fastify/cookie'
import { LOGIN_MS } from '@trunkline/core/app/operators/provider-login'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import Fastify from 'fastify'
import { OperatorCookie } from '../../src/operators/cookie.ts'
import { type PendingLogin, PendingLoginCookie } from '../../src/operators/pending-login.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { key, ring } from '../vault/rings.ts'

const NAME = 'trunkline-login-8080'
const LOGIN: PendingLogin = { state: 'the state', nonce: 'the nonce', verifier: 'the verifier', returnTo: '/console/' }
const vault = new EnvelopeVault(ring(key('k1')))

/** A node with the master key of all, and a clock of its own. */
async function node(context: TestContext, aheadMs = 0) {
  const clock = new VirtualClock()
  clock.setWall(aheadMs)
  const pending = new PendingLoginCookie(new OperatorCookie(() => 'http://127.0.0.1:8080', 'login'), { vault, clock })
  const http = Fastify()
  context.after(() => http.close())
  await http.register(cookies)
  http.post<{ Body: PendingLogin }>('/', async (request, reply) => pending.set(reply, request.body))
  http.get('/', async request => pending.read(request))
  /** The cookie that a browser gets, and the length of its header. */
  const set = async (payload: PendingLogin) => {
    const response = await http.inject({ method: 'POST', url: '/', payload })
    return { value: response.cookies[0]?.value ?? response.body, length: String(response.headers['set-cookie']).length }
  }
  const read = async (...values: readonly string[]): Promise<unknown> =>
    (await http.inject({ url: '/', headers: { cookie: values.map(value => `${NAME}=${value}`).join('; ') } })).json()
  return { clock, set, read }
}

test('it is read for ten minutes, and at nodes whose clocks are up to a minute behind', async context => {
  const { set, read, clock } = await node(context)
  const { value } = await set(LOGIN)
  assert.deepEqual(await (await node(context, -60_000)).read(value), [LOGIN])
  assert.deepEqual(await (await node(context, -60_001)).read(value), [])
  await clock.advance(LOGIN_MS - 1)
  assert.deepEqual(await read(value), [LOGIN])
  await clock.advance(1)
  assert.deepEqual(await read(value), [])
})

test('a browser keeps every cookie that is set, and a page that is too long for one is refused', async context => {
  const { set, read } = await node(context)
  const pages = Array.from({ length: 40 }, (_, at) => `/console/${'x'.repeat(at * 100)}`)
  let kept = 0
  for (const returnTo of pages) {
    const { value, length } = await set({ ...LOGIN, returnTo })
    if (/return_to must be a path and query that fit/.test(value)) continue
    kept += 1
    assert.ok(length <= 4_096, `${length} bytes`)
    assert.deepEqual(await read(value), [{ ...LOGIN, returnTo }])
  }
  assert.ok(kept > 20 && kept < 40, `${kept} are kept`)
})

test('of several cookies, as others plant them over plain http, four are read, and what this service did not seal is none', async context => {
  const { set, read } = await node(context)
  const [first, second] = [await set({ ...LOGIN, state: 'planted' }), await set(LOGIN)]
  assert.deepEqual(await read('AAAA', first.value, '!', second.value, second.value), [{ ...LOGIN, state: 'planted' }, LOGIN])
})
