import { resolve } from 'node:path'
import { sql } from 'kysely'
import { whyKeysDiffer } from '../../admin/key-check.ts'
import { whyNotPractice } from '../../config/practice.ts'
import { SystemClock } from '../../ops/clock.ts'
import type { Finding, Known } from '../../preflight/finding.ts'
import { type Engine, openEngine } from '../../store/index.ts'
import { SqlKeyCheckStore } from '../../store/key-checks.ts'
import { durabilityFaults } from '../../store/postgres.ts'
import { canAlterAudit, roleOf } from '../../store/roles.ts'
import { Session } from '../../store/session.ts'
import { databaseAddressOf } from '../../store/sole-process.ts'
import { openKeys } from '../../vault/index.ts'
import type { KeyRing } from '../../vault/master-keys.ts'
import { explain } from '../explain.ts'

const VERSION_MIN = 14
const SEPARATE =
  'give the service a role that does not own the schema, and run npm run cli -- database migrate as the owner (TRUNKLINE_DATABASE_OWNER_URL)'
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** Checks that PostgreSQL is reachable and its commits are durable. Changes nothing. */
export async function checkDatabase({ databaseUrl, unsafeDurability = false, ...known }: Known): Promise<readonly Finding[]> {
  if (databaseUrl === undefined) return []
  if (databaseUrl === null) return [{ level: 'ok', about: 'database', message: 'the embedded database in the data directory' }]
  const about = 'TRUNKLINE_DATABASE_URL'
  const engine = await openEngine({ kind: 'postgres', url: databaseUrl, poolMax: 2 }, { log: quiet })
  try {
    const { rows } = await sql<{ server_version: string }>`show server_version`.execute(engine.db)
    const version = rows[0]?.server_version ?? 'unknown'
    const faults = await durabilityFaults(engine.db)
    const findings: Finding[] = []
    if (Number.parseInt(version, 10) < VERSION_MIN)
      findings.push({ level: 'fault', about, message: `PostgreSQL ${version} is too old; ${VERSION_MIN} or newer is needed` })
    if (faults.length === 0)
      findings.push({ level: 'ok', about, message: `PostgreSQL ${version} is reachable, and its commits are durable` })
    else {
      const message = `PostgreSQL ${version} would lose confirmed orders in a crash: ${faults.join(', ')}`
      findings.push({ level: unsafeDurability ? 'warning' : 'fault', about, message })
    }
    const why = whyNotPractice({ ...known, databaseUrl })
    if (why !== null && (await canAlterAudit(engine.db)) === true)
      findings.push({
        level: 'warning',
        about,
        message: `the role ${await roleOf(engine.db)} can change the audit log, and ${why}: ${SEPARATE}`
      })
    return [...findings, ...(await checkKeysOf(engine, known))]
  } catch (cause) {
    return [{ level: 'fault', about, message: `PostgreSQL at ${databaseAddressOf(databaseUrl)} cannot be reached: ${explain(cause)}` }]
  } finally {
    await engine.db.destroy()
  }
}

/** Compares the master keys with those of the nodes that have used the database. Keys that cannot be read are reported by another check. */
async function checkKeysOf(engine: Engine, known: Omit<Known, 'databaseUrl'>): Promise<readonly Finding[]> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('key_checks') is not null as exists`.execute(engine.db)
  const ring = rows[0]?.exists === true ? ringOf(known) : null
  const why = ring === null ? null : await whyKeysDiffer(new SqlKeyCheckStore(new Session(engine)), ring)
  return why === null ? [] : [{ level: 'fault', about: 'TRUNKLINE_MASTER_KEYS', message: why }]
}

/** Null: they cannot be read, or a command would have to be run for them. */
function ringOf({ masterKeys, masterKeysCommand, dataDir }: Omit<Known, 'databaseUrl'>): KeyRing | null {
  if (masterKeys === undefined || masterKeysCommand != null || dataDir === undefined) return null
  try {
    return openKeys({ masterKeys, dataDir: resolve(dataDir), create: false }, { clock: new SystemClock(), log: quiet }).ring
  } catch {
    return null
  }
}
