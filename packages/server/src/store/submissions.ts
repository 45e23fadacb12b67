// What browsers submitted to the portal, for all nodes: who handles it, and what was answered.
import type { NodeId } from '@trunkline/core/domain/ids'
import type { Session } from './session.ts'

// A run that began after the caller had looked first counts as one that the caller waits for.
const BEGIN = `/* writes */ select run, answer from begin_submission($1, $2, $3, $4 * interval '1 millisecond', coalesce($5::uuid,
  (select run from submissions where form = $1 and begun_at > $6::timestamptz)))`

const LOOK = `select clock_timestamp()::text as "lookedAt", run, answer is not null as "isAnswered"
  from (values (1)) as always left join submissions on form = $1`

export interface FoundSubmission {
  readonly run: string | null
  readonly isAnswered: boolean
  /** When it was looked for, by the database's clock. */
  readonly lookedAt: string
}

interface SubmissionRun {
  readonly run: string
  readonly seen: string | null
  readonly nodeId: NodeId
  readonly ttlMs: number
  readonly lookedAt: string
}

export class SqlSubmissionStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  /** The run that handles the form, or has just handled it; null if there is none. */
  async look(form: string): Promise<FoundSubmission> {
    const [row] = await this.#session.rows<FoundSubmission>(LOOK, [form])
    if (row === undefined) throw new Error('the database has returned no time')
    return row
  }

  /**
   * Begins to handle the form as `run`, unless another run does or did within `ttlMs`: then returns that one, and its answer if there is
   * one. The answer of a run that the caller waits for counts although not final: that is `seen`, or else one that began after
   * `lookedAt`.
   */
  async begin(
    form: string,
    { run, seen, nodeId, ttlMs, lookedAt }: SubmissionRun
  ): Promise<{ readonly run: string; readonly answer: Uint8Array | null } | null> {
    const rows = await this.#session.statement<{ run: string; answer: Buffer | null }>(BEGIN, [form, run, nodeId, ttlMs, seen, lookedAt])
    return rows[0] ?? null
  }

  async answered(form: string, run: string, answer: Uint8Array, isFinal: boolean): Promise<void> {
    await this.#session.write(trx =>
      trx.updateTable('submissions').set({ answer, is_final: isFinal }).where('form', '=', form).where('run', '=', run).execute()
    )
  }

  /** The run failed: the next one may begin. */
  async drop(form: string, run: string): Promise<void> {
    await this.#session.write(trx => trx.deleteFrom('submissions').where('form', '=', form).where('run', '=', run).execute())
  }
}
