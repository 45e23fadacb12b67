// The audit log: entries wait in `audit_pending`, and one sealer at a time moves them into an immutable chain of hashes.
import { createHash } from 'node:crypto'
import type { AuditEntry, AuditStore } from '@trunkline/core/ports/store'
import { sql } from 'kysely'
import { appendAudit } from './audit-entries.ts'
import { readAuditEntry } from './documents.ts'
import type { Session } from './session.ts'

const PAGE = 1_000

const ABANDONED: readonly string[] = ['order.abandoned', 'order.answered_late']
/** Exactly the index's condition, without parameters. */
const OF_ABANDONED = sql<boolean>`(entry like '%"order.abandoned"%' or entry like '%"order.answered_late"%')`

const SEAL = '/* writes */ select seal_audit($1) as sealed'

/** The end of the chain. A copy kept elsewhere later proves that nothing up to it was removed or rewritten. */
export interface ChainHead {
  readonly position: number
  /** SHA-256, lower-case hex. */
  readonly hash: string
}

/** An entry of the chain. `hash` is SHA-256 over the hash before it (bytes) and the text `entry` (UTF-8); lower-case hex. */
export interface SealedEntry {
  readonly position: number
  readonly entry: string
  readonly hash: string
}

export interface Verification {
  readonly entries: number
  readonly broken: { readonly position: number; readonly why: string } | null
  readonly head: ChainHead
}

export class SqlAuditStore implements AuditStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async append(entry: AuditEntry): Promise<void> {
    await this.#session.write(trx => appendAudit(trx, entry))
  }

  async seal(limit: number): Promise<number> {
    const [row] = await this.#session.statement<{ sealed: number }>(SEAL, [limit])
    return row?.sealed ?? 0
  }

  /** @param kept a head that was kept elsewhere; the chain must still contain it. */
  async verify(kept?: ChainHead): Promise<Verification> {
    const { position: end, hash } = await this.#session.read(db =>
      db.selectFrom('audit_head').selectAll().where('id', '=', 1).executeTakeFirstOrThrow()
    )
    const head: ChainHead = { position: end, hash: hash.toString('hex') }
    const walk = new ChainWalk(kept)
    while (walk.broken === null && walk.position < end) {
      const rows = await this.#page(walk.position, Math.min(PAGE, end - walk.position))
      for (const row of rows) walk.step(row)
      if (rows.length === 0) walk.missing()
    }
    if (walk.broken === null && walk.hash !== head.hash) walk.fault(end, 'the last entry is not the one the chain ended with')
    if (walk.broken === null && (await this.#reaches(end + 1)) && !(await this.#movedOn(end))) {
      walk.fault(end + 1, 'the entry lies beyond the end of the chain')
    }
    if (walk.broken === null && kept !== undefined && kept.position > end) {
      walk.fault(end + 1, `the chain once had ${kept.position} entries; those from here on are gone`)
    }
    return { entries: walk.position, broken: walk.broken, head }
  }

  async list(limit: number): Promise<readonly (AuditEntry & { readonly position: number | null })[]> {
    return this.#session.read(async db => {
      const pending = await db.selectFrom('audit_pending').select('entry').orderBy('id', 'desc').limit(limit).execute()
      const sealed = await db.selectFrom('audit_log').select(['entry', 'position']).orderBy('position', 'desc').limit(limit).execute()
      const rows = [...pending.map(({ entry }) => ({ entry, position: null })), ...sealed]
      return rows.slice(0, limit).map(({ entry, position }) => ({ ...readAuditEntry(entry), position }))
    })
  }

  /** Entries about abandoned orders, the newest first, including late answers. At most `limit`. */
  async ofAbandoned(limit: number): Promise<readonly AuditEntry[]> {
    const rows = await this.#session.read(async db => {
      const pending = await db.selectFrom('audit_pending').select('entry').where(OF_ABANDONED).orderBy('id', 'desc').limit(limit).execute()
      const sealed = await db.selectFrom('audit_log').select('entry').where(OF_ABANDONED).orderBy('position', 'desc').limit(limit).execute()
      return [...pending, ...sealed]
    })
    const entries = rows.map(({ entry }) => readAuditEntry(entry))
    // A name may contain the words as well.
    return entries.filter(({ action }) => ABANDONED.includes(action)).slice(0, limit)
  }

  /** Sealed entries in the order of the chain, as stored: at most `limit` after position `after`. */
  async sealed(after: number, limit: number): Promise<readonly SealedEntry[]> {
    return (await this.#page(after, limit)).map(({ position, entry, hash }) => ({ position, entry, hash: hash.toString('hex') }))
  }

  #page(after: number, limit: number): Promise<readonly ChainRow[]> {
    return this.#session.read(db =>
      db
        .selectFrom('audit_log')
        .select(['position', 'entry', 'hash'])
        .where('position', '>', after)
        .orderBy('position')
        .limit(limit)
        .execute()
    )
  }

  #reaches(position: number): Promise<boolean> {
    return this.#page(position - 1, 1).then(rows => rows.length > 0)
  }

  /** Whether a sealer has moved the head since it was read. */
  async #movedOn(end: number): Promise<boolean> {
    const head = await this.#session.read(db => db.selectFrom('audit_head').select('position').executeTakeFirstOrThrow())
    return head.position > end
  }
}

interface ChainRow {
  readonly position: number
  readonly entry: string
  readonly hash: Buffer
}

/** Follows the chain row by row up to its first fault. */
class ChainWalk {
  readonly #kept: ChainHead | undefined
  #hash = Buffer.alloc(32)
  position = 0
  broken: Verification['broken'] = null

  constructor(kept: ChainHead | undefined) {
    this.#kept = kept
  }

  get hash(): string {
    return this.#hash.toString('hex')
  }

  step(row: ChainRow): void {
    if (this.broken !== null) return
    const hash = chained(this.#hash, row.entry)
    if (row.position !== this.position + 1) this.missing()
    else if (!hash.equals(row.hash)) this.fault(row.position, 'the entry, or the order of entries, was altered')
    else this.#accept(row.position, hash)
  }

  #accept(position: number, hash: Buffer<ArrayBuffer>): void {
    this.#hash = hash
    this.position = position
    if (this.#kept?.position === position && this.#kept.hash !== this.hash)
      this.fault(position, 'the chain up to here is not the one whose end was kept')
  }

  missing(): void {
    this.fault(this.position + 1, 'the entry is missing')
  }

  fault(position: number, why: string): void {
    this.broken ??= { position, why }
  }
}

function chained(before: Buffer, entry: string): Buffer<ArrayBuffer> {
  return createHash('sha256').update(before).update(entry, 'utf8').digest()
}
