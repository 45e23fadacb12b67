// Writes order changes: groups of changes, gathered into batches, each batch one statement and one commit. Nothing else writes them.
import type { EventId, OrderId, UserKey } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { ChangeResult, OrderChange } from '@trunkline/core/ports/store'
import { PUT_RECORDS, type RecordsAlong, type RecordWriter } from '../account-records.ts'
import { writeAuditEntry, writeOrder } from '../documents.ts'
import { wasRefused } from '../faults.ts'
import type { Session } from '../session.ts'
import { type Answered, type BatchRules, BatchWriter, isLockTimeout } from '../writes/batch-writer.ts'
import type { BatchStats } from '../writes/batches.ts'
import { BinaryLists, Unencodable } from '../writes/binary.ts'
import { FenceLost } from '../writes/fences.ts'
import { together } from '../writes/function-call.ts'
import { batchOf, type EncodedChange, RECORD_CHANGE, RECORD_CHANGES } from './encode.ts'

/** Changes that are written all or none. */
interface Group {
  readonly members: readonly EncodedChange[]
  /** The orders, and the client order ids of new ones. */
  readonly keys: readonly string[]
  readonly size: number
  readonly isUrgent: boolean
}

type Results = readonly ChangeResult[]

/** A batch as a statement: alone, and with the holdings that are written in the same commit. */
interface Call {
  readonly text: string
  readonly both: string
  readonly values: readonly unknown[]
  readonly users: readonly UserKey[]
}

interface Verdicts {
  readonly verdicts: string
}

const CHANGE_AND_RECORDS = together(RECORD_CHANGE, PUT_RECORDS)
const CHANGES_AND_RECORDS = together(RECORD_CHANGES, PUT_RECORDS)

/**
 * Whether the change is about a cancel. When the database is slow, reducing risk goes before adding it. A new order keeps its turn, because
 * another report of it may be waiting before it.
 */
function isCancel({ order: { status, pendingRequest }, overRevision }: OrderChange): boolean {
  return overRevision !== null && (status === 'pending_cancel' || pendingRequest?.kind === 'cancel')
}

export class Recorder {
  readonly #session: Session
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #records: RecordWriter
  readonly #writer: BatchWriter<Group, Results>
  readonly #lists = new BinaryLists()

