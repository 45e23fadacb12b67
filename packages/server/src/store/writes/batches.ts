// Gathers concurrent writes into batches that share a commit. While one is being written the next fills up.
import type { Clock } from '@trunkline/core/ports/clock'
import { StoreUnavailable } from '@trunkline/core/ports/store'

/** A unit of work that is written as a whole. */
export interface Batchable {
  /** How many changes it holds. */
  readonly size: number
  /** Urgent units go first, and have capacity when the others have none. Units about the same record must not wait at the same time. */
  readonly isUrgent?: boolean
}

export interface BatchLimits {
  /** Changes in one batch. One unit may be larger and then goes alone. */
  readonly batchMax: number
  /** Changes that may wait; more are refused. */
  readonly waitingMax: number
  /** Urgent changes that may wait beyond them. */
  readonly urgentMax: number
  /** Milliseconds a unit may wait before it is refused unwritten. */
  readonly waitMsMax: number
  /** Milliseconds for which the first unit waits for another write that takes it along. Absent: it is not taken along. */
  readonly companyMs?: number
}

/** Units that another write takes along in its commit. It settles each, or returns it. */
export interface Passengers<Unit, Result> {
  readonly units: readonly Unit[]
  settle(unit: Unit, outcome: () => Result): void
  /** The unit was not written: it waits again, and is not taken along any more. */
  giveBack(unit: Unit): void
}

export interface BatchStats {
  readonly waiting: number
  readonly batches: number
  readonly changes: number
  readonly largestBatch: number
}

interface Waiting<Unit, Result> {
  readonly unit: Unit
  readonly since: number
  readonly resolve: (result: Result) => void
  readonly reject: (cause: unknown) => void
}

/** Settles every unit of a batch through `settle`, or by throwing the same error for those it has not settled. */
export type WriteBatch<Unit, Result> = (units: readonly Unit[], settle: (unit: Unit, outcome: () => Result) => void) => Promise<void>

/** One queue of batches: at most one is in flight. */
export class Batches<Unit extends Batchable, Result> {
  readonly #write: WriteBatch<Unit, Result>
  readonly #clock: Clock
  readonly #limits: BatchLimits
  #queue: Waiting<Unit, Result>[] = []
  #urgent: Waiting<Unit, Result>[] = []
  #waiting = 0
  #running: Promise<void> | null = null
  #closed = false
  /** Ends the waiting for company. */
  #depart: (() => void) | null = null
  readonly #returned = new WeakSet<Unit>()
  #batches = 0
  #changes = 0
  #largestBatch = 0

  constructor(write: WriteBatch<Unit, Result>, clock: Clock, limits: BatchLimits) {
    this.#write = write
    this.#clock = clock
    this.#limits = limits
  }

  stats(): BatchStats {
    return { waiting: this.#waiting, batches: this.#batches, changes: this.#changes, largestBatch: this.#largestBatch }
  }

  /** @throws StoreUnavailable if too much waits already, or it waited too long; it was not written then. */
  submit(unit: Unit): Promise<Result> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('The store is closed.'))
    const isUrgent = unit.isUrgent === true
    const { waitingMax, urgentMax } = this.#limits
    if (this.#waiting + unit.size > waitingMax + (isUrgent ? urgentMax : 0))
      return Promise.reject(new StoreUnavailable('Too many changes are waiting to be written.'))
    return new Promise((resolve, reject) => {
      const queue = isUrgent ? this.#urgent : this.#queue
      queue.push({ unit, since: this.#clock.monotonicMs(), resolve, reject })
      this.#waiting += unit.size
      this.#running ??= this.#run()
    })
  }

  /** Writes what waits; accepts nothing more. */
  async close(): Promise<void> {
    this.#closed = true
    this.#depart?.()
    await this.#running
  }

  /** Units that wait, for another write that starts now; null if there are none. @param fits whether it can take a unit, asked in turn */
  takeAlong(fits: (unit: Unit) => boolean): Passengers<Unit, Result> | null {
    const taken = new Map(this.#queue.flatMap(waiting => (this.#isFree(waiting) && fits(waiting.unit) ? [[waiting.unit, waiting]] : [])))
    if (taken.size === 0) return null
    this.#queue = this.#queue.filter(({ unit }) => !taken.has(unit))
    for (const { unit } of taken.values()) this.#waiting -= unit.size
    if (this.#waiting === 0) this.#depart?.()
    return {
      units: [...taken.keys()],
      settle: (unit, outcome) => {
        this.#changes += unit.size
        settle(taken.get(unit), outcome)
      },
      giveBack: unit => {
        const waiting = taken.get(unit)
        if (waiting === undefined) return
        this.#returned.add(unit)
        this.#queue.unshift(waiting)
        this.#waiting += unit.size
        this.#running ??= this.#run()
      }
    }
  }

  #isFree({ unit, since }: Waiting<Unit, Result>): boolean {
    return !this.#returned.has(unit) && since >= this.#clock.monotonicMs() - this.#limits.waitMsMax
  }

  async #company(ms: number): Promise<void> {
    await new Promise<void>(resolve => {
      const alarm = this.#clock.alarm(ms, resolve)
      this.#depart = () => {
        alarm[Symbol.dispose]()
        resolve()
      }
    })
    this.#depart = null
  }

  async #run(): Promise<void> {
    const { companyMs } = this.#limits
    // Units that arrive in the same turn of the event loop go into the first batch.
    if (companyMs === undefined || this.#closed) await new Promise(setImmediate)
    else await this.#company(companyMs)
    while (this.#queue.length + this.#urgent.length > 0) {
      const batch = this.#take()
      if (batch.length > 0) await this.#flush(batch)
    }
    this.#running = null
  }

  async #flush(batch: readonly Waiting<Unit, Result>[]): Promise<void> {
    const byUnit = new Map(batch.map(waiting => [waiting.unit, waiting]))
    const size = batch.reduce((sum, { unit }) => sum + unit.size, 0)
    this.#batches += 1
    this.#changes += size
    this.#largestBatch = Math.max(this.#largestBatch, size)
    try {
      await this.#write([...byUnit.keys()], (unit, outcome) => {
        const waiting = byUnit.get(unit)
        byUnit.delete(unit)
        settle(waiting, outcome)
      })
      if (byUnit.size > 0) throw new Error('a batch ended without settling all of its units')
    } catch (cause) {
      for (const { reject } of byUnit.values()) reject(cause)
    }
  }

  #take(): readonly Waiting<Unit, Result>[] {
    const batch: Waiting<Unit, Result>[] = []
    const oldest = this.#clock.monotonicMs() - this.#limits.waitMsMax
    let [size, taken] = [0, 0]
    for (const waiting of [...this.#urgent, ...this.#queue]) {
      if (size > 0 && size + waiting.unit.size > this.#limits.batchMax) break
      taken += 1
      this.#waiting -= waiting.unit.size
      if (waiting.since < oldest) {
        waiting.reject(new StoreUnavailable('The database is too slow to take changes now.'))
        continue
      }
      size += waiting.unit.size
      batch.push(waiting)
    }
    const others = Math.max(0, taken - this.#urgent.length)
    this.#urgent = this.#urgent.slice(taken)
    this.#queue = this.#queue.slice(others)
    return batch
  }
}

function settle<Unit, Result>(waiting: Waiting<Unit, Result> | undefined, outcome: () => Result): void {
  if (waiting === undefined) return
  try {
    waiting.resolve(outcome())
  } catch (cause) {
    waiting.reject(cause)
  }
}
