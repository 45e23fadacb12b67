// The nodes of the cluster, for a process that starts. What a node itself does with them: cluster/members.
import { sql } from 'kysely'
import type { Session } from './session.ts'

export class SqlMemberStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  /** The names of those whose lease has not ended, the oldest first. */
  async living(): Promise<readonly string[]> {
    const rows = await this.#session.read(db =>
      db.selectFrom('members').select('name').where(sql<boolean>`lease_ends_at > clock_timestamp()`).orderBy('joined_at').execute()
    )
    return rows.map(({ name }) => name)
  }
}
