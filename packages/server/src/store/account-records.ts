// Replaces records that a broker reports as a whole, and logs the differences, in batches: each one statement and one commit.
import type { Account } from '@trunkline/core/domain/account'
import type { AccountId, EventId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import { type LoggedEvent, StoreUnavailable } from '@trunkline/core/ports/store'
import { CompiledQuery, type Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database, RecordKind } from './database.ts'
import { writeAccountEvent } from './documents.ts'
import type { Session } from './session.ts'
import { BatchWriter, LIMITS } from './writes/batch-writer.ts'
import type { BatchStats } from './writes/batches.ts'
import { BinaryLists } from './writes/binary.ts'
import { FenceLost, OWNED } from './writes/fences.ts'
import { functionCall } from './writes/function-call.ts'
import { type BatchUsers, usersOf } from './writes/users.ts'

type Topical =
  | Pick<Extract<LoggedEvent, { topic: 'balances' }>, 'topic' | 'data'>
  | Pick<Extract<LoggedEvent, { topic: 'positions' }>, 'topic' | 'data'>

type Kind = 'balances' | 'positions'

export interface Replacement {
  readonly document: string
  readonly confirmedAt: Timestamp
  /** The events to publish, given the document that is replaced; null: it must not be replaced. */
  readonly events: (before: string | null) => readonly Topical[] | null
}

/** What is stored, as far as known; version 0 if there is nothing yet. */
interface Stored {
  readonly version: number
  readonly document: string | null
}

/** A replacement as written to the database. */
interface Put {
  readonly userKey: UserKey
  readonly accountId: AccountId
  readonly kind: Kind
  readonly over: number
  readonly next: Replacement
  readonly at: Timestamp
  readonly events: readonly { readonly eventId: EventId; readonly document: string }[]
  readonly size: number
}

/** `recorded` with the number of the first event, if there is one. */
type Answer = { readonly kind: 'recorded'; readonly first: number } | { readonly kind: 'stale' } | { readonly kind: 'gone' }

/** Replacements that another write takes along in its commit. */
export interface RecordsAlong {
  readonly users: readonly UserKey[]
  /** The arguments of {@link PUT_RECORDS}. @throws Unencodable */
  arguments(): readonly unknown[]
  /** They were written, with this result. */
  written(verdicts: string): void
  /** Nothing was written: they are written alone. */
  refused(): void
  failed(cause: unknown): void
}

const TRIES_MAX = 10
/** How long the holdings of an account wait for an order's change, to share its commit: most follow a fill, whose answer is near. */
const COMPANY_MS = 3
/** Replacements and events that an order's commit takes along. */
const ALONG_MAX = 64
/** Characters of cached documents, so that a change of a frequently changing account needs no read. */
const REMEMBERED_MAX = 16 * 1024 * 1024

export class RecordWriter {
  readonly #session: Session
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #writer: BatchWriter<Put, Answer>
  readonly #lists = new BinaryLists()
  /** Of those taken along: a batch may be in flight at the same time. */
  readonly #listsAlong = new BinaryLists()
  readonly #stored = new LRUCache<string, Stored>({
    maxSize: REMEMBERED_MAX,
    sizeCalculation: ({ document }) => 200 + (document?.length ?? 0)
  })

  constructor(session: Session, deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Log }) {
    this.#session = session
    this.#clock = deps.clock
    this.#ids = deps.ids
    const write = (puts: readonly Put[], wait: boolean) => this.#write(puts, wait)
    this.#writer = new BatchWriter({ what: 'account records', keys: put => [keyOf(put)], write }, deps, {
      ...LIMITS,
      companyMs: COMPANY_MS
    })
  }

  stats(): BatchStats {
    return this.#writer.stats()
  }

  /** Writes what waits; accepts nothing more. */
  close(): Promise<void> {
    return this.#writer.close()
  }

  /** Replacements that wait, for a write that starts now; null if there are none. A user whom another writes for is left for later. */
  takeAlong(): RecordsAlong | null {
    const passengers = this.#writer.takeAlong(ALONG_MAX)
    if (passengers === null) return null
    const { units, settle, giveBack } = passengers
    return {
      arguments: () => PUT_RECORDS.arguments(batchOf(this.#listsAlong.begin(), units, false)),
      users: units.map(({ userKey }) => userKey),
      written: verdicts => {
        const each = verdicts.split(',')
        for (const [index, unit] of units.entries()) {
          if (each[index] === 'b') giveBack(unit)
          else settle(unit, () => answeredBy(each[index]))
        }
      },
      refused: () => units.forEach(giveBack),
      failed: cause => {
        for (const unit of units)
          settle(unit, () => {
            throw cause
          })
      }
    }
  }

  /**
   * Writes over the known version, and again over the one it reads if another writer was first: but not over what another owner of the
   * user wrote meanwhile. Does nothing if the account is gone. Null if the document must not be replaced.
   */
  async replace(account: Account, kind: Kind, next: Replacement): Promise<readonly LoggedEvent[] | null> {
    const { accountId, userKey, connectionId, accountNumber } = account
    const key = keyOf({ accountId, kind })
    const fence = this.#session.fenceOf(userKey)
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const before = this.#stored.get(key) ?? (await this.#read(accountId, kind))
      const topicals = next.events(before.document)
      if (topicals === null) return null
      if (this.#session.fenceOf(userKey) !== fence) throw new FenceLost()
      const at = this.#clock.now()
      const events = topicals.map(topical => ({
        topical,
        eventId: this.#ids.uuid<EventId>(),
        document: writeAccountEvent(account, topical.data)
      }))
      // The stored state is unknown until the outcome is.
      this.#stored.delete(key)
      const answer = await this.#writer.submit({
        userKey,
        accountId,
        kind,
        over: before.version,
        next,
        at,
        events,
        size: 1 + events.length
      })
      if (answer.kind === 'gone') return []
      if (answer.kind === 'stale') continue
      this.#stored.set(key, { version: before.version + 1, document: next.document })
      const common = { connectionId, accountNumber, userKey, accountId, at }
      return events.map(({ topical, eventId }, index) => ({ ...topical, ...common, eventId, seq: answer.first + index }))
    }
    throw new StoreUnavailable(`The ${kind} of account ${accountId} are being written by too many at once.`)
  }

  /** Stores that the broker confirmed the account's orders at a time, in one statement: it is done after each snapshot of them. */
  confirmOrders({ accountId, userKey }: Pick<Account, 'accountId' | 'userKey'>, at: Timestamp): Promise<void> {
    return this.#session.ownedWrite(CONFIRM, [accountId, 'orders', at, 'null'], userKey)
  }

  /**
   * Within a transaction: stores that the broker confirmed records of a kind at a time. The last write wins: an earlier time makes the next
   * reader look further back, and a clock that was set back must not keep an old confirmation.
   */
  async confirm(db: Kysely<Database>, accountId: AccountId, kind: RecordKind, at: Timestamp, document: string): Promise<void> {
    await db.executeQuery(CompiledQuery.raw(CONFIRM, [accountId, kind, at, document]))
  }

  async #read(accountId: AccountId, kind: Kind): Promise<Stored> {
    const [row] = await this.#session.rows<Stored>('select version, document from account_records where account_id = $1 and kind = $2', [
      accountId,
      kind
    ])
    return row ?? { version: 0, document: null }
  }

  async #write(puts: readonly Put[], wait: boolean): Promise<readonly (Answer | null)[]> {
    const batch = batchOf(this.#lists.begin(), puts, wait)
    const [row] = await this.#session.ownedStatement<{ records: string }>(PUT_RECORDS.text, PUT_RECORDS.arguments(batch), batch.users)
    const verdicts = row?.records.split(',') ?? []
    return puts.map((_, index) => (verdicts[index] === 'b' ? null : answeredBy(verdicts[index])))
  }
}

