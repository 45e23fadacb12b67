// Replaces the kinds of records that a broker tells as a whole, and logs what changed, in one transaction.
import type { Account } from '@trunkline/core/domain/account'
import type { AccountId, EventId } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import { type LoggedEvent, StoreUnavailable } from '@trunkline/core/ports/store'
import type { Kysely } from 'kysely'
import type { Database, RecordKind } from './database.ts'
import { DOCUMENT_SEPARATOR, writeAccountEvent } from './documents.ts'
import type { Session } from './session.ts'

type Topical =
  | Pick<Extract<LoggedEvent, { topic: 'balances' }>, 'topic' | 'data'>
  | Pick<Extract<LoggedEvent, { topic: 'positions' }>, 'topic' | 'data'>

export interface Replacement {
  readonly document: string
  readonly confirmedAt: Timestamp
  /** What to tell, given the document that is replaced. */
  readonly events: (before: string | null) => readonly Topical[]
}

const TRIES_MAX = 10
// Not a plain select: the embedded engine takes those for reads.
const PUT_RECORDS = 'with put as (select put_records($1, $2, $3, $4, $5, $6, $7, $8, $9) as first) select first from put'

export class RecordWriter {
  readonly #session: Session
  readonly #clock: Clock
  readonly #ids: Ids

  constructor(session: Session, { clock, ids }: { readonly clock: Clock; readonly ids: Ids }) {
    this.#session = session
    this.#clock = clock
    this.#ids = ids
  }

  /** Writes over the version it read, and again when someone else wrote meanwhile. Nothing when the account is gone. */
  async replace(
    { accountId, userKey, connectionId, accountNumber }: Account,
    kind: 'balances' | 'positions',
    next: Replacement
  ): Promise<readonly LoggedEvent[]> {
    const of = { connectionId, accountNumber }
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const [before] = await this.#session.rows<{ version: number; document: string }>(
        'select version, document from account_records where account_id = $1 and kind = $2',
        [accountId, kind]
      )
      const at = this.#clock.now()
      const told = next.events(before?.document ?? null).map(topical => ({ ...topical, eventId: this.#ids.uuid<EventId>() }))
      const [row] = await this.#session.statement<{ first: number | null }>(PUT_RECORDS, [
        userKey,
        accountId,
        kind,
        before?.version ?? 0,
        next.confirmedAt,
        next.document,
        at,
        told.length === 0 ? null : JSON.stringify(told.map(({ eventId }) => ({ id: eventId }))),
        told.length === 0 ? null : told.map(({ data }) => writeAccountEvent(of, data)).join(DOCUMENT_SEPARATOR)
      ])
      const first = row?.first ?? null
      if (first === null) return []
      if (first >= 0) return told.map((event, index) => ({ ...event, ...of, userKey, accountId, at, seq: first + index }))
    }
    throw new StoreUnavailable(`The ${kind} of account ${accountId} are being written by too many at once.`)
  }

  /** Notes that the broker confirmed records of a kind at a time; never an earlier time over a later one. */
  async confirm(db: Kysely<Database>, accountId: AccountId, kind: RecordKind, at: Timestamp, document: string): Promise<void> {
    await db
      .insertInto('account_records')
      .columns(['account_id', 'kind', 'version', 'confirmed_at', 'document'])
      .expression(
        db
          .selectFrom('accounts')
          .select(({ val, cast, ref }) => [
            ref('account_id').as('account_id'),
            val(kind).as('kind'),
            cast<number>(val(1), 'integer').as('version'),
            cast<Timestamp>(val(at), 'timestamptz').as('confirmed_at'),
            val(document).as('document')
          ])
          .where('account_id', '=', accountId)
      )
      .onConflict(conflict =>
        conflict
          .columns(['account_id', 'kind'])
          .doUpdateSet(({ ref }) => ({ confirmed_at: ref('excluded.confirmed_at'), document: ref('excluded.document') }))
          .whereRef('excluded.confirmed_at', '>=', 'account_records.confirmed_at')
      )
      .execute()
  }
}
