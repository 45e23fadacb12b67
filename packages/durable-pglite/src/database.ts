/** The interface of the embedded database: queries, transactions, scripts, figures. */
import { statfsSync } from 'node:fs'
import { makeFolder } from '@trunkline/files/durable'
import type { FileSystemHook } from './durable-fs.ts'
import { EngineMisuse, EngineUnavailable } from './errors.ts'
import { layoutOf } from './layout.ts'
import { type DirectoryLock, lockDirectory } from './lock.ts'
import { Maintenance } from './maintenance.ts'
import type { Member, MemberSettings } from './member.ts'
import { CLOSE, LEAVE } from './messages.ts'
import { type Limits, Scheduler } from './scheduler.ts'
import { Session } from './session.ts'
import { type EngineThread, makeDatabase, startThread } from './thread.ts'
import { DEFAULT_TYPES, type Reply, type Row, statement, type Types } from './wire.ts'

export interface EmbeddedOptions {
  /** Called with what may prevent the creation of a database. */
  readonly onWarning?: (warning: string) => void
  /** A directory on a local disk, created if missing; nothing else is in it. */
  readonly dataDir: string
  /** How column types become values; node-postgres' defaults when left out. */
  readonly types?: Types
  /** Requests that may wait (default 1,000); one more is refused. */
  readonly queueMax?: number
  /** Milliseconds a request may wait in the queue (default 5,000). */
  readonly queueMs?: number
  /** Milliseconds a transaction may leave the engine idle between two statements (default 1,000). */
  readonly idleMs?: number
  /** Transactions that may share one commit (default 64). */
  readonly groupMax?: number
  /** Milliseconds for which a group takes in transactions that are already queued (default 5); it never waits for one. */
  readonly groupMs?: number
  /** The engine's page cache in MiB (default 32). */
  readonly sharedBuffersMb?: number
  /** Files the engine keeps open (default 1,000, at least 64); beyond it the least recently used is closed. */
  readonly filesMax?: number
  /** Bytes of free disk below which nothing is written any more (default 64 MiB). */
  readonly freeBytesMin?: number
  /** Log written before a checkpoint is due (default 64 MiB). */
  readonly checkpointBytes?: number
  /** Milliseconds between two rounds of maintenance (default 10,000; 0: none). */
  readonly maintenanceMs?: number
  /** Called when the engine was lost without the process dying; without it the process ends with an uncaught error. */
  readonly onLost?: (cause: Error) => void
  /** Called when a round of maintenance failed; the next is tried as usual. */
  readonly onMaintenanceFailed?: (cause: unknown) => void
  /** For tests: code between the engine and the disk. */
  readonly hook?: FileSystemHook
  /** For tests: bytes free on the disk. */
  readonly freeBytes?: () => number
}

/** Figures since the start. */
export interface EmbeddedStats {
  /** Requests waiting in the queue, and how many may. */
  readonly waiting: number
  readonly waitingMax: number
  /** fsyncs the disk confirmed. */
  readonly fsyncs: number
  /** Durable commits, and the transactions and single writes they carried. */
  readonly commits: number
  readonly transactions: number
  /** Commits by the number of transactions they carried. */
  readonly groupSizes: ReadonlyMap<number, number>
  /** Single reads served. */
  readonly reads: number
  readonly refusedQueueFull: number
  readonly refusedDeadline: number
  readonly checkpoints: number
  /** Bytes of log since the last checkpoint, as of the last round of maintenance. */
  readonly logBytes: number
  readonly preparedStatements: number
}

/** The result of a statement, as in `pg`. */
export interface Result {
  readonly command: string
  readonly rowCount: number | null
  readonly rows: Row[]
}

/** Statements refused on the shared session: they would change it for all callers, or end a transaction of others. */
const NOT_SHARED =
  /^\s*(?:begin|start|commit|end|abort|rollback(?!\s+to\b)|prepare|execute|deallocate|discard|set(?!\s+constraints\b)|reset|listen|unlisten|copy|vacuum|checkpoint|cluster|alter\s+system|(?:create|drop)\s+database)\b/i

/**
 * Run between groups. A write among them would be durable, but would share its commit with no other and be tried on a full disk: a function
 * that writes is therefore called with a comment before the `select`.
 */
const READ = /^\s*(?:select|values|table|show|with\b(?![\s\S]*\b(?:insert|update|delete|merge)\b))\b/i

const PREPARED_MAX = 256
const FILES_MAX = 1_000
const DISK_LOOK_MS = 250
const HAS_DEFERRED = 'SELECT count(*)::int AS n FROM pg_constraint WHERE condeferrable'

