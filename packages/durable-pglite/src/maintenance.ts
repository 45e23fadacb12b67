/** Checkpoints, vacuum, statistics: a PostgreSQL server does these in the background, a single-user engine on request. */
import type { Session } from './session.ts'
import type { Reply } from './wire.ts'

export interface MaintenanceOptions {
  readonly session: Session
  /** Runs work between transactions. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
  /** Whether a request waits for the engine; then only urgent maintenance runs. */
  readonly busy: () => boolean
  /** Whether the disk has too little space to be written to: a checkpoint that finds none ends the engine. */
  readonly diskLow: () => boolean
  /** Log written before a checkpoint is due: it bounds the log's size on disk and how long a restart replays. */
  readonly checkpointBytes: number
}

/** Table ages at which rows must be frozen, long before the engine would refuse to write. */
const AGE_MAX = 200_000_000

const LOG_POSITION = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS position`

/** How many times the usual share of rows must be dead or changed before a table is vacuumed under load; without load once is enough. */
const BUSY_FACTOR = 4

/**
 * The table that gains most from a vacuum or from new statistics, with its dead and changed rows as shares of what a server would wait for.
 */
const MOST_NEEDY = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name, old, dead, changed
  FROM (
    SELECT relname, relnamespace, age(relfrozenxid) > ${AGE_MAX} AS old,
      pg_stat_get_dead_tuples(oid) / (1000 + 0.2 * pg_stat_get_live_tuples(oid))::float8 AS dead,
      pg_stat_get_mod_since_analyze(oid) / (500 + 0.2 * pg_stat_get_live_tuples(oid))::float8 AS changed
    FROM pg_class
    WHERE relkind IN ('r', 'm', 't') AND relpersistence <> 't' AND (relkind <> 't' OR age(relfrozenxid) > ${AGE_MAX})
  ) c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  ORDER BY old DESC, greatest(dead, changed) DESC
  LIMIT 1`

export class Maintenance {
  readonly #options: MaintenanceOptions
  #checkpointAt: bigint | null = null
  #logSeen = 0n
  #quietTicks = 0
  #running = false

  /** Checkpoints since the start. */
  checkpoints = 0

  constructor(options: MaintenanceOptions) {
    this.#options = options
  }

  /** One round: at most one checkpoint and one table. Called on a timer; a call during another does nothing. */
  async tick(): Promise<void> {
    if (this.#running || this.#options.diskLow()) return
    this.#running = true
    try {
      await this.#options.alone(() => this.#checkpointIfDue())
      const { busy, alone } = this.#options
      if (busy()) return
      const found: string[] = []
      await alone(async () => {
        found.push(...(await this.#dueTidying()))
      })
      // Requests that came meanwhile are served before.
      for (const script of found) await alone(async () => void (await this.#run(script)))
    } finally {
      this.#running = false
    }
  }

  /** Bytes of log written since the last checkpoint, as of the last tick. */
  get logBytes(): number {
    return this.#checkpointAt === null ? 0 : Number(this.#logSeen - this.#checkpointAt)
  }

  async #checkpointIfDue(): Promise<void> {
    const position = await this.#position()
    this.#checkpointAt ??= position
    this.#quietTicks = position === this.#logSeen ? this.#quietTicks + 1 : 0
    this.#logSeen = position
    const written = position - this.#checkpointAt
    // A quiet moment is the cheapest one, so a smaller log is enough then.
    const due = written >= this.#options.checkpointBytes || (this.#quietTicks > 0 && written >= this.#options.checkpointBytes / 8)
    if (!due) return
    await this.#run('CHECKPOINT')
    this.checkpoints += 1
    this.#logSeen = await this.#position()
    this.#checkpointAt = this.#logSeen
  }

  /** What the table that needs it most is due for; nothing if it can wait. */
  async #dueTidying(): Promise<readonly string[]> {
    await this.#run('SELECT pg_stat_force_next_flush()') // figures are otherwise published by a timer that this engine may not have
    const [needy] = (await this.#run(MOST_NEEDY)).rows
    if (needy === undefined) return []
    // A vacuum keeps everybody waiting until it is done, so in busy times it must be worth more.
    const enough = this.#quietTicks > 0 ? 1 : BUSY_FACTOR
    if (needy.old === true || Number(needy.dead) > enough) return [`VACUUM (ANALYZE) ${String(needy.name)}`]
    return Number(needy.changed) > enough ? [`ANALYZE ${String(needy.name)}`] : []
  }

  async #position(): Promise<bigint> {
    return BigInt(String((await this.#run(LOG_POSITION)).rows[0]?.position))
  }

  async #run(sql: string): Promise<Reply> {
    const reply = await this.#options.session.script(sql)
    if (reply.error !== null) throw reply.error
    return reply
  }
}
