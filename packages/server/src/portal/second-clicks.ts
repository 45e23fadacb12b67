import type { Clock } from '@trunkline/core/ports/clock'

/** A form that comes again within this time is the same click. */
const CLICKS_MS = 10_000
/** Answers that are remembered at a time; forms beyond it are carried out each for itself. */
const KEPT_MAX = 1_000

interface Kept<Answer> {
  readonly answer: Promise<Answer>
  readonly until: number
}

/**
 * One answer for a form that a browser sends twice: it drops the answer to the first click and shows that to the second, which would say that
 * the link has been used, although the user is connected.
 */
export class SecondClicks<Answer> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #kept = new Map<string, Kept<Answer>>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /**
   * What `work` gives; or, for ten seconds, what it gave the first time. Later only what `isFinal` is remembered: the rest may be tried again.
   * @param form everything that tells one form from another, hashed
   */
  answer(form: string, work: () => Promise<Answer>, isFinal: (answer: Answer) => boolean): Promise<Answer> {
    const now = this.#clock.monotonicMs()
    for (const [old, { until }] of this.#kept) {
      if (until > now) break
      this.#kept.delete(old)
    }
    const before = this.#kept.get(form)
    if (before !== undefined) return before.answer
    const answer = work()
    if (this.#kept.size >= KEPT_MAX) return answer
    this.#kept.set(form, { answer, until: now + CLICKS_MS })
    const forget = () => {
      if (this.#kept.get(form)?.answer === answer) this.#kept.delete(form)
    }
    answer.then(given => isFinal(given) || forget(), forget)
    return answer
  }
}
