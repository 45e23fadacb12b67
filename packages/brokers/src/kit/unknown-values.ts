/** Enum values of a broker that we do not know (yet): counted, logged once each, and kept from spoiling what they only describe. */

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

/** Records that could be read, and the ids of those that could not. */
export interface PartialRead<T> {
  readonly known: readonly T[]
  readonly leftOut: readonly (string | null)[]
}

/** One for all logins of a broker, so that a new value is logged once and not by every connection. */
export class UnknownValueCounter {
  readonly #options: UnknownValueCounterOptions
  readonly #logged = new Set<string>()

  constructor(options: UnknownValueCounterOptions) {
    this.#options = options
  }

  /** The core's value for a value that only describes: `other` when it is absent, null or empty, and, counted, when it is unknown. */
  or<T, Other>(wire: Wire, key: string, table: Readonly<Record<string, T>>, other: Other): T | Other {
    const value = field(wire, key)
    const found = lookUp(table, value)
    if (found !== undefined) return found
    if (value !== undefined && value !== null && value !== '') this.#count(key, value, 'warn')
    return other
  }

  /** Counts what a reader threw when it is about a value that money depends on; false when it is anything else. For streams, which then have a gap. */
  countIfUnknown(error: unknown): error is UnknownValueError {
    if (!(error instanceof UnknownValueError)) return false
    this.#count(error.what, error.value, 'error')
    return true
  }

  /**
   * Reads records that do not depend on each other. One with an unknown value is counted and left out; anything else that cannot be read makes
   * all of them unreadable. @throws Malformed
   */
  readKnown<T>(records: readonly Wire[], read: (record: Wire) => T): readonly T[] {
    return this.readPartially(records, read, null).known
  }

  /** As {@link known}, and what was left out: the text of each one's `idKey`, null where it has none. @throws Malformed */
  readPartially<T>(records: readonly Wire[], read: (record: Wire) => T, idKey: string | null): PartialRead<T> {
    const known: T[] = []
    const leftOut: (string | null)[] = []
    for (const record of records) {
      const found = this.orNull(record, read)
      if (found !== null) known.push(found)
      else leftOut.push(idKey === null ? null : idOf(record, idKey))
    }
    return { known, leftOut }
  }

  /** Null, and counted, for a record with an unknown value. @throws Malformed */
  orNull<T>(record: Wire, read: (record: Wire) => T): T | null {
    try {
      return read(record)
    } catch (error) {
      if (this.countIfUnknown(error)) return null
      throw error
    }
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

function idOf(record: Wire, key: string): string | null {
  const id = field(record, key)
  return typeof id === 'string' && id !== '' && id.length <= ID_MAX ? id : null
}
