// The log of what happened to users' records.
import type { UserKey } from '@trunkline/core/domain/ids'
import type { EventStore, LoggedEvent } from '@trunkline/core/ports/store'
import type { Selectable } from 'kysely'
import type { Database } from './database.ts'
import { readBalance, readOrder, readPositions } from './documents.ts'
import type { Session } from './session.ts'

export class SqlEventStore implements EventStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async read(userKey: UserKey, after: number, limit: number): Promise<readonly LoggedEvent[]> {
    const rows = await this.#session.read(db =>
      db
        .selectFrom('events')
        .select(['user_key', 'seq', 'event_id', 'account_id', 'topic', 'at', 'data'])
        .where('user_key', '=', userKey)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(limit)
        .execute()
    )
    return rows.map(eventOf)
  }

  async last(userKey: UserKey): Promise<number> {
    const [row] = await this.#session.rows<{ last_seq: number }>('select last_seq from user_counters where user_key = $1', [userKey])
    return row?.last_seq ?? 0
  }
}

function eventOf(row: Selectable<Database['events']>): LoggedEvent {
  const common = { eventId: row.event_id, userKey: row.user_key, seq: row.seq, accountId: row.account_id, at: row.at }
  switch (row.topic) {
    case 'orders':
      return { ...common, topic: 'orders', data: readOrder(row.data) }
    case 'positions':
      return { ...common, topic: 'positions', data: readPositions(row.data) }
    case 'balances':
      return { ...common, topic: 'balances', data: readBalance(row.data) }
  }
}
