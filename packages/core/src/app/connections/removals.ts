// What removing a connection and removing a user have in common: the handling of their orders.
import type { Connection } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ConnectionId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { AuditEntry, RemovalAudit } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import { awaitsBroker } from '../execution/pending-answers.ts'

/** How long a removal waits for pending answers about its orders. Then it proceeds, because removing is the user's right. */
export const REMOVAL_WAITS_MS = 10_000
const PAUSE_MS_MIN = 50
const PAUSE_MS_MAX = 1_000

/** An order of the removal still has a pending answer. */
class AnswersOutstanding extends Error {
  override readonly name = 'AnswersOutstanding'
}

/** One removal: its connections, and its audit entry, to which the number of open orders is added. */
export interface Removal {
  readonly connections: readonly Connection[]
  readonly entry: () => AuditEntry
}

/**
 * Removes connections without losing track of orders. From the start of a removal, no new order is accepted for them. The removal then
 * waits for the brokers' answers, {@link REMOVAL_WAITS_MS} at most. Each order whose outcome is still unknown gets an entry in the audit
 * log and raises an alarm.
 */
export class Removals {
  readonly #deps: Pick<Deps, 'clock' | 'log' | 'meter'>
  readonly #commands: InFlightCommands
  /** Connections that are being removed, each with the number of requests doing so. */
  readonly #underWay = new Map<ConnectionId, number>()

  constructor(deps: Pick<Deps, 'clock' | 'log' | 'meter'>, commands: InFlightCommands) {
    this.#deps = deps
    this.#commands = commands
  }

  /** Call before a new order. @throws ServiceError account_not_found while the connection is being removed. */
  demandStaying({ connectionId }: Connection): void {
    if (this.#underWay.has(connectionId))
      throw new ServiceError('account_not_found', 'The account is being removed by another request; it takes no new orders.')
  }

  /** Runs `remove`, which receives the audit entries to write and may be called again. @throws what `remove` throws. */
  async carryOut<T>({ connections, entry }: Removal, remove: (audit: RemovalAudit) => Promise<T>): Promise<T> {
    const ids = connections.map(({ connectionId }) => connectionId)
    for (const id of ids) this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1)
    try {
      return await this.#carryOut({ connections, entry }, remove)
    } finally {
      for (const id of ids) {
        const left = (this.#underWay.get(id) ?? 1) - 1
        if (left === 0) this.#underWay.delete(id)
        else this.#underWay.set(id, left)
      }
    }
  }

  async #carryOut<T>({ connections, entry }: Removal, remove: (audit: RemovalAudit) => Promise<T>): Promise<T> {
    const start = this.#deps.clock.monotonicMs()
    const active = new Set(connections.filter(({ status }) => status === 'ACTIVE').map(({ connectionId }) => connectionId))
    for (let pause = PAUSE_MS_MIN; ; pause = Math.min(2 * pause, PAUSE_MS_MAX)) {
      const leftMs = REMOVAL_WAITS_MS - (this.#deps.clock.monotonicMs() - start)
      let abandoned: readonly Order[] = []
      try {
        const removed = await remove(open => {
          abandoned = open.filter(awaitsBroker)
          if (leftMs > 0 && abandoned.some(order => active.has(order.connectionId) || this.#commands.isUnderWay(order)))
            throw new AnswersOutstanding('a broker has yet to answer')
          return entriesOf(entry(), open, abandoned)
        })
        for (const order of abandoned) this.#alarm(order)
        return removed
      } catch (cause) {
        if (!(cause instanceof AnswersOutstanding)) throw cause
      }
      await this.#deps.clock.sleep(Math.min(pause, leftMs))
    }
  }

  #alarm({ orderId, connectionId, broker, brokerOrderId, submission, pendingRequest }: Order): void {
    this.#deps.meter.count('order_alarms_total', { broker, alarm: 'abandoned' })
    this.#deps.log.error(
      'ALARM: a connection was removed while the outcome of one of its orders was unknown; look the order up at the broker',
      {
        ...{ orderId, connectionId, broker, brokerOrderId },
        ...{ submission: submission.state, pendingRequest: pendingRequest?.kind ?? null }
      }
    )
  }
}

function entriesOf(entry: AuditEntry, open: readonly Order[], abandoned: readonly Order[]): readonly AuditEntry[] {
  const counts = { open_orders: open.length, abandoned_orders: abandoned.length }
  return [{ ...entry, detail: { ...entry.detail, ...counts } }, ...abandoned.map(order => abandonment(entry, order))]
}

/** Everything needed to find the order in the broker's records, because its own record is erased. */
function abandonment(entry: AuditEntry, order: Order): AuditEntry {
  const { clOrdId, connectionId, broker, accountNumber, brokerOrderId, brokerClOrdId, submission, pendingRequest } = order
  const { side, quantity, notional, symbol, legs, type, limitPrice, stopPrice, tif, entryTime } = order
  return {
    ...entry,
    action: 'order.abandoned',
    target: order.orderId,
    detail: {
      ...{ cl_order_id: clOrdId, connection_id: connectionId, broker, account_number: accountNumber },
      ...{ broker_order_id: brokerOrderId, broker_cl_ord_id: brokerClOrdId, entry_time: entryTime },
      ...{ submission: submission.state, pending_request: pendingRequest?.kind ?? null },
      ...{ side, quantity, notional, symbol: symbol ?? (legs ?? []).map(leg => leg.symbol).join(' ') },
      ...{ type, limit_price: limitPrice, stop_price: stopPrice, tif }
    }
  }
}
