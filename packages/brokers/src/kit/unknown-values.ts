/** Unknown enum values of a broker: counted, logged once each, and replaced by a default where they only describe. */

import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import { field, lookUp, UnknownValueError, type Wire } from './parse.ts'

export interface UnknownValueCounterOptions {
  /** For the metric's label and the log. */
  readonly broker: string
  readonly log: Log
  readonly meter: Meter
}

/** Different values that are logged; a later one is still counted, but no longer logged. */
const LOGGED_MAX = 200
const SHOWN_MAX = 40
const ID_MAX = 64

/** One counter for all logins of a broker, so that a new value is logged once and not by every connection. */
export class UnknownValueCounter {
  readonly #options: UnknownValueCounterOptions
  readonly #logged = new Set<string>()

  constructor(options: UnknownValueCounterOptions) {
    this.#options = options
  }

  /** The core's value for a descriptive value: `other` when it is absent, null or empty, and also, counted, when it is unknown. */
  or<T, Other>(wire: Wire, key: string, table: Readonly<Record<string, T>>, other: Other): T | Other {
    const value = field(wire, key)
    const found = lookUp(table, value)
    if (found !== undefined) return found
    if (value !== undefined && value !== null && value !== '') this.#count(key, value, 'warn')
    return other
  }

  /**
   * Counts a reader's error about an unknown value that money depends on; false for any other error. For streams, which then have a gap.
   */
  countIfUnknown(error: unknown): error is UnknownValueError {
    if (!(error instanceof UnknownValueError)) return false
    this.#count(error.what, error.value, 'error')
    return true
  }

  #count(key: string, value: unknown, level: 'warn' | 'error'): void {
    const { broker, log, meter } = this.#options
    meter.count('broker_unknown_values_total', { broker, field: key })
    const shown = (typeof value === 'string' ? value : typeof value).slice(0, SHOWN_MAX)
    const entry = `${key} ${shown}`
    if (this.#logged.has(entry) || this.#logged.size >= LOGGED_MAX) return
    this.#logged.add(entry)
    log[level]('the broker sent an unknown enum value', { broker, field: key, value: shown })
  }
}

/** The text of a record's id; null where it has none. */
export function idOf(record: Wire, key: string): string | null {
  const id = field(record, key)
  return typeof id === 'string' && id !== '' && id.length <= ID_MAX ? id : null
}
