// Slots of market data sessions, counted over all nodes. Those of a node count while it is a living member.
import type { NodeId } from '@trunkline/core/domain/ids'
import type { Session } from './session.ts'

const TAKE = '/* writes */ select take_market_slot($1, $2, $3, $4) as taken'
const SWEEP = `delete from market_slots where session_id in (
  select session_id from market_slots where not exists (select from members where members.node_id = market_slots.node_id)
  limit 1000 for update skip locked)`

export class SqlMarketSlotStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  /** Takes one of the `limit` slots of the address; false if all are taken. */
  async take(sessionId: string, address: string, nodeId: NodeId, limit: number): Promise<boolean> {
    const [row] = await this.#session.statement<{ taken: boolean }>(TAKE, [sessionId, address, nodeId, limit])
    return row?.taken ?? false
  }

  async release(sessionIds: readonly string[]): Promise<void> {
    await this.#session.statement('delete from market_slots where session_id = any ($1)', [sessionIds])
  }

  /** Removes slots of nodes that are no members any more; they count for nothing. */
  async sweep(): Promise<void> {
    await this.#session.statement(SWEEP, [])
  }
}
