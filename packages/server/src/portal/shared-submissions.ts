import type { NodeId } from '@trunkline/core/domain/ids'
import { parseJson } from '@trunkline/core/domain/json'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Vault } from '@trunkline/core/ports/vault'

/** Where nodes find what others handle. */
export interface Submissions {
  look(form: string): Promise<{ readonly run: string | null; readonly isAnswered: boolean; readonly lookedAt: string }>
  begin(
    form: string,
    as: {
      readonly run: string
      readonly seen: string | null
      readonly nodeId: NodeId
      readonly ttlMs: number
      readonly lookedAt: string
    }
  ): Promise<{ readonly run: string; readonly answer: Uint8Array | null } | null>
  answered(form: string, run: string, answer: Uint8Array, isFinal: boolean): Promise<void>
  drop(form: string, run: string): Promise<void>
}

interface SharedSubmissionsDeps {
  readonly store: Submissions
  readonly nodeId: NodeId
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly ids: Pick<Ids, 'uuid'>
  readonly vault: Pick<Vault, 'seal' | 'open'>
  readonly log: Log
}

/** One submission: its hash, and whether it is of a link that exists. Anyone can submit anything, and others leave no record. */
export interface Submission {
  readonly form: string
  isKnown(): Promise<boolean>
}

/** A form submitted again within this time counts as the same submission. */
const TTL_MS = 10_000
const LOOK_MS = 150
/** Longer than any form is handled. */
const WAIT_MS = 45_000

/**
 * Gives a form that is submitted at several nodes the same result at each, as `DoubleSubmitGuard` does within one. The database decides who
 * is the first, and holds the answer for the others, sealed: it may contain a code for the platform. If the first one's node dies, the next
 * one handles the form.
 */
export class SharedSubmissions {
  readonly #deps: SharedSubmissionsDeps

  constructor(deps: SharedSubmissionsDeps) {
    this.#deps = deps
  }

  /** `Answer` is JSON. */
  async answer<Answer>({ form, isKnown }: Submission, work: () => Promise<Answer>, isFinal: (answer: Answer) => boolean): Promise<Answer> {
    const { store, nodeId, clock, ids } = this.#deps
    const found = await store.look(form)
    // Looked for once more, because what makes a form known ends when it is handled.
    if (found.run === null && !(await isKnown()) && (await store.look(form)).run === null) return await work()
    const run: string = ids.uuid()
    const endsAt = clock.monotonicMs() + WAIT_MS
    const { lookedAt } = found
    let seen = found.isAnswered ? null : found.run
    while (clock.monotonicMs() < endsAt) {
      // Of two clicks at once, one node may have answered the first before another has got here with the second.
      const known = await store.begin(form, { run, seen, nodeId, ttlMs: TTL_MS, lookedAt })
      if (known?.run === run) return await this.#first(form, run, work, isFinal)
      if (known !== null && known.answer !== null) return this.#read(form, known.run, known.answer)
      seen = known?.run ?? null
      await clock.sleep(LOOK_MS)
    }
    return await work()
  }

  async #first<Answer>(form: string, run: string, work: () => Promise<Answer>, isFinal: (answer: Answer) => boolean): Promise<Answer> {
    const { store, vault } = this.#deps
    try {
      const answer = await work()
      const sealed = vault.seal(JSON.stringify(answer), contextOf(form, run))
      await store.answered(form, run, sealed, isFinal(answer)).catch(cause => this.#unrecorded(cause))
      return answer
    } catch (cause) {
      await store.drop(form, run).catch(failure => this.#unrecorded(failure))
      throw cause
    }
  }

  #read<Answer>(form: string, run: string, answer: Uint8Array): Answer {
    // Sealed by a node for this form, so it is what the form's work answers.
    return parseJson(this.#deps.vault.open(answer, contextOf(form, run))) as Answer
  }

  /** A second submission then waits until this one is forgotten. */
  #unrecorded(cause: unknown): void {
    this.#deps.log.warn('what was answered to a form could not be recorded for other nodes', { cause })
  }
}

function contextOf(form: string, run: string) {
  return { table: 'submissions', column: 'answer', rowId: form, ownerId: run, revision: 1 }
}