/** Opens the database, and creates it if the directory is new. @throws EngineRefused */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const layout = layoutOf(options.dataDir)
  makeFolder(options.dataDir)
  const lock = lockDirectory(options.dataDir)
  try {
    const hook = options.hook ?? null
    await makeDatabase(layout, hook, options.onWarning ?? (() => undefined))
    const fsyncs = new BigInt64Array(new SharedArrayBuffer(8))
    const onLost = options.onLost ?? throwLater
    const thread = await startThread(
      { directory: layout.database, sharedBuffersMb: options.sharedBuffersMb ?? 32, filesMax: options.filesMax ?? FILES_MAX, fsyncs, hook },
      onLost
    )
    const database = new EmbeddedDatabase({ options, lock, thread, fsyncs })
    await database.inspectSchema()
    return database
  } catch (error) {
    lock.release()
    throw error
  }
}

function throwLater(cause: Error): void {
  queueMicrotask(() => {
    throw new Error('the database engine was lost', { cause })
  })
}

export class EmbeddedDatabase implements AsyncDisposable {
  readonly #options: EmbeddedOptions
  readonly #limits: Limits
  readonly #lock: DirectoryLock
  readonly #thread: EngineThread
  readonly #fsyncs: BigInt64Array
  readonly #session: Session
  readonly #scheduler: Scheduler
  readonly #maintenance: Maintenance
  readonly #timer: NodeJS.Timeout | null
  /** Whether a constraint may wait for the commit; then each transaction checks its own before it ends. */
  #deferred = true
  #disk = { low: false, untilMs: Number.NEGATIVE_INFINITY }
  #closing: Promise<void> | null = null

