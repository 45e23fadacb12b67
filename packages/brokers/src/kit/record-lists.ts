/** Lists of records. One that cannot be read is left out: counted, logged without its content, and named in the result. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Wire } from './parse.ts'
import { idOf, type UnknownValueCounter, type UnknownValueCounterOptions } from './unknown-values.ts'

/** What the records of a list are, for the metric's label and the log. */
export type RecordKind = 'accounts' | 'balances' | 'positions' | 'orders' | 'transactions' | 'instruments' | 'chains' | 'bars'

export interface RecordListsOptions extends UnknownValueCounterOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly unknownValues: UnknownValueCounter
}

/** From one line about a field to the next. */
const LOG_EVERY_MS = 600_000
/** Different fields that are logged; records with others are still counted. */
const LOGGED_MAX = 100
/** The name of a field of ours or the broker's. Anything else may be made of the record's content. */
const FIELD_NAME = /^[A-Za-z_][\w.[\]]{0,39}$/

/** A record is left out because of another that it belongs to, and which is left out itself. */
export class UnreadableSibling extends Malformed {
  constructor(what: string) {
    super(what, 'of records that can all be read', 'others that cannot')
  }
}

/** What can be read of a list. */
export interface Items<T> {
  readonly known: readonly T[]
  /** Ids of the records that were left out; null: unknown. */
  readonly leftOut: readonly (string | null)[]
}

/** A record that cannot be read; `id` null: not even its id. */
interface Unreadable {
  readonly id: string | null
  readonly error: Malformed
}

/** Of all logins of a broker, so that a field is logged once and not for every connection. */
export class RecordLists {
  readonly unknownValues: UnknownValueCounter
  readonly #options: RecordListsOptions
  readonly #logged = new Map<string, { atMs: number; records: number }>()

  constructor(options: RecordListsOptions) {
    this.#options = options
    this.unknownValues = options.unknownValues
  }

  /**
   * Reads the records of a list. Those left out are named by the text of `idKey`; null: the records have no id.
   *
   * The list is a fault when it is not what it is taken for: more than half of its records cannot be read, and more than one; or none can
   * be, and not even an id. A record with an unknown enum value is left out too, but does not count for this: it is understood but for that
   * value.
   * @throws Malformed
   */
  read<T>(kind: RecordKind, records: readonly Wire[], read: (record: Wire) => T, idKey: string | null, isStrict = false): Items<T> {
    const known: T[] = []
    const leftOut: (string | null)[] = []
    const unreadable: Unreadable[] = []
    for (const record of records) {
      try {
        known.push(read(record))
      } catch (error) {
        if (!(error instanceof Malformed)) throw error
        const id = idKey === null ? null : idOf(record, idKey)
        leftOut.push(id)
        const isUnderstood = (!isStrict && error instanceof UnreadableSibling) || this.unknownValues.countIfUnknown(error)
        if (!isUnderstood && isStrict) throw error
        if (!isUnderstood) unreadable.push({ id, error })
      }
    }
    demandList(records.length, known.length, unreadable)
    for (const _ of leftOut) this.#count(kind)
    for (const { error } of unreadable) this.#note(kind, error)
    return { known, leftOut }
  }

  /** As {@link read}, for what a command depends on: only a record with an unknown enum value is left out. @throws Malformed */
  strictly<T>(kind: RecordKind, records: readonly Wire[], read: (record: Wire) => T, idKey: string | null): Items<T> {
    return this.read(kind, records, read, idKey, true)
  }

  /** A record by itself, as a stream sends it; null, counted and logged, if it cannot be read. */
  orNull<T>(kind: RecordKind, record: Wire, read: (record: Wire) => T): T | null {
    try {
      return read(record)
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      this.#count(kind)
      if (!this.unknownValues.countIfUnknown(error)) this.#note(kind, error)
      return null
    }
  }

  #count(kind: RecordKind): void {
    this.#options.meter.count('broker_records_left_out_total', { broker: this.#options.broker, kind })
  }

  #note(kind: RecordKind, { what }: Malformed): void {
    const { broker, log, clock } = this.#options
    const name = FIELD_NAME.test(what) ? what : 'record'
    const key = `${kind} ${name}`
    const nowMs = clock.monotonicMs()
    const logged = this.#logged.get(key)
    if (logged === undefined && this.#logged.size >= LOGGED_MAX) return
    const records = (logged?.records ?? 0) + 1
    const isDue = logged === undefined || nowMs - logged.atMs >= LOG_EVERY_MS
    this.#logged.set(key, isDue ? { atMs: nowMs, records: 0 } : { atMs: logged.atMs, records })
    if (isDue) log.error('a record of the broker could not be read and was left out', { broker, kind, field: name, records })
  }
}

/** @throws Malformed the first error, for a list of which too little can be read */
function demandList(total: number, known: number, unreadable: readonly Unreadable[]): void {
  const [first] = unreadable
  if (first === undefined) return
  const isMost = unreadable.length > 1 && unreadable.length * 2 > total
  const isUnrecognized = known === 0 && unreadable.every(({ id }) => id === null)
  if (isMost || isUnrecognized) throw first.error
}
