// What operators prove themselves with, and the reads that only they need, on both engines.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { OPERATOR_SCOPES, type OperatorKey } from '@trunkline/core/domain/operator'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { sql } from 'kysely'
import { buildStore, openEngine, type SqlStore, type StoreSettings } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrate.ts'
import { testDeps } from './deps.ts'
import { copyStore } from './template.ts'

const HOUR = 3_600_000
const IDLE = 1_800_000

const code = (codeHash: string, lifetimeMs = HOUR) => ({ codeHash, operator: 'ada@host', scopes: OPERATOR_SCOPES, lifetimeMs })
const newSession = (lifetimeMs = HOUR) => ({ sessionId: make.uuid<never>(), secretHash: make.hash(), lifetimeMs })
const audit = () => make.audit('operator.login')

async function embedded(): Promise<{ settings: StoreSettings; cleanUp: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'trunkline-operators-'))
  const dataDir = join(directory, 'data')
  await copyStore(dataDir)
  return { settings: { kind: 'embedded', dataDir }, cleanUp: () => rm(directory, { recursive: true }) }
}

async function postgres(): Promise<{ settings: StoreSettings; cleanUp: () => Promise<void>; url: string }> {
  const cluster = await sharedPostgres()
  const database = await createDatabase(cluster.url)
  return { settings: { kind: 'postgres', url: database.url, poolMax: 4 }, cleanUp: () => database.drop(), url: database.url }
}