  constructor(session: Session, records: RecordWriter, deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Log }) {
    this.#session = session
    this.#records = records
    this.#clock = deps.clock
    this.#ids = deps.ids
    const rules: BatchRules<Group, Results> = {
      what: 'order changes',
      keys: ({ keys }) => keys,
      write: (groups, wait) => this.#write(groups, wait),
      implied: impliedDuplicate
    }
    this.#writer = new BatchWriter(rules, deps)
  }

  /** @throws StoreUnavailable, CommitUnknown */
  async record(changes: readonly OrderChange[]): Promise<Results> {
    if (changes.length === 0) return []
    if (new Set(changes.map(({ order }) => order.orderId)).size < changes.length)
      throw new Error('a group must not have the same order twice')
    const at = this.#clock.now()
    const members = changes.map(change => this.#encode(change, at))
    return this.#writer.submit({ members, keys: changes.flatMap(keysOf), size: members.length, isUrgent: changes.every(isCancel) })
  }

  stats(): BatchStats {
    return this.#writer.stats()
  }

  /** Writes what waits; accepts nothing more. */
  close(): Promise<void> {
    return this.#writer.close()
  }

  #encode(change: OrderChange, at: EncodedChange['at']): EncodedChange {
    const { order, audit } = change
    return {
      change,
      eventId: this.#ids.uuid<EventId>(),
      at,
      document: writeOrder(order),
      audit: audit === null ? null : writeAuditEntry(audit)
    }
  }

  async #write(groups: readonly Group[], wait: boolean): Promise<readonly (Results | null)[]> {
    const members = groups.map(({ members }) => members)
    const verdicts = await this.#verdicts(members, wait)
    let offset = 0
    return groups.map(({ members }) => {
      const own = verdicts.slice(offset, offset + members.length)
      offset += members.length
      if (own.includes('b')) return null
      return members.map((member, index) => this.#resultOf(member, own[index]))
    })
  }

  /** Holdings that wait are written in the same commit. They never make an order wait, nor fail. */
  async #verdicts(groups: readonly (readonly EncodedChange[])[], wait: boolean): Promise<readonly string[]> {
    const call = this.#callOf(groups, wait)
    const along = wait ? this.#records.takeAlong() : null
    const row =
      (along === null ? null : await this.#writeBoth(call, along)) ??
      (await this.#session.ownedStatement<Verdicts>(call.text, call.values, call.users))[0]
    return row?.verdicts.split(',') ?? []
  }

  /** Null if the database refused the statement: nothing was written. */
  async #writeBoth({ both, values, users }: Call, along: RecordsAlong): Promise<Verdicts | null> {
    try {
      const [row] = await this.#session.ownedStatement<Verdicts & { readonly records: string }>(
        both,
        [...values, ...along.arguments()],
        [...users, ...along.users]
      )
      if (row === undefined) throw new Error('a statement that writes must give a row')
      along.written(row.records)
      return row
    } catch (cause) {
      if (!wasRefused(cause) && !(cause instanceof Unencodable || cause instanceof FenceLost)) {
        along.failed(cause)
        throw cause
      }
      along.refused()
      // Only the batch itself waits for locks.
      if (isLockTimeout(cause)) throw cause
      return null
    }
  }

  #callOf(groups: readonly (readonly EncodedChange[])[], wait: boolean): Call {
    const lists = this.#lists.begin()
    const [change, ...more] = groups.length === 1 ? (groups[0] ?? []) : []
    if (change !== undefined && more.length === 0) {
      const values = RECORD_CHANGE.arguments({ values: lists, change, wait })
      return { text: RECORD_CHANGE.text, both: CHANGE_AND_RECORDS, values, users: [change.change.order.userKey] }
    }
    const batch = batchOf(lists, groups, wait)
    return { text: RECORD_CHANGES.text, both: CHANGES_AND_RECORDS, values: RECORD_CHANGES.arguments(batch), users: batch.users }
  }

  #resultOf({ change: { order }, eventId, at }: EncodedChange, verdict: string | undefined): ChangeResult {
    switch (verdict?.[0]) {
      case 'd':
        return { kind: 'duplicate', orderId: verdict.slice(1) as OrderId }
      case 's':
        return { kind: 'stale' }
      case 'r': {
        if (verdict.length === 1) return { kind: 'recorded', event: null }
        const { userKey, accountId } = order
        return { kind: 'recorded', event: { eventId, userKey, seq: Number(verdict.slice(1)), accountId, at, topic: 'orders', data: order } }
      }
      default:
        throw new Error(`the database's verdict on a change must be r, d, s or b, was ${JSON.stringify(verdict)}`)
    }
  }
}

function keysOf({ order, overRevision }: OrderChange): readonly string[] {
  return overRevision === null ? [order.orderId, clientKey(order)] : [order.orderId]
}

function clientKey({ userKey, tradingDay, clOrdId }: Order): string {
  return `${userKey} ${tradingDay} ${clOrdId}`
}

/** A new order alone in its group, whose client order id this batch has just judged, needs no statement. */
function impliedDuplicate({ members }: Group, answered: ReadonlyMap<string, Answered<Group, Results>>): Results | null {
  const [only, ...more] = members
  if (only === undefined || more.length > 0 || only.change.overRevision !== null) return null
  const key = clientKey(only.change.order)
  const { unit, answer } = answered.get(key) ?? { unit: null, answer: [] }
  const index = unit?.members.findIndex(({ change }) => change.overRevision === null && clientKey(change.order) === key) ?? -1
  const [result, holder] = [answer[index], unit?.members[index]?.change.order.orderId]
  const orderId = result?.kind === 'recorded' ? holder : result?.kind === 'duplicate' ? result.orderId : undefined
  return orderId === undefined || orderId === only.change.order.orderId ? null : [{ kind: 'duplicate', orderId }]
}
