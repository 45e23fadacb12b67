import type { Kysely } from 'kysely'
import { SystemClock } from '../ops/clock.ts'
import { RandomIds } from '../ops/ids.ts'
import type { Database } from '../store/database.ts'
import { openEngine, openStore, type StoreDeps } from '../store/index.ts'
import { canAlterAudit, roleOf } from '../store/roles.ts'
import { CommandFailed, type Common, type Console, outJson } from './console.ts'
import { ConsoleLog } from './console-log.ts'
import { settingsFor, whileFree } from './operator.ts'

/** Migrates the schema, and grants the service's role the privileges that it needs if another role owns the schema. */
export async function migrateDatabase(console: Console, { json }: Common): Promise<void> {
  const { databaseUrl: url, databaseOwnerUrl: ownerUrl, unsafeDurability } = settingsFor(console)
  if (url === null)
    throw new CommandFailed(2, 'TRUNKLINE_DATABASE_URL is not set. The service migrates the embedded database itself when it starts.')
  const deps = { clock: new SystemClock(), ids: new RandomIds(), log: new ConsoleLog(console) }
  const settings = { kind: 'postgres', url, poolMax: 2 } as const
  const migrating: StoreDeps['migrating'] = work => whileFree({ url, isShared: true }, deps, work)
  const options = { ...deps, unsafeDurability, migrating }
  const store = await openStore({ ...settings, ownerUrl }, options)
  await store[Symbol.asyncDispose]()
  const engine = await openEngine(settings, deps)
  try {
    const found = await foundIn(engine.db)
    if (json) outJson(console, found)
    else console.out(`The schema is up to date. The service’s role is ${found.role}, which ${found.can_alter_audit ? CAN : CANNOT}.\n`)
  } finally {
    await engine.db.destroy()
  }
}

async function foundIn(db: Kysely<Database>): Promise<{ readonly role: string; readonly can_alter_audit: boolean }> {
  return { role: await roleOf(db), can_alter_audit: (await canAlterAudit(db)) !== false }
}

const CANNOT = 'can add to the audit log and read it, but cannot change it'
const CAN =
  'can change the audit log: it owns the schema, or is a member of the role that does. Give the service a separate role, and name the owner in TRUNKLINE_DATABASE_OWNER_URL for this command'
