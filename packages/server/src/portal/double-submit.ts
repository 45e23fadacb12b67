import type { Clock } from '@trunkline/core/ports/clock'
import type { SharedSubmissions, Submission } from './shared-submissions.ts'

/** A form submitted again within this time counts as the same submission. */
const REPEAT_MS = 10_000
/** The most results that are remembered. Above it every submission is executed. */
const REMEMBERED_MAX = 1_000

interface Remembered<Answer> {
  readonly answer: Promise<Answer>
  readonly until: number
}

/**
 * Gives a form that is submitted twice the same result both times. A browser drops the first response and shows the second; without this,
 * that one would say that the link was already used, although the account is connected.
 */
export class DoubleSubmitGuard<Answer> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #shared: SharedSubmissions | null
  readonly #remembered = new Map<string, Remembered<Answer>>()

  /** @param shared gives results to other nodes, and takes theirs; null where there is one node */
  constructor(clock: Pick<Clock, 'monotonicMs'>, shared: SharedSubmissions | null = null) {
    this.#clock = clock
    this.#shared = shared
  }

  /**
   * Returns the result of `work`, or of the first call with the same form if that still runs or ended with an `isFinal` result, up to ten
   * seconds after it began. Results that are not final are forgotten when they arrive, so that the user can try again.
   */
  answer(submission: Submission, work: () => Promise<Answer>, isFinal: (answer: Answer) => boolean): Promise<Answer> {
    const { form } = submission
    const now = this.#clock.monotonicMs()
    for (const [old, { until }] of this.#remembered) {
      if (until > now) break
      this.#remembered.delete(old)
    }
    const before = this.#remembered.get(form)
    if (before !== undefined) return before.answer
    const answer = this.#shared === null ? work() : this.#shared.answer(submission, work, isFinal)
    if (this.#remembered.size >= REMEMBERED_MAX) return answer
    this.#remembered.set(form, { answer, until: now + REPEAT_MS })
    const forget = () => {
      if (this.#remembered.get(form)?.answer === answer) this.#remembered.delete(form)
    }
    answer.then(given => isFinal(given) || forget(), forget)
    return answer
  }
}
