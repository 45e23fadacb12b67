/** Words of a broker that we do not know (yet): counted, told once each, and kept from spoiling what they only describe. */

import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import { field, lookedUp, UnknownWord, type Wire } from './parse.ts'

export interface WordsOptions {
  /** For the metric's label and the log. */
  readonly broker: string
  readonly log: Log
  readonly meter: Meter
}

/** Different words that are told of; a later one is still counted, but no longer logged. */
const TOLD_MAX = 200
const SHOWN_MAX = 40
const ID_MAX = 64

/** Records that could be read, and the ids of those that could not. */
export interface KnownBeside<T> {
  readonly known: readonly T[]
  readonly leftOut: readonly (string | null)[]
}

/** One for all logins of a broker, so that a new word is told once and not by every connection. */
export class Words {
  readonly #options: WordsOptions
  readonly #told = new Set<string>()

  constructor(options: WordsOptions) {
    this.#options = options
  }

  /** The core's word for a word that only describes: `other` when it is absent, null or empty, and, counted, when nobody knows it. */
  or<T, Other>(wire: Wire, key: string, table: Readonly<Record<string, T>>, other: Other): T | Other {
    const value = field(wire, key)
    const found = lookedUp(table, value)
    if (found !== undefined) return found
    if (value !== undefined && value !== null && value !== '') this.#count(key, value, 'warn')
    return other
  }

  /** Counts what a reader threw when it is about a word that money hangs on; false when it is anything else. For streams, which then have a gap. */
  noted(error: unknown): error is UnknownWord {
    if (!(error instanceof UnknownWord)) return false
    this.#count(error.what, error.word, 'error')
    return true
  }

  /**
   * Reads records that do not depend on each other. One with an unknown word is counted and left out; anything else that cannot be read makes
   * all of them unreadable. @throws Malformed
   */
  known<T>(records: readonly Wire[], read: (record: Wire) => T): readonly T[] {
    return this.knownBeside(records, read, null).known
  }

  /** As {@link known}, and what was left out: the text of each one's `idKey`, null where it has none. @throws Malformed */
  knownBeside<T>(records: readonly Wire[], read: (record: Wire) => T, idKey: string | null): KnownBeside<T> {
    const known: T[] = []
    const leftOut: (string | null)[] = []
    for (const record of records) {
      const found = this.orNull(record, read)
      if (found !== null) known.push(found)
      else leftOut.push(idKey === null ? null : idOf(record, idKey))
    }
    return { known, leftOut }
  }

  /** Null, and counted, for a record with an unknown word. @throws Malformed */
  orNull<T>(record: Wire, read: (record: Wire) => T): T | null {
    try {
      return read(record)
    } catch (error) {
      if (this.noted(error)) return null
      throw error
    }
  }

  #count(key: string, value: unknown, level: 'warn' | 'error'): void {
    const { broker, log, meter } = this.#options
    meter.count('broker_unknown_words_total', { broker, field: key })
    const word = (typeof value === 'string' ? value : typeof value).slice(0, SHOWN_MAX)
    const told = `${key} ${word}`
    if (this.#told.has(told) || this.#told.size >= TOLD_MAX) return
    this.#told.add(told)
    log[level]('the broker used a word that is not known', { broker, field: key, word })
  }
}

function idOf(record: Wire, key: string): string | null {
  const id = field(record, key)
  return typeof id === 'string' && id !== '' && id.length <= ID_MAX ? id : null
}
