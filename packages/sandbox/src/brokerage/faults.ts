/** Fault injection: which requests fail, and how. Set only through the control API. */

import type { FaultKind } from '../control-terms.ts'
import { Problem } from './problems.ts'

/** The operations of the sandbox: those of REST, then OAuth's, then the stream's. */
export const OPERATIONS = [
  'me.get',
  'accounts.list',
  'balances.list',
  'positions.list',
  'positions.exercise',
  'orders.submit',
  'orders.preview',
  'orders.list',
  'orders.get',
  'orders.find',
  'orders.amend',
  'orders.cancel',
  'transactions.list',
  'instruments.list',
  'instruments.get',
  'expirations.list',
  'chain.list',
  'quotes.list',
  'bars.list',
  'clock.get',
  'calendar.list',
  'token',
  'revoke',
  'authorize',
  'stream.connect'
] as const
export type Operation = (typeof OPERATIONS)[number]

export interface FaultSpec {
  /** An operation, or a prefix with `*` at its end. */
  readonly on: string
  readonly do: FaultKind
  /** The number of requests that it hits; null: all until cleared. */
  readonly times: number | null
  /** The number of matching requests that pass before it starts. */
  readonly skip: number
  readonly login: string | null
  readonly symbol: string | null
  readonly clientOrderId: string | null
  /** Takes effect after the operation was carried out. */
  readonly after: boolean
  readonly ms: number
  readonly status: number | null
  readonly retryAfter: number | null
  readonly code: string | null
  readonly message: string | null
  /** For `garbage` the body of the answer, for `spoil` what the record becomes; null: the default. */
  readonly body: unknown
  /** For `spoil`: text that the record contains; null: the first record. */
  readonly record: string | null
  readonly page: number
  /** For `hide`: whether the submit gets an answer. */
  readonly answer: boolean
}

export interface Fault extends FaultSpec {
  readonly id: string
}

/** The facts of a request that faults are matched with. */
export interface Facts {
  readonly login: string | null
  readonly symbol: string | null
  readonly clientOrderId: string | null
}

export const NO_FACTS: Facts = { login: null, symbol: null, clientOrderId: null }

interface Armed {
  readonly fault: Fault
  left: number
  skip: number
  hits: number
}

const FAULTS_MAX = 1_000

export class Faults {
  #armed: readonly Armed[] = []
  #next = 1

  /** True while no fault is set: the request path checks this before it collects facts. */
  get none(): boolean {
    return this.#armed.length === 0
  }

  /** @throws Problem if `on` is not an operation, or too many faults are set. */
  add(spec: FaultSpec): Fault {
    if (!OPERATIONS.some(operation => covers(spec.on, operation)))
      throw new Problem('bad_request', `on must name an operation (${OPERATIONS.join(', ')}) or a beginning with *`, { field: 'on' })
    if (this.#armed.length >= FAULTS_MAX) throw new Problem('bad_request', `at most ${FAULTS_MAX} faults; clear some`)
    const fault: Fault = { ...spec, id: `fault-${this.#next++}` }
    this.#armed = [...this.#armed, { fault, left: spec.times ?? Number.POSITIVE_INFINITY, skip: spec.skip, hits: 0 }]
    return fault
  }

  /** The fault that this request hits. Counts the hit. */
  take(operation: Operation, facts: Facts): Fault | undefined {
    for (const armed of this.#armed) {
      if (!meets(armed.fault, operation, facts)) continue
      if (armed.skip > 0) {
        armed.skip--
        continue
      }
      armed.hits++
      if (--armed.left <= 0) this.#armed = this.#armed.filter(other => other !== armed)
      return armed.fault
    }
    return undefined
  }

  list(): readonly (Fault & { readonly left: number | null; readonly hits: number })[] {
    return this.#armed.map(({ fault, left, hits }) => ({ ...fault, left: Number.isFinite(left) ? left : null, hits }))
  }

  remove(id: string): boolean {
    const before = this.#armed.length
    this.#armed = this.#armed.filter(({ fault }) => fault.id !== id)
    return this.#armed.length < before
  }

  clear(): void {
    this.#armed = []
  }
}

function meets(fault: Fault, operation: Operation, facts: Facts): boolean {
  return (
    covers(fault.on, operation) &&
    (fault.login === null || fault.login === facts.login) &&
    (fault.symbol === null || fault.symbol === facts.symbol) &&
    (fault.clientOrderId === null || fault.clientOrderId === facts.clientOrderId)
  )
}

function covers(pattern: string, operation: Operation): boolean {
  return pattern.endsWith('*') ? operation.startsWith(pattern.slice(0, -1)) : pattern === operation
}