  constructor(parts: {
    readonly options: EmbeddedOptions
    readonly lock: DirectoryLock
    readonly thread: EngineThread
    readonly fsyncs: BigInt64Array
  }) {
    const { options } = parts
    this.#options = options
    this.#lock = parts.lock
    this.#thread = parts.thread
    this.#fsyncs = parts.fsyncs
    this.#limits = {
      queueMax: options.queueMax ?? 1_000,
      queueMs: options.queueMs ?? 5_000,
      idleMs: options.idleMs ?? 1_000,
      groupMax: options.groupMax ?? 64,
      groupMs: options.groupMs ?? 5
    }
    this.#session = new Session({
      link: parts.thread.link,
      types: options.types ?? DEFAULT_TYPES,
      statementsMax: PREPARED_MAX,
      onSchemaChange: () => {
        this.#deferred = true
      }
    })
    this.#scheduler = new Scheduler({
      session: this.#session,
      limits: this.#limits,
      monotonicMs: () => performance.now(),
      diskLow: () => this.#diskLow()
    })
    this.#maintenance = new Maintenance({
      session: this.#session,
      alone: work => this.#scheduler.alone(work),
      busy: () => this.#scheduler.waiting > 0 || this.#diskLow(),
      diskLow: () => this.#diskLowNow(),
      checkpointBytes: options.checkpointBytes ?? 64 * 1024 * 1024
    })
    this.#timer = this.#startMaintenance(options.maintenanceMs ?? 10_000)
  }

  /**
   * Runs one statement. A read sees only what is durable; a write resolves when it is.
   * @throws pg's DatabaseError, EngineUnavailable, CommitUnknown, EngineMisuse
   */
  async query(sql: string, values: readonly unknown[] = []): Promise<Result> {
    assertShared(sql)
    const sent = statement(sql, values)
    return READ.test(sql) ? this.#scheduler.read(sent) : this.#scheduler.write(sent)
  }

  /** A transaction; it is queued by its first statement. The engine runs one at a time, so every isolation level is serializable. */
  transaction(settings: { readonly readOnly?: boolean } = {}): EmbeddedTransaction {
    return new EmbeddedTransaction(this.#scheduler, () => ({
      readOnly: settings.readOnly ?? false,
      idleMs: this.#limits.idleMs,
      lastScript: this.#deferred ? 'SET CONSTRAINTS ALL IMMEDIATE' : ''
    }))
  }

  /** Runs a script outside of any transaction; one without BEGIN and COMMIT of its own is all or nothing. For migrations and VACUUM. */
  exec(script: string): Promise<void> {
    return this.#scheduler.alone(async () => {
      if (this.#diskLow())
        throw new EngineUnavailable('disk_full', 'the disk is nearly full: nothing is written until there is space again')
      const reply = await this.#session.script(script)
      this.#session.forget()
      if (reply.status !== 'I') await this.#session.script('ROLLBACK')
      if (reply.error !== null) throw reply.error
      if (reply.status !== 'I') throw new EngineMisuse('the script left a transaction open; it was rolled back')
      await this.#inspectDeferred()
    })
  }

  /** Reads what the schema needs from the engine. */
  inspectSchema(): Promise<void> {
    return this.#scheduler.alone(() => this.#inspectDeferred())
  }

  /** Runs due maintenance now instead of at its timer. */
  maintain(): Promise<void> {
    return this.#maintenance.tick()
  }

  stats(): EmbeddedStats {
    const { counts, waiting } = this.#scheduler
    return {
      waiting,
      waitingMax: this.#limits.queueMax,
      fsyncs: Number(Atomics.load(this.#fsyncs, 0)),
      commits: counts.commits,
      transactions: counts.transactions,
      groupSizes: counts.groupSizes,
      reads: counts.reads,
      refusedQueueFull: counts.refused.queueFull,
      refusedDeadline: counts.refused.deadline,
      checkpoints: this.#maintenance.checkpoints,
      logBytes: this.#maintenance.logBytes,
      preparedStatements: this.#session.prepared
    }
  }

  /**
   * Accepts no more requests, serves the waiting ones, makes a checkpoint and releases the directory. On a full disk there is no space for
   * the checkpoint: the next start replays the log instead, as after a kill.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#scheduler.close()
    await this.#thread.close(this.#diskLowNow() ? LEAVE : CLOSE)
    this.#lock.release()
  }

  async #inspectDeferred(): Promise<void> {
    const reply = await this.#session.script(HAS_DEFERRED)
    if (reply.error !== null) throw reply.error
    this.#deferred = reply.rows[0]?.n !== 0
  }

  #startMaintenance(everyMs: number): NodeJS.Timeout | null {
    if (everyMs === 0) return null
    const timer = setInterval(() => {
      this.maintain().catch((cause: unknown) => {
        if (this.#closing === null) this.#options.onMaintenanceFailed?.(cause)
      })
    }, everyMs)
    return timer.unref()
  }

  #diskLowNow(): boolean {
    this.#disk = { ...this.#disk, untilMs: Number.NEGATIVE_INFINITY }
    return this.#diskLow()
  }

  #diskLow(): boolean {
    const now = performance.now()
    if (now >= this.#disk.untilMs) {
      this.#disk = { low: this.#freeBytes() < (this.#options.freeBytesMin ?? 64 * 1024 * 1024), untilMs: now + DISK_LOOK_MS }
    }
    return this.#disk.low
  }

  #freeBytes(): number {
    if (this.#options.freeBytes !== undefined) return this.#options.freeBytes()
    try {
      const { bavail, bsize } = statfsSync(this.#options.dataDir)
      return bavail * bsize
    } catch {
      return Number.POSITIVE_INFINITY // if the disk does not report it, the write itself fails
    }
  }
}

export class EmbeddedTransaction {
  readonly #scheduler: Scheduler
  readonly #settings: () => MemberSettings
  #entered: Promise<Member> | null = null
  #over = false

  constructor(scheduler: Scheduler, settings: () => MemberSettings) {
    this.#scheduler = scheduler
    this.#settings = settings
  }

  /**
   * @throws pg's DatabaseError, after which the transaction can only be rolled back (to a savepoint); EngineUnavailable, CommitUnknown,
   * EngineMisuse
   */
  async query(sql: string, values: readonly unknown[] = []): Promise<Result> {
    assertShared(sql)
    if (this.#over) throw new EngineMisuse('the transaction is over')
    const sent = statement(sql, values)
    this.#entered ??= this.#scheduler.enter(this.#settings)
    const member = await this.#entered
    const reply: Reply = await member.query(sent)
    return reply
  }

  /**
   * Resolves when everything written is durable.
   * @throws TransactionAborted when a statement had failed: nothing was written
   * @throws CommitUnknown when the outcome is unknown
   */
  async commit(): Promise<void> {
    this.#over = true
    if (this.#entered !== null) await (await this.#entered).commit()
  }

  /** Undoes the transaction. Also resolves when it never started. */
  async rollback(): Promise<void> {
    this.#over = true
    const member = await this.#entered?.catch(() => null)
    await member?.rollback()
  }
}

function assertShared(sql: string): void {
  if (NOT_SHARED.test(sql))
    throw new EngineMisuse(
      `${JSON.stringify(sql.trim().slice(0, 40))} cannot run on the shared session; use transaction() to begin and end one, exec() for the rest`
    )
}
