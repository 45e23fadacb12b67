// Slots of stream sessions, counted over all nodes in the database, by its clock.
import type { StreamSlot, StreamSlotStore } from '@trunkline/core/ports/store'
import type { Session } from './session.ts'

const TAKE = `/* writes */ select take_stream_slot($1, $2, $3, $4, $5, $6 * interval '1 millisecond') as taken`

const SWEEP = `delete from stream_slots where session_id in (
  select session_id from stream_slots where expires_at <= clock_timestamp() - interval '10 minutes' limit 1000 for update skip locked)`

const FREE_LOST = `delete from stream_slots where session_id in (
  select session_id from stream_slots join members on members.node_id::text = stream_slots.node_id
  where lease_ends_at <= clock_timestamp() limit 1000 for update of stream_slots skip locked) returning session_id`

export class SqlStreamSlotStore implements StreamSlotStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async take(slot: StreamSlot, limit: number, ttlMs: number): Promise<boolean> {
    if (await this.#take(slot, limit, ttlMs)) return true
    // The sessions of a lost node have ended with its lease; only their slots are left.
    const freed = await this.#session.statement(FREE_LOST, [])
    return freed.length > 0 && (await this.#take(slot, limit, ttlMs))
  }

  async #take({ platformId, keyId, sessionId, nodeId }: StreamSlot, limit: number, ttlMs: number): Promise<boolean> {
    const [row] = await this.#session.statement<{ taken: boolean }>(TAKE, [platformId, keyId, sessionId, nodeId, limit, ttlMs])
    return row?.taken ?? false
  }

  async renew(nodeId: string, ttlMs: number): Promise<readonly string[]> {
    const rows = await this.#session.statement<{ session_id: string }>(
      `update stream_slots set expires_at = clock_timestamp() + $2 * interval '1 millisecond' where node_id = $1 returning session_id`,
      [nodeId, ttlMs]
    )
    // Slots of dead nodes for unused keys: no other session would remove their rows.
    await this.#session.statement(SWEEP, [])
    return rows.map(row => row.session_id)
  }

  async release(sessionId: string): Promise<void> {
    await this.#session.statement('delete from stream_slots where session_id = $1', [sessionId])
  }
}