for (const [name, open] of [['the embedded engine', embedded] as const, ['PostgreSQL', postgres] as const]) {
  describe(`operators on ${name}`, () => {
    let store: SqlStore
    let run: (statement: string) => Promise<void>
    let cleanUp: () => Promise<void>
    let isFull = false
    before(async () => {
      const { settings, cleanUp: clean } = await open()
      cleanUp = clean
      const engine = await openEngine(settings, testDeps())
      await migrate(engine.db, testDeps())
      const assertMayWrite = () => {
        if (isFull) throw new StoreUnavailable('the disk is full')
      }
      store = buildStore(engine, { ...testDeps(), assertMayWrite })
      run = async statement => void (await sql.raw(statement).execute(engine.db))
    })
    after(async () => {
      await store[Symbol.asyncDispose]()
      await cleanUp()
    })

    test('a code becomes one session, however many exchange it at once [S87]', async () => {
      const hash = make.hash()
      await store.operators.createCode(code(hash), make.audit('operator.link'))
      const sessions = await Promise.all(Array.from({ length: 6 }, () => store.operators.exchange(hash, newSession(), audit)))
      assert.equal(sessions.filter(session => session !== null).length, 1)
      assert.equal(await store.operators.exchange(hash, newSession(), audit), null)
    })

    test('an expired code, and one that never was, become nothing [S87]', async () => {
      const hash = make.hash()
      await store.operators.createCode(code(hash, -1), make.audit('operator.link'))
      assert.equal(await store.operators.exchange(hash, newSession(), audit), null)
      assert.equal(await store.operators.exchange(make.hash(), newSession(), audit), null)
    })

    test('a session is found by its secret until it expires, is idle for too long, or is ended', async () => {
      const { operators } = store
      const sessionOf = async (lifetimeMs: number) => {
        const hash = make.hash()
        await operators.createCode(code(hash), make.audit('operator.link'))
        const made = newSession(lifetimeMs)
        await operators.exchange(hash, made, audit)
        return made
      }
      const [lasting, expired] = [await sessionOf(HOUR), await sessionOf(-1)]
      const found = await operators.useSession(lasting.secretHash, IDLE)
      assert.deepEqual([found?.operator, found?.scopes, found?.origin], ['ada@host', OPERATOR_SCOPES, 'code'])
      assert.equal(await operators.useSession(lasting.secretHash, -1), null)
      assert.equal(await operators.useSession(expired.secretHash, IDLE), null)
      assert.ok((await operators.sessions(IDLE, 10)).some(({ sessionId }) => sessionId === lasting.sessionId))
      assert.equal(await operators.endSession(lasting.sessionId, audit()), true)
      assert.equal(await operators.useSession(lasting.secretHash, IDLE), null)
      assert.equal(await operators.endSession(lasting.sessionId, audit()), false)
    })

    test('a login by the provider is used once, by however many at once, until its note is erased or too many are kept [S88]', async () => {
      const { operators } = store
      const hash = make.hash()
      const uses = await Promise.all(Array.from({ length: 6 }, () => operators.useLogin(hash, HOUR, 100)))
      assert.deepEqual(uses.sort(), ['again', 'again', 'again', 'again', 'again', 'first'])
      assert.equal(await operators.useLogin(make.hash(), -1, 100), 'first')
      assert.equal(await operators.useLogin(make.hash(), HOUR, 2), 'first', 'what has ended is not counted')
      assert.equal(await operators.useLogin(make.hash(), HOUR, 2), 'full')
      assert.equal(await operators.useLogin(hash, HOUR, 2), 'full')
      assert.equal(await operators.useLogin(hash, HOUR, 3), 'again')
    })

    test('a proven operator has a session like one with a code', async () => {
      const made = newSession()
      const session = await store.operators.createSession(made, { operator: 'ada (idp.example)', scopes: ['read'] }, audit())
      assert.deepEqual(await store.operators.useSession(made.secretHash, IDLE), session)
      assert.deepEqual([session.operator, session.scopes, session.origin], ['ada (idp.example)', ['read'], 'oidc'])
    })

    test('a key is found by its secret until it expires or is revoked', async () => {
      const { operators } = store
      const keyOf = async (expiresAt: OperatorKey['expiresAt']) => {
        const key: OperatorKey = {
          ...{ keyId: make.uuid<never>(), name: 'reports', scopes: ['read'], createdBy: 'ada@host' },
          ...{ createdAt: make.at(0), lastUsedAt: null, expiresAt }
        }
        const hash = make.hash()
        await operators.createKey(key, hash, 1_000, make.audit('operator.key_create'))
        return { key, hash }
      }
      const [lasting, expired] = [await keyOf(null), await keyOf(make.time('2020-01-01T00:00:00Z'))]
      assert.deepEqual((await operators.useKey(lasting.hash))?.scopes, ['read'])
      assert.notEqual((await operators.keys()).find(({ keyId }) => keyId === lasting.key.keyId)?.lastUsedAt, null)
      assert.equal(await operators.useKey(expired.hash), null)
      assert.equal(await operators.revokeKey(lasting.key.keyId, audit()), true)
      assert.equal(await operators.useKey(lasting.hash), null)
      assert.equal(await operators.revokeKey(lasting.key.keyId, audit()), false)
    })

    test('while nothing can be written, operators still read: when a session or a key was last used is noted later', async () => {
      const { operators } = store
      const session = newSession()
      await operators.createSession(session, { operator: 'ada', scopes: ['read'] }, audit())
      const key: OperatorKey = {
        ...{ keyId: make.uuid<never>(), name: 'reports', scopes: ['read'], createdBy: 'ada@host' },
        ...{ createdAt: make.at(0), lastUsedAt: null, expiresAt: null }
      }
      const hash = make.hash()
      await operators.createKey(key, hash, 1_000, audit())
      await run(`update operator_sessions set last_used_at = clock_timestamp() - interval '2 minutes'`)
      const isNoted = async () => (await operators.keys()).find(({ keyId }) => keyId === key.keyId)?.lastUsedAt !== null
      isFull = true
      try {
        assert.equal((await operators.useKey(hash))?.name, 'reports')
        assert.equal((await operators.useSession(session.secretHash, IDLE))?.operator, 'ada')
      } finally {
        isFull = false
      }
      assert.equal(await isNoted(), false)
      await operators.useKey(hash)
      assert.equal(await isNoted(), true)
    })

    test('of keys that are created at once, no more are kept than there may be', async () => {
      const { operators } = store
      const max = (await operators.keys()).length + 2
      const create = () => {
        const key: OperatorKey = {
          ...{ keyId: make.uuid<never>(), name: 'reports', scopes: ['read'], createdBy: 'ada@host' },
          ...{ createdAt: make.at(0), lastUsedAt: null, expiresAt: null }
        }
        return operators.createKey(key, make.hash(), max, make.audit('operator.key_create'))
      }
      const made = await Promise.all(Array.from({ length: 6 }, create))
      assert.equal(made.filter(isMade => isMade).length, 2)
      assert.equal((await operators.keys()).length, max)
    })

    test('a session in use does not become idle', async () => {
      const { operators } = store
      const hash = make.hash()
      await operators.createCode(code(hash), make.audit('operator.link'))
      const made = newSession()
      await operators.exchange(hash, made, audit)
      await run(`update operator_sessions set last_used_at = now() - interval '2 minutes' where secret_hash = '${made.secretHash}'`)
      assert.notEqual(await operators.useSession(made.secretHash, IDLE), null)
      assert.notEqual(await operators.useSession(made.secretHash, 60_000), null, 'the use was noted')
    })

    test('accounts are found by id and by number, and not by another text', async () => {
      const owner = await make.owner(store)
      const { accountId, accountNumber } = owner.account
      for (const text of [accountId, accountNumber]) {
        const [found, ...others] = (await store.operatorReads.accountsWith(text, 10)).filter(one => one.accountId === accountId)
        assert.deepEqual(
          [found?.accountNumber, found?.userKey, found?.platformId, others],
          [accountNumber, owner.user.userKey, owner.user.platformId, []]
        )
      }
      assert.deepEqual(await store.operatorReads.accountsWith("' or true --", 10), [])
    })

    test('pages of the chain have every entry once, however many wait', async () => {
      for (let entry = 0; entry < 12; entry++) await store.audit.append(make.audit(`page.${entry}`))
      const waiting = await store.operatorReads.auditWaiting(1_000)
      assert.equal(await store.operatorReads.auditWaiting(Math.min(waiting, 3)), Math.min(waiting, 3))
      while ((await store.audit.seal(100)) > 0);
      assert.equal(await store.operatorReads.auditWaiting(1_000), 0)
      const positions: number[] = []
      for (let before: number | null = null; ; before = positions.at(-1) ?? null) {
        const page: readonly { readonly position: number }[] = await store.operatorReads.auditBefore(before, 5)
        positions.push(...page.map(({ position }) => position))
        if (page.length < 5) break
      }
      assert.deepEqual(
        positions,
        Array.from(positions, (_, index) => positions.length - index)
      )
    })

    test('entries about an order are found whether they wait or are chained, and no text inside another entry passes for one', async () => {
      const orderId = make.uuid<never>()
      const about = (action: string, target: string, detail = {}) => store.audit.append({ ...make.audit(action, detail), target })
      await about('order.place', orderId)
      await about('order.place', make.uuid(), { note: `"target":"${orderId}"` })
      while ((await store.audit.seal(100)) > 0);
      await about('order.cancel', orderId)
      await about('user.create', orderId)
      const found = await store.operatorReads.auditOfOrder(orderId, 10)
      assert.deepEqual(
        found.map(({ action, position }) => [action, position === null]),
        [
          ['order.place', false],
          ['order.cancel', true]
        ]
      )
      assert.equal((await store.operatorReads.auditOfOrder(orderId, 1)).length, 1)
    })

    test('an entry that is chained between the two reads is found once', async () => {
      const orderId = make.uuid<never>()
      await store.audit.append({ ...make.audit('order.place'), target: orderId })
      while ((await store.audit.seal(100)) > 0);
      // As a reader sees it that has read the waiting entries before the chain.
      await run(`insert into audit_pending (entry) select entry from audit_log where entry like '%"target":"${orderId}"%'`)
      const found = await store.operatorReads.auditOfOrder(orderId, 10)
      assert.deepEqual(
        found.map(({ action, position }) => [action, position === null]),
        [['order.place', false]]
      )
    })

    test('attempts for a user are found from a time on, the oldest first, and the newest of them', async () => {
      const platform = make.platform()
      await store.platforms.create(platform, make.hash(), make.audit())
      const user = make.user(platform)
      await store.users.create(user, make.hash(), make.audit())
      const endpoint = make.webhookEndpoint(platform)
      await store.webhooks.endpoints.create(endpoint, make.sealed(), 16, make.audit())
      const attempts = [3, 1, 2].map(second =>
        make.webhookDelivery(endpoint.endpointId, user.userKey, { startedAt: make.at(second * 1_000) })
      )
      for (const attempt of attempts) await store.webhooks.deliveries.add(attempt)
      const found = await store.operatorReads.deliveriesOf(user.userKey, make.at(2_000), 10)
      assert.deepEqual(
        found.map(({ startedAt }) => startedAt),
        [make.at(2_000), make.at(3_000)]
      )
      const newest = await store.operatorReads.newestDeliveries(user.userKey, 2)
      assert.deepEqual(
        newest.map(({ startedAt }) => startedAt),
        [make.at(3_000), make.at(2_000)]
      )
    })
  })
}
