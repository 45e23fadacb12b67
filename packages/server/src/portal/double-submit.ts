import type { Clock } from '@trunkline/core/ports/clock'

/** A form that is submitted again within this time counts as the same submission. */
const REPEAT_MS = 10_000
/** Results that are remembered at a time; beyond it each submission is carried out. */
const REMEMBERED_MAX = 1_000

interface Remembered<Answer> {
  readonly answer: Promise<Answer>
  readonly until: number
}

/**
 * One result for a form that a browser submits twice: it drops the first response and shows the second, which would say that
 * the link has been used, although the user is connected.
 */
export class DoubleSubmitGuard<Answer> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #remembered = new Map<string, Remembered<Answer>>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /**
   * What `work` gives; or, for ten seconds, what it gave the first time. Later only what `isFinal` is remembered: the rest may be tried again.
   * @param form identifies the form submission, hashed
   */
  answer(form: string, work: () => Promise<Answer>, isFinal: (answer: Answer) => boolean): Promise<Answer> {
    const now = this.#clock.monotonicMs()
    for (const [old, { until }] of this.#remembered) {
      if (until > now) break
      this.#remembered.delete(old)
    }
    const before = this.#remembered.get(form)
    if (before !== undefined) return before.answer
    const answer = work()
    if (this.#remembered.size >= REMEMBERED_MAX) return answer
    this.#remembered.set(form, { answer, until: now + REPEAT_MS })
    const forget = () => {
      if (this.#remembered.get(form)?.answer === answer) this.#remembered.delete(form)
    }
    answer.then(given => isFinal(given) || forget(), forget)
    return answer
  }
}