/** Nothing, if the account is gone. */
const CONFIRM = `insert into account_records (account_id, kind, version, confirmed_at, document)
  select account_id, $2::text, 1, $3::timestamptz, $4::text from accounts where account_id = $1 and ${OWNED}
  on conflict (account_id, kind) do update set confirmed_at = excluded.confirmed_at, document = excluded.document`

function keyOf({ accountId, kind }: Pick<Put, 'accountId' | 'kind'>): string {
  return `${accountId} ${kind}`
}

/** Replacements as `put_records` takes them: a list for each column of them and of their events. */
interface Batch extends BatchUsers {
  readonly lists: BinaryLists
  readonly puts: readonly Put[]
  /** The events, each with the position of its replacement from 1. */
  readonly events: readonly { readonly of: number; readonly eventId: EventId; readonly document: string }[]
  readonly wait: boolean
}

function batchOf(lists: BinaryLists, puts: readonly Put[], wait: boolean): Batch {
  return {
    lists,
    puts,
    ...usersOf(puts.map(({ userKey, events }) => ({ userKey, published: events.length }))),
    events: puts.flatMap(({ events }, index) => events.map(event => ({ of: index + 1, ...event }))),
    wait
  }
}

/** Writes a batch. Each parameter is described with the function (migration 0020). */
export const PUT_RECORDS = functionCall<Batch>('put_records', 'records', {
  p_document: ({ lists, puts }) => lists.texts(puts.map(({ next }) => next.document)),
  p_data: ({ lists, events }) => lists.texts(events.map(({ document }) => document)),
  p_users: ({ lists, users }) => lists.uuids(users),
  p_published: ({ lists, published }) => lists.ints(published),
  p_wait: ({ wait }) => wait,
  p_user: ({ lists, userOf }) => lists.ints(userOf),
  p_account: ({ lists, puts }) => lists.uuids(puts.map(({ accountId }) => accountId)),
  p_kind: ({ lists, puts }) => lists.texts(puts.map(({ kind }) => kind)),
  p_over: ({ lists, puts }) => lists.ints(puts.map(({ over }) => over)),
  p_confirmed: ({ lists, puts }) => lists.timestamps(puts.map(({ next }) => next.confirmedAt)),
  p_at: ({ lists, puts }) => lists.timestamps(puts.map(({ at }) => at)),
  p_event_of: ({ lists, events }) => lists.ints(events.map(({ of }) => of)),
  p_event: ({ lists, events }) => lists.uuids(events.map(({ eventId }) => eventId))
})

function answeredBy(verdict: string | undefined): Answer {
  switch (verdict?.[0]) {
    case 'r':
      return { kind: 'recorded', first: Number(verdict.slice(1)) }
    case 's':
      return { kind: 'stale' }
    case 'g':
      return { kind: 'gone' }
    default:
      throw new Error(`the database's verdict on a replacement must be r, s, g or b, was ${JSON.stringify(verdict)}`)
  }
}
