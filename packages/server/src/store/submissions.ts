// What browsers submitted to the portal, for all nodes: who handles it, and what was answered.
import type { NodeId } from '@trunkline/core/domain/ids'
import type { Session } from './session.ts'

const BEGIN = `/* writes */ select run, answer from begin_submission($1, $2, $3, $4 * interval '1 millisecond', $5)`

export class SqlSubmissionStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  /** Whether somebody handles the form, or has just handled it. */
  async has(form: string): Promise<boolean> {
    const rows = await this.#session.rows('select 1 from submissions where form = $1', [form])
    return rows.length > 0
  }

  /**
   * Begins to handle the form as `run`, unless another run does or did within `ttlMs`: then returns that one, and its answer if there is
   * one. `seen` is the run that the caller waits for, whose answer counts although not final.
   */
  async begin(
    form: string,
    { run, seen, nodeId, ttlMs }: { readonly run: string; readonly seen: string | null; readonly nodeId: NodeId; readonly ttlMs: number }
  ): Promise<{ readonly run: string; readonly answer: Uint8Array | null } | null> {
    const rows = await this.#session.statement<{ run: string; answer: Buffer | null }>(BEGIN, [form, run, nodeId, ttlMs, seen])
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
