// With claims, a forwarded link creates no connection.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { CLAIM_MINUTES } from '@trunkline/core/app/connect/establish'
import type { PlatformId } from '@trunkline/core/domain/ids'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { AuditEntry } from '@trunkline/core/ports/store'
import { until } from '@trunkline/testkit/until'
import { withMethods } from '@trunkline/testkit/with-methods'
import { SystemClock } from '../../src/ops/clock.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { Browser, json, openScene, type Scene } from './support.ts'

const REDIRECT = 'https://app.example.com/linked'
const PATIENCE_MS = 60_000

describe('a platform that claims', () => {
  let scene: Scene
  /** By how much the sweep for unclaimed logins believes that time has passed. */
  let laterMs = 0
  const later = (at: Timestamp) => timestampOfMs(epochMs(at) + laterMs)
  const secret = randomBytes(32).toString('base64url')
  const users = new Map<string, Readonly<Record<string, string>>>()

  before(async () => {
    scene = await openScene({
      store: real => ({
        ...real,
        connections: withMethods(real.connections, {
          expireClaims: (at, limit) => real.connections.expireClaims(later(at), limit),
          dueRevocations: (at, limit) => real.connections.dueRevocations(later(at), limit)
        })
      })
    })
    const [ids, createdAt] = [new RandomIds(), new SystemClock().now()]
    const platform = {
      ...{ platformId: ids.uuid<PlatformId>(), clientId: 'pk_claims', name: 'Claims', claims: true, createdAt },
      redirectAllowList: [REDIRECT]
    }
    const audit = {
      actor: 'operator',
      action: 'platform.create',
      target: '-',
      result: 'ok',
      ip: null,
      requestId: null,
      detail: {}
    } as const
    await scene.store.platforms.create(platform, new Sha256Hasher(Buffer.alloc(32)).hash(secret), { ...audit, at: createdAt })
    for (const name of ['attacker', 'victim']) {
      const headers = { 'client-id': 'pk_claims', 'client-secret': secret }
      const made = await json(`${scene.url}/users`, headers, { user_id: name })
      users.set(name, { ...headers, 'user-id': name, 'user-secret': String(made['user-secret']) })
    }
  })
  after(() => scene[Symbol.asyncDispose]())

  const as = (name: string) => users.get(name) ?? assert.fail(name)
  const rows = async (path: string, name: string): Promise<readonly Record<string, unknown>[]> => {
    const answer: unknown = await (await fetch(`${scene.url}${path}`, { headers: as(name) })).json()
    assert.ok(Array.isArray(answer), JSON.stringify(answer))
    return answer
  }
  const claim = async (name: string, connectionId: string, claim_code: string) => {
    const headers = { ...as(name), 'content-type': 'application/json' }
    const body = JSON.stringify({ claim_code })
    const answer = await fetch(`${scene.url}/connections/${connectionId}/claim`, { method: 'POST', headers, body })
    const read: unknown = await answer.json()
    assert.ok(typeof read === 'object' && read !== null)
    return { status: answer.status, code: 'code' in read ? read.code : null, body: read }
  }
  /** Somebody finishes a link of that user. Gives what came with the redirect. */
  async function finished(name: string): Promise<{ readonly id: string; readonly code: string }> {
    const requested = { connection_type: 'trade', broker: 'SANDBOX', redirect_url: REDIRECT }
    const { authorization_url: link } = await json(`${scene.url}/connections`, as(name), requested)
    const browser = new Browser()
    const { location } = await browser.get(await browser.logIn(await browser.approve(String(link)), scene.demo))
    const { searchParams } = new URL(location)
    return { id: searchParams.get('connection_id') ?? assert.fail(location), code: searchParams.get('claim_code') ?? assert.fail(location) }
  }

  test('a forwarded link: the sender can neither see, read, trade nor keep what the other user connected [S15]', async () => {
    const { id, code } = await finished('attacker')
    const before = await scene.requested('revoke')
    for (const path of ['/connections', '/accounts', '/balances', '/positions']) assert.deepEqual(await rows(path, 'attacker'), [], path)
    const platform = { 'client-id': 'pk_claims', 'client-secret': secret }
    assert.deepEqual((await json(`${scene.url}/platform/connections`, platform)).data, [])
    assert.equal((await fetch(`${scene.url}/connections/${id}/token`, { headers: as('attacker') })).status, 404)
    assert.equal((await fetch(`${scene.url}/connections/${id}`, { method: 'DELETE', headers: as('attacker') })).status, 404)
    // The redirect reached the victim's session; the sender has the id, and no code.
    assert.deepEqual(pick(await claim('victim', id, code)), [404, 'connection_not_found'])
    assert.deepEqual(pick(await claim('attacker', id, 'a'.repeat(43))), [409, 'claim_refused'])
    const isDenied = ({ action, detail }: AuditEntry) => action === 'access.denied' && detail.reason === 'claim_refused'
    await until(async () => (await scene.store.audit.list(5)).some(isDenied), 'the refusal is audited', PATIENCE_MS)
    laterMs = CLAIM_MINUTES * 60_000
    await until(async () => (await scene.store.audit.list(5)).some(isUnclaimed), 'the login is given up', PATIENCE_MS)
    await until(async () => (await scene.requested('revoke')) > before, 'the login is revoked at the broker', PATIENCE_MS)
    laterMs = 0
    assert.deepEqual(pick(await claim('attacker', id, code)), [404, 'connection_not_found'])
    assert.deepEqual(await rows('/connections', 'attacker'), [])
  })

  test('the user’s own session claims once, and the connection is then an ordinary one', async () => {
    const { id, code } = await finished('victim')
    const { status, body } = await claim('victim', id, code)
    assert.equal(status, 200, JSON.stringify(body))
    const [connection] = await rows('/connections', 'victim')
    assert.deepEqual(body, connection)
    assert.ok((await rows('/balances', 'victim')).length > 0)
    assert.deepEqual(pick(await claim('victim', id, code)), [409, 'connection_claimed'])
  })

  test('without a redirect address the claim code cannot be delivered, so the request is refused', async () => {
    const headers = { ...as('victim'), 'content-type': 'application/json' }
    const body = JSON.stringify({ connection_type: 'trade', broker: 'SANDBOX' })
    const answer = await fetch(`${scene.url}/connections`, { method: 'POST', headers, body })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /redirect_url must be given/)
  })
})

const isUnclaimed = ({ action }: { readonly action: string }) => action === 'connection.unclaimed'
const pick = ({ status, code }: { readonly status: number; readonly code: unknown }) => [status, code]
