// The log of changes of users' records.
import type { UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { EventStore, LoggedEvent } from '@trunkline/core/ports/store'
import type { Selectable } from 'kysely'
import type { Database } from './database.ts'
import { readBalanceEvent, readOrder, readPositionsEvent } from './documents.ts'
import type { Session } from './session.ts'

type Row = Selectable<Database['events']>

/** Bytes of documents in one read; a larger event is returned alone. */
const READ_BYTES_MAX = 4 * 1024 * 1024

// PostgreSQL computes a length without fetching the value, so only returned documents are fetched.
const READ = `select user_key, seq, event_id, account_id, topic, at, data from (
    select *, sum(octet_length(data)) over (order by seq rows unbounded preceding) - octet_length(data) as bytes_before
    from (select * from events where user_key = $1 and seq > $2 order by seq limit $3) found
  ) measured
  where bytes_before < $4 order by seq`

const PRUNE = '/* writes */ select prune_events($1, $2) as pruned'

export class SqlEventStore implements EventStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async read(userKey: UserKey, after: number, limit: number, bytesMax = READ_BYTES_MAX): Promise<readonly LoggedEvent[]> {
    const rows = await this.#session.rows<Row>(READ, [userKey, after, limit, Math.min(bytesMax, READ_BYTES_MAX)])
    return rows.map(eventOf)
  }

  async lasts(userKeys: readonly UserKey[]): Promise<ReadonlyMap<UserKey, number>> {
    const rows = await this.#session.rows<{ user_key: UserKey; last_seq: number }>(
      'select user_key, last_seq from user_counters where user_key = any ($1) and last_seq > 0',
      [userKeys]
    )
    return new Map(rows.map(row => [row.user_key, row.last_seq]))
  }

  async span(userKey: UserKey): Promise<{ readonly oldest: number; readonly last: number }> {
    const [row] = await this.#session.rows<{ first_seq: number; last_seq: number }>(
      'select first_seq, last_seq from user_counters where user_key = $1',
      [userKey]
    )
    return row === undefined ? { oldest: 1, last: 0 } : { oldest: row.first_seq, last: row.last_seq }
  }

  async prune(at: Timestamp, limit: number): Promise<number> {
    const [row] = await this.#session.statement<{ pruned: number }>(PRUNE, [at, limit])
    return row?.pruned ?? 0
  }

  async last(userKey: UserKey): Promise<number> {
    const [row] = await this.#session.rows<{ last_seq: number }>('select last_seq from user_counters where user_key = $1', [userKey])
    return row?.last_seq ?? 0
  }
}

function eventOf(row: Row): LoggedEvent {
  const common = { eventId: row.event_id, userKey: row.user_key, seq: row.seq, accountId: row.account_id, at: row.at }
  switch (row.topic) {
    case 'orders':
      return { ...common, topic: 'orders', data: readOrder(row.data) }
    case 'positions':
      return { ...common, topic: 'positions', ...readPositionsEvent(row.data) }
    case 'balances':
      return { ...common, topic: 'balances', ...readBalanceEvent(row.data) }
  }
}
