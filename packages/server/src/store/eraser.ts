// Erases what removed users and connections left behind, in small steps: one long transaction would make all others wait.
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import type { Session } from './session.ts'

const STEP_ROWS = 1_000
/** How long a removal waits for its erasing; the rest continues in the background. */
const WAIT_MS = 2_000

export class Eraser {
  readonly #session: Session
  readonly #clock: Clock
  readonly #log: Log
  #running: Promise<void> | null = null
  #again = false
  #closed = false

  constructor(session: Session, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#session = session
    this.#clock = clock
    this.#log = log
  }

  /** Begins erasing, unless it is under way. */
  start(): void {
    this.#again = true
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  /** Begins erasing, and waits for its end for a limited time. */
  async startAndWait(): Promise<void> {
    this.start()
    const gaveUp = new AbortController()
    const waited = this.#clock.sleep(WAIT_MS, gaveUp.signal).catch(() => undefined)
    await Promise.race([this.#running, waited])
    gaveUp.abort()
    await waited
  }

  /** Ends after the present step. The next start erases the rest. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#closed) {
        this.#again = false
        while (!this.#closed && (await this.#session.write(step)));
      }
    } catch (cause) {
      this.#log.warn('erasing removed records was interrupted; it goes on at the next removal or start', { cause: String(cause) })
    }
  }
}

/** One step of one erasure. False if there is none. */
async function step(trx: Kysely<Database>): Promise<boolean> {
  const next = await trx.selectFrom('erasures').selectAll().orderBy('kind').limit(1).forUpdate().skipLocked().executeTakeFirst()
  if (next === undefined) return false
  const erased = next.kind === 'account' ? await eraseOrders(trx, next.id) : await eraseEvents(trx, next.id)
  if (erased === 0n) await trx.deleteFrom('erasures').where('kind', '=', next.kind).where('id', '=', next.id).execute()
  return true
}

async function eraseOrders(trx: Kysely<Database>, accountId: string): Promise<bigint> {
  const doomed = sql`select order_id from orders where account_id = ${accountId}::uuid and is_open union all
    select order_id from orders where account_id = ${accountId}::uuid and final_status is not null limit ${sql.lit(STEP_ROWS)}`
  const { numAffectedRows } = await sql`with doomed as materialized (${doomed}),
    named as (delete from order_symbols where order_id in (select order_id from doomed))
    delete from orders where order_id in (select order_id from doomed)`.execute(trx)
  if (numAffectedRows !== 0n) return numAffectedRows ?? 0n
  const names = await sql`delete from order_broker_ids where ctid in (
    select ctid from order_broker_ids where account_id = ${accountId}::uuid limit ${sql.lit(STEP_ROWS)})`.execute(trx)
  return names.numAffectedRows ?? 0n
}

async function eraseEvents(trx: Kysely<Database>, userKey: string): Promise<bigint> {
  const { rows } = await sql<{ erased: number }>`select erase_events(${userKey}::uuid, ${sql.lit(STEP_ROWS)}) as erased`.execute(trx)
  return BigInt(rows[0]?.erased ?? 0)
}
