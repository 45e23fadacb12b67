// Reads of operators in the audit log: an entry for each would make the chain longer than the orders do.
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { AuditStore } from '@trunkline/core/ports/store'

const HOUR_MS = 3_600_000
/** Operators with entries of their own in an hour; the rest is counted together. */
const OPERATORS_MAX = 64

/** Writes one entry an hour for each operator who read, with the number of each operation. A crash loses those of an hour at most. */
export class ReadCounts {
  readonly #audit: Pick<AuditStore, 'append'>
  readonly #clock: Pick<Clock, 'now' | 'alarm'>
  readonly #log: Log
  readonly #byOperator = new Map<string, Map<string, number>>()
  #hour: Disposable | null = null
  #written: Promise<void> = Promise.resolve()

  constructor(deps: { readonly audit: Pick<AuditStore, 'append'>; readonly clock: Pick<Clock, 'now' | 'alarm'>; readonly log: Log }) {
    this.#audit = deps.audit
    this.#clock = deps.clock
    this.#log = deps.log
  }

  /** Never throws and never waits. */
  count(operator: string, operation: string): void {
    this.#hour ??= this.#clock.alarm(HOUR_MS, () => this.#close())
    const name = this.#byOperator.has(operator) || this.#byOperator.size < OPERATORS_MAX ? operator : 'others'
    const counts = this.#byOperator.get(name) ?? new Map<string, number>()
    this.#byOperator.set(name, counts.set(operation, (counts.get(operation) ?? 0) + 1))
  }

  /** Writes what is only counted so far. */
  async stop(): Promise<void> {
    this.#close()
    await this.#written
  }

  #close(): void {
    this.#hour?.[Symbol.dispose]()
    this.#hour = null
    for (const [by, counts] of this.#byOperator) {
      const detail = { by, ...Object.fromEntries(counts) }
      this.#written = this.#written.then(() => this.#append(detail))
    }
    this.#byOperator.clear()
  }

  async #append(detail: Readonly<Record<string, string | number>>): Promise<void> {
    const entry = { actor: 'operator', action: 'operator.read', target: 'admin', result: 'ok', ip: null, requestId: null } as const
    try {
      await this.#audit.append({ ...entry, at: this.#clock.now(), detail })
    } catch (cause) {
      this.#log.warn('reads of operators could not be audited', { cause })
    }
  }
}
