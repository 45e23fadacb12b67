// What each operation of the API asks of a key: every route, against keys of every single scope.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES, type Scope } from '@trunkline/core/domain/platform-key'
import Fastify from 'fastify'
import { Guard } from '../../src/http/guard.ts'
import { DEFAULT_LIMITS } from '../../src/http/index.ts'
import { ENDPOINTS } from '../../src/http/routes/index.ts'
import { answerFailures, serveEndpoints, takeJson } from '../../src/http/serve.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

test('every operation accepts keys with its scope and refuses others with scope_missing', async () => {
  const app = Fastify({ exposeHeadRoutes: false })
  app.decorateRequest('isProven', false)
  app.decorateRequest('execute', null)
  takeJson(app)
  answerFailures(app, Object({ log: quiet }))
  // The client id is the scope, so that one look-up serves them all.
  const lookup = {
    rememberedPlatform: () => undefined,
    rememberedUser: () => undefined,
    platform: async (scope: Scope) => ({
      ...{ platform: { platformId: 'p', clientId: 'c' }, secretHash: 'secret', previous: null, isPlatformDisabled: false },
      key: { clientId: scope, scopes: [scope], addresses: [], expiresAt: null, disabledAt: null }
    }),
    user: async () => ({ user: { userKey: 'u' }, secretHash: 'secret', disabledAt: null }),
    admits: () => true
  }
  const hasher = { hash: (text: string) => text, equal: (a: string, b: string) => a === b }
  const clock = { now: () => '2026-01-01T00:00:00.000000Z', monotonicMs: () => 0 }
  const guard = new Guard(Object({ hasher, lookup, clock, accessAudit: { note() {} } }), { ...DEFAULT_LIMITS })
  const queue = { requireCapacity() {}, run: (_: unknown, work: () => unknown) => work() }
  serveEndpoints(app, ENDPOINTS, { guard, gate: { proved() {} }, queue: Object(queue), service: Object({ deps: {} }) }, '')
  for (const { method, path, scope, operationId } of ENDPOINTS) {
    const url = path.replaceAll(/:\w+/g, '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71')
    const codes = await Promise.all(
      SCOPES.map(async held => {
        const headers = { 'client-id': held, 'client-secret': 'secret', 'user-id': 'u', 'user-secret': 'secret' }
        const { statusCode, body } = await app.inject({ method, url, headers })
        const { code } = JSON.parse(body)
        return code === 'scope_missing' ? `${held} ${statusCode}` : statusCode === 401 ? `${held} ${code}` : null
      })
    )
    const expected = SCOPES.map(held => (held === scope ? null : `${held} 401`))
    assert.deepEqual(codes, expected, operationId)
    const isReading = method === 'GET'
    assert.equal(isReading, scope === 'read', `${operationId}: what only reads needs read, and nothing else does`)
  }
  await app.close()
})
