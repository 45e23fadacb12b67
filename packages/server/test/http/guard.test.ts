// What a request may cost before it is known whose it is, counted in look-ups.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES } from '@trunkline/core/domain/platform-key'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import Fastify from 'fastify'
import { Guard } from '../../src/http/guard.ts'
import { DEFAULT_LIMITS } from '../../src/http/index.ts'
import { answerFailures } from '../../src/http/serve.ts'

const LIMITS = {
  ...DEFAULT_LIMITS,
  platform: { perSecond: 1, burst: 40 },
  user: { perSecond: 1, burst: 10 },
  failedAuthentication: { perSecond: 1, burst: 5 }
}

async function stage() {
  const clock = new VirtualClock()
  const counted = { platforms: 0, users: 0, audited: 0 }
  const lookup = {
    rememberedPlatform: () => undefined,
    rememberedUser: () => undefined,
    platform: async (clientId: string) => {
      counted.platforms += 1
      const key = { keyId: clientId, platformId: 'p', clientId, scopes: SCOPES, addresses: [], expiresAt: null, disabledAt: null }
      return { platform: { platformId: 'p', clientId }, key, secretHash: 'right', previous: null, isPlatformDisabled: false }
    },
    user: async (_: string, userId: string) => {
      counted.users += 1
      return { user: { userKey: userId }, secretHash: 'right', disabledAt: null }
    },
    admits: () => true
  }
  const hasher = { hash: (text: string) => text, equal: (a: string, b: string) => a === b }
  const accessAudit = {
    note() {
      counted.audited += 1
    }
  }
  const guard = new Guard(Object({ hasher, lookup, clock, accessAudit }), LIMITS)
  const app = Fastify()
  answerFailures(app, { log: { debug() {}, info() {}, warn() {}, error() {} } })
  app.get('/platform', async (request, reply) => (await guard.platform(request, reply, 'read')).requestId)
  app.get('/user', async (request, reply) => (await guard.user(request, reply, 'read')).requestId)
  const ask = async (url: string, headers: Readonly<Record<string, string>>, remoteAddress = '192.0.2.1') =>
    (await app.inject({ url, headers, remoteAddress })).statusCode
  return { clock, counted, ask }
}

const PLATFORM = { 'client-id': 'pk_1', 'client-secret': 'right' }

test('wrong secrets for a client known at the address are looked up no more often than for an unknown client, and the client is still served [S29]', async () => {
  const { counted, ask } = await stage()
  assert.equal(await ask('/platform', PLATFORM), 200)
  const before = counted.platforms
  for (let at = 0; at < 50; at++) assert.ok([401, 429].includes(await ask('/platform', { ...PLATFORM, 'client-secret': `wrong-${at}` })))
  assert.equal(counted.platforms - before, LIMITS.failedAuthentication.burst)
  assert.equal(counted.audited, LIMITS.failedAuthentication.burst)
  assert.equal(await ask('/platform', PLATFORM), 200)
})

test('wrong user secrets count against the platform that was authenticated', async () => {
  const { clock, counted, ask } = await stage()
  const statuses: number[] = []
  for (let at = 0; at < 100; at++) statuses.push(await ask('/user', { ...PLATFORM, 'user-id': `u-${at}`, 'user-secret': 'wrong' }))
  assert.equal(counted.users, LIMITS.platform.burst)
  assert.deepEqual(new Set(statuses), new Set([401, 429]))
  await clock.advance(8_000)
  assert.equal(await ask('/user', { ...PLATFORM, 'user-id': 'u-1', 'user-secret': 'right' }), 200, 'no failure of others locks a user out')
})

test('a user above its limit does not use up the platform’s limit', async () => {
  const { ask } = await stage()
  const ada = { ...PLATFORM, 'user-id': 'ada', 'user-secret': 'right' }
  const statuses: number[] = []
  for (let count = 0; count < 100; count++) statuses.push(await ask('/user', ada))
  assert.equal(statuses.filter(status => status === 200).length, LIMITS.user.burst)
  assert.equal(await ask('/user', { ...ada, 'user-id': 'ben' }), 200)
})
