/** Request counters for tests and benches: requests per operation with their outcomes, and submits per client order id. */

import type { Operation } from './faults.ts'

/** Client order ids retained; beyond that the oldest are forgotten. */
const IDS_MAX = 1_000_000

interface Tally {
  requests: number
  /** Requests that hit a fault. */
  faults: number
  /** By status of the response, or `none`. */
  readonly answers: Map<string, number>
}

export class Counters {
  readonly #tallies = new Map<Operation, Tally>()
  readonly #received = new Map<string, number>()

  request(operation: Operation): void {
    this.#tally(operation).requests++
  }

  fault(operation: Operation): void {
    this.#tally(operation).faults++
  }

  answer(operation: Operation, status: number | 'none'): void {
    const { answers } = this.#tally(operation)
    const key = String(status)
    answers.set(key, (answers.get(key) ?? 0) + 1)
  }

  /** Counts a submit or an amendment with this client order id. */
  receive(clientOrderId: string): void {
    this.#received.set(clientOrderId, this.received(clientOrderId) + 1)
    if (this.#received.size <= IDS_MAX) return
    for (const oldest of this.#received.keys()) {
      this.#received.delete(oldest)
      break
    }
  }

  received(clientOrderId: string): number {
    return this.#received.get(clientOrderId) ?? 0
  }

  report(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      [...this.#tallies].map(([operation, { requests, faults, answers }]) => [
        operation,
        { requests, faults, answers: Object.fromEntries(answers) }
      ])
    )
  }

  reset(): void {
    this.#tallies.clear()
    this.#received.clear()
  }

  #tally(operation: Operation): Tally {
    const known = this.#tallies.get(operation)
    if (known !== undefined) return known
    const fresh: Tally = { requests: 0, faults: 0, answers: new Map() }
    this.#tallies.set(operation, fresh)
    return fresh
  }
}
