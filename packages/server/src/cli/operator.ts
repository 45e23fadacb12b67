import { existsSync, statSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { makeFolder } from '@trunkline/files/durable'
import { AdminClient } from '../admin/client.ts'
import type { AdminDeps } from '../admin/deps.ts'
import { Admin } from '../admin/index.ts'
import { INPUT_PARSERS } from '../admin/input-parsers.ts'
import { AdminRefused, type Input, type OperationName, type Output, type Progress } from '../admin/operations.ts'
import { SettingsInvalid } from '../config/setting.ts'
import { type Settings, settingsOf } from '../config/settings.ts'
import { SystemClock } from '../ops/clock.ts'
import { RandomIds } from '../ops/ids.ts'
import type { BeforeBreaking, SqlStore } from '../store/index.ts'
import { readMigrations } from '../store/migrate.ts'
import { processName } from '../store/process-name.ts'
import { DatabaseHeld, databaseAddressOf, SoleProcess } from '../store/sole-process.ts'
import { EnvelopeVault } from '../vault/envelope.ts'
import { Sha256Hasher } from '../vault/hasher.ts'
import { type Keys, openKeys } from '../vault/index.ts'
import { VaultKeyring } from '../webhooks/keyring.ts'
import { PublicAddresses } from '../webhooks/public-addresses.ts'
import { parseWebhookUrl } from '../webhooks/webhook-url.ts'
import { CommandFailed, type Console } from './console.ts'
import { ConsoleLog } from './console-log.ts'

const POOL_MAX = 4

/** Performs one operation: in the service that runs on the data directory or, if none runs, in this process. */
export async function perform<Name extends OperationName>(console: Console, name: Name, input: Input<Name>): Promise<Output<Name>> {
  const settings = settingsFor(console)
  const dataDir = resolve(settings.dataDir)
  const run = { by: whoAmI(console), signal: console.signal, progress: (progress: Progress) => show(console, progress) }
  const service = await AdminClient.connect(dataDir)
  if (service !== null) return service.perform(name, input, run)
  const log = new ConsoleLog(console)
  const deps = { clock: new SystemClock(), ids: new RandomIds(), log }
  await using store = await openOwnStore(settings, dataDir, name, deps)
  let keys: Keys | null = null
  const source = { masterKeys: settings.masterKeys, command: settings.masterKeysCommand, dataDir, create: false }
  const opened = () => (keys ??= openKeys(source, deps))
  const admin = new Admin({
    ...deps,
    store,
    // Used for hashes only. Nothing is derived, so no key is needed.
    hasher: new Sha256Hasher(new Uint8Array()),
    settling: null,
    keys: opened,
    webhooks: webhooksWithout(settings, opened),
    bus: null,
    demoFile: join(dataDir, 'demo-platform.json'),
    publicUrl: settings.publicUrl
  })
  // Parsed as the service does, so that the same input is refused.
  const output = await admin.perform(name, INPUT_PARSERS[name](input), run)
  // Chains the audit entries of this run before it ends, because no running service would do it.
  while ((await store.audit.seal(AUDIT_BATCH)) === AUDIT_BATCH);
  return output
}
const AUDIT_BATCH = 1_000

/** What the command line can do for webhooks by itself: everything but sending. */
function webhooksWithout({ webhookNetworks }: Settings, keys: () => Keys): AdminDeps['webhooks'] {
  const addresses = new PublicAddresses(webhookNetworks)
  return {
    keyring: new VaultKeyring(() => new EnvelopeVault(keys().ring)),
    urls: { judge: url => parseWebhookUrl(url, addresses).href },
    requests: null
  }
}

/** @throws CommandFailed that lists every fault. */
export function settingsFor({ env }: Console): Settings {
  try {
    return settingsOf(env)
  } catch (cause) {
    if (cause instanceof SettingsInvalid) throw new CommandFailed(2, `${cause.message}\nEvery setting is described in docs/settings.md.`)
    throw cause
  }
}

interface OwnDeps {
  readonly clock: SystemClock
  readonly ids: RandomIds
  readonly log: ConsoleLog
}

async function openOwnStore(settings: Settings, dataDir: string, name: OperationName, deps: OwnDeps): Promise<SqlStore> {
  const { openStore } = await import('../store/index.ts')
  const options = { ...deps, unsafeDurability: settings.unsafeDurability }
  const { databaseUrl: url } = settings
  if (url !== null)
    return openStore(
      { kind: 'postgres', url, poolMax: POOL_MAX, ownerUrl: settings.databaseOwnerUrl },
      { ...options, migrating: work => whileFree({ url, isShared: false }, deps, work) }
    ).catch((cause: unknown) => {
      if (!(cause instanceof StoreUnavailable)) throw cause
      throw new AdminRefused(`PostgreSQL at ${databaseAddressOf(url)} (TRUNKLINE_DATABASE_URL) cannot be reached.`, { cause: cause.cause })
    })
  const database = join(dataDir, 'database')
  assertOurs(dataDir)
  // A command that only reads must not create a database in a mistyped directory.
  if (name !== 'platform.create' && !existsSync(database))
    throw new AdminRefused(`There is no database in ${dataDir} yet. Is TRUNKLINE_DATA_DIR the directory that the service uses?`)
  makeFolder(dataDir)
  return openStore({ kind: 'embedded', dataDir: database }, options)
}

/**
 * Runs a migration only while no other process uses the database: a changed schema would break a running older version. `isShared`: beside
 * the nodes of a cluster, unless it would break one of them.
 * @throws AdminRefused
 */
export async function whileFree(
  { url, isShared }: { readonly url: string; readonly isShared: boolean },
  { clock, ids, log }: OwnDeps,
  work: (beforeBreaking: BeforeBreaking) => Promise<void>
): Promise<void> {
  const schema = readMigrations().length
  const name = processName(schema, { host: 'command', random: ids.uuid().slice(-12) })
  const options = { url, name, schema, isShared, waitMs: 0, onTaken: () => undefined, clock, log }
  const hold = SoleProcess.take(options).catch((cause: unknown) => {
    if (!(cause instanceof DatabaseHeld)) throw cause
    throw new AdminRefused(
      `${cause.message} Or run this command with the version that is running: this one is newer and would change the schema. Nothing was changed.`,
      { cause }
    )
  })
  await using held = await hold
  await work(migration => held.demandNoOlder(migration))
}

/** Files created by another user, even root, would lock the service out of its database. */
function assertOurs(dataDir: string): void {
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (found === undefined || process.geteuid === undefined || found.uid === process.geteuid()) return
  throw new AdminRefused(`${dataDir} belongs to another user (id ${found.uid}). Run this command as the user that runs the service.`)
}

/** The operator, for the audit log. */
export function whoAmI({ env }: Pick<Console, 'env'>): string {
  const name = env.SUDO_USER ?? (userName() || 'unknown')
  return `${name}@${hostname()}`.replaceAll(/[^\w.@-]/g, '_').slice(0, 100)
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return '' // a container may run a user without a name
  }
}

function show(console: Console, { rewrapped }: Progress): void {
  if (console.isTerminal) console.err(`\rre-wrapped ${rewrapped} …`)
}
