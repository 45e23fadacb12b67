// Stores with sealed credentials in them, and administration over them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { BrokerEndpoint, Connection, ConnectionAttempt, User } from '@trunkline/core/domain/account'
import { type AttemptId, type ConnectionId, type PlatformId, parseBrokerId, parseUserId, type UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { AuditEntry } from '@trunkline/core/ports/store'
import type { Vault } from '@trunkline/core/ports/vault'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { Admin } from '../../src/admin/index.ts'
import type { Run } from '../../src/admin/operations.ts'
import { SystemClock } from '../../src/ops/clock.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { openStore, type SqlStore, type StoreSettings } from '../../src/store/index.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { type Keys, openKeys } from '../../src/vault/index.ts'
import { VaultKeyring } from '../../src/webhooks/keyring.ts'
import { PublicAddresses } from '../../src/webhooks/public-addresses.ts'
import { parseWebhookUrl } from '../../src/webhooks/webhook-url.ts'
import { copyStore } from '../store/template.ts'

export const clock = new SystemClock()
export const ids = new RandomIds()
export const hasher = new Sha256Hasher(new Uint8Array(32))
export const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** A data directory that goes when the test ends. */
export function directory(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'trunkline-admin-'))
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The embedded store of a data directory, as the service opens it; closed when the test ends. */
export async function embedded(context: TestContext, dataDir: string): Promise<SqlStore> {
  const database = join(dataDir, 'database')
  await copyStore(database)
  return opened(context, { kind: 'embedded', dataDir: database })
}

export async function opened(context: TestContext, settings: StoreSettings): Promise<SqlStore> {
  const store = await openStore(settings, { clock, ids, log: quiet })
  context.after(() => store[Symbol.asyncDispose]())
  return store
}

export function keysIn(dataDir: string): Keys & { readonly file: NonNullable<Keys['file']> } {
  const keys = openKeys({ masterKeys: null, dataDir, create: true }, { clock, log: quiet })
  if (keys.file === null) throw new Error('keys of a directory are in a file')
  return { ...keys, file: keys.file }
}

/** Waits for nothing: for tests without a second process that a rotation would have to wait for. */
export const hurried: Clock = {
  now: () => clock.now(),
  monotonicMs: () => clock.monotonicMs(),
  sleep: async () => {},
  alarm: (ms, ring) => clock.alarm(ms, ring),
  nextTurn: () => clock.nextTurn()
}

/** What the command line has of webhooks, without a service. */
export function webhooksWith(keys: () => Keys): AdminDeps['webhooks'] {
  return {
    keyring: new VaultKeyring(() => new EnvelopeVault(keys().ring)),
    urls: { judge: url => parseWebhookUrl(url, new PublicAddresses([])).href },
    requests: null
  }
}

export function adminOver(store: SqlStore, keys: Keys, more: Partial<AdminDeps> = {}): Admin {
  return new Admin({
    store,
    clock: hurried,
    ids,
    hasher,
    log: quiet,
    bus: null,
    settling: null,
    keys: () => keys,
    webhooks: webhooksWith(() => keys),
    demoFile: null,
    publicUrl: null,
    ...more
  })
}

export function run(more: Partial<Run> = {}): Run {
  return { by: 'tester@here', signal: new AbortController().signal, progress() {}, ...more }
}

export interface ConnectionKey {
  readonly connectionId: ConnectionId
  readonly userKey: UserKey
}

/** A platform with users. */
export async function createUsers(store: SqlStore, count: number): Promise<readonly User[]> {
  const platform = {
    platformId: ids.uuid<PlatformId>(),
    clientId: ids.secret('pk_'),
    name: 'Test',
    redirectAllowList: [],
    claims: false,
    createdAt: clock.now()
  }
  await store.platforms.create(platform, hasher.hash('x'), entry('platform.create'))
  const users = Array.from({ length: count }, (_, n) => ({
    userKey: ids.uuid<UserKey>(),
    platformId: platform.platformId,
    userId: parseUserId(`user-${n}`),
    createdAt: clock.now()
  }))
  for (const user of users) await store.users.create(user, hasher.hash('y'), entry('user.create'))
  return users
}

/** Where its credentials are good. */
export const ENDPOINT: BrokerEndpoint = { environment: 'sandbox', host: 'local' }

/** A connection with sealed credentials, made as the portal makes it. */
export async function connect(store: SqlStore, vault: Vault, user: User, refreshToken = 'rt-1'): Promise<ConnectionKey> {
  const at = clock.now()
  const attempt: ConnectionAttempt = {
    attemptId: ids.uuid<AttemptId>(),
    platformId: user.platformId,
    userKey: user.userKey,
    keyId: null,
    connectionType: 'trade',
    broker: parseBrokerId('SANDBOX'),
    renewConnectionId: null,
    chosenBroker: null,
    redirectUrl: null,
    redirectOnErrorUrl: null,
    createdAt: at,
    expiresAt: at,
    status: 'open',
    browserHash: null,
    stateHash: null
  }
  await store.attempts.create(attempt, hasher.hash(ids.secret('')), entry('connection.attempt'))
  const connection: Connection = {
    connectionId: ids.uuid<ConnectionId>(),
    platformId: user.platformId,
    userKey: user.userKey,
    userId: user.userId,
    broker: parseBrokerId('SANDBOX'),
    connectionType: 'trade',
    status: 'ACTIVE',
    endpoint: ENDPOINT,
    brokenCode: null,
    brokenReason: null,
    createdAt: at,
    updatedAt: at
  }
  const sealed = sealCredentials(vault, connection, { credentials: { refreshToken }, endpoint: ENDPOINT }, 1)
  await store.connections.create(connection, [], sealed, attempt.attemptId, entry('connection.create'))
  return connection
}

export function entry(action: string): AuditEntry {
  return { at: clock.now(), actor: 'service', action, target: '-', result: 'ok', ip: null, requestId: null, detail: {} }
}
