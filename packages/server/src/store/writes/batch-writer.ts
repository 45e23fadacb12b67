// Writes a batch whose units may conflict with each other, or of which one may be invalid.
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { isRefusal } from '../faults.ts'
import { type Batchable, Batches, type BatchLimits, type BatchStats, type Passengers } from './batches.ts'
import { Unencodable } from './binary.ts'
import { FenceLost } from './fences.ts'

/** The rules of the units of a batch. */
export interface BatchRules<Unit, Answer> {
  /** Their name in the log: `order changes`. */
  readonly what: string
  /** Keys that no two units of one statement may share. */
  keys(unit: Unit): readonly string[]
  /**
   * One statement and one commit; an answer to each unit. `wait`: wait for others that write for the same user, or answer null for such
   * units.
   */
  write(units: readonly Unit[], wait: boolean): Promise<readonly (Answer | null)[]>
  /** The answer that follows from the answers to earlier units of the batch, by their keys; null if the unit must be written. */
  implied?(unit: Unit, answered: ReadonlyMap<string, Answered<Unit, Answer>>): Answer | null
}

export interface Answered<Unit, Answer> {
  readonly unit: Unit
  readonly answer: Answer
}

export const LIMITS: BatchLimits = { batchMax: 256, waitingMax: 10_000, urgentMax: 1_000, waitMsMax: 5_000 }

type Settle<Unit, Answer> = (unit: Unit, outcome: () => Answer) => void

export class BatchWriter<Unit extends Batchable, Answer> {
  readonly #rules: BatchRules<Unit, Answer>
  readonly #log: Log
  readonly #batches: Batches<Unit, Answer>

  constructor(rules: BatchRules<Unit, Answer>, { clock, log }: { readonly clock: Clock; readonly log: Log }, limits = LIMITS) {
    this.#rules = rules
    this.#log = log
    this.#batches = new Batches((units, settle) => this.#write(units, settle), clock, limits)
  }

  /** @throws StoreUnavailable, CommitUnknown */
  submit(unit: Unit): Promise<Answer> {
    return this.#batches.submit(unit)
  }

  stats(): BatchStats {
    return this.#batches.stats()
  }

  /** Units without conflicts that wait, for another write that starts now: changes up to `max`. Null if there are none. */
  takeAlong(max: number): Passengers<Unit, Answer> | null {
    const keys = new Set<string>()
    let size = 0
    return this.#batches.takeAlong(unit => {
      const own = this.#rules.keys(unit)
      if (size + unit.size > max || own.some(key => keys.has(key))) return false
      for (const key of own) keys.add(key)
      size += unit.size
      return true
    })
  }

  /** Writes what waits; accepts nothing more. */
  close(): Promise<void> {
    return this.#batches.close()
  }

  /** Conflicting units are written one after another. */
  async #write(units: readonly Unit[], settle: Settle<Unit, Answer>): Promise<void> {
    const answered = new Map<string, Answered<Unit, Answer>>()
    const noting: Settle<Unit, Answer> = (unit, outcome) =>
      settle(unit, () => {
        const answer = outcome()
        for (const key of this.#rules.keys(unit)) answered.set(key, { unit, answer })
        return answer
      })
    for (let rest = units; rest.length > 0; ) {
      const { apart, meeting } = this.#separated(rest)
      await this.#writeApart(apart, meeting.length === 0 ? settle : noting)
      rest = meeting.filter(unit => {
        const implied = this.#rules.implied?.(unit, answered) ?? null
        if (implied !== null) settle(unit, () => implied)
        return implied === null
      })
    }
  }

  /** Writes units without conflicts. A unit that the database refuses does not affect the others. */
  async #writeApart(units: readonly Unit[], settle: Settle<Unit, Answer>): Promise<void> {
    try {
      const answers = await this.#answers(units)
      units.forEach((unit, index) => {
        settle(unit, () => {
          const answer = answers[index] ?? null
          if (answer === null) throw new StoreUnavailable('The user is being written to by another request for too long.')
          return answer
        })
      })
    } catch (cause) {
      if (units.length < 2 || !(isRefusal(cause) || cause instanceof Unencodable || cause instanceof FenceLost)) {
        for (const unit of units)
          settle(unit, () => {
            throw cause
          })
        return
      }
      this.#log.warn(`a batch of ${this.#rules.what} was refused and is written in halves`, { units: units.length, cause: String(cause) })
      const middle = Math.ceil(units.length / 2)
      for (const half of [units.slice(0, middle), units.slice(middle)]) await this.#writeApart(half, settle)
    }
  }

  /** Waits for others that write for one of the users; leaves such users out if that takes too long. */
  async #answers(units: readonly Unit[]): Promise<readonly (Answer | null)[]> {
    try {
      return await this.#rules.write(units, true)
    } catch (cause) {
      if (!isLockTimeout(cause)) throw cause
      return this.#rules.write(units, false)
    }
  }

  /** The units without conflicts, in order of arrival; and the rest. */
  #separated(units: readonly Unit[]): { readonly apart: readonly Unit[]; readonly meeting: readonly Unit[] } {
    const taken = new Set<string>()
    const [apart, meeting]: [Unit[], Unit[]] = [[], []]
    for (const unit of units) {
      const keys = this.#rules.keys(unit)
      if (keys.some(key => taken.has(key))) meeting.push(unit)
      else apart.push(unit)
      for (const key of keys) taken.add(key)
    }
    return { apart, meeting }
  }
}

export function isLockTimeout(cause: unknown): boolean {
  return cause instanceof StoreUnavailable && isRefusal(cause.cause) && cause.cause.code === LOCK_NOT_AVAILABLE
}

const LOCK_NOT_AVAILABLE = '55P03'
