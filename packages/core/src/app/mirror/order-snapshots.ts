import type { Account, Connection } from '../../domain/account.ts'
import type { AccountId } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { epochMs, type Timestamp, timestampOfMs } from '../../domain/timestamp.ts'
import { type Broker, BrokerFault } from '../../ports/broker.ts'
import type { Deps } from '../deps.ts'
import { awaitsAnswer } from '../execution/order-steps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import type { Reconciliation } from '../execution/reconciliation.ts'
import { limited } from '../time-limits.ts'
import type { OrderIntake } from './order-intake.ts'
import type { UntaggedOrders } from './untagged-orders.ts'

/** How far before the last confirmation a snapshot reaches back, to allow for differing clocks. */
const OVERLAP_MS = 3_600_000

interface Parts {
  readonly intake: OrderIntake
  readonly orderWriter: OrderWriter
  readonly reconciliation: Reconciliation
  readonly untagged: UntaggedOrders
}

/** Full snapshots of an account's orders, of which only the differences are stored. */
export class OrderSnapshots {
  readonly #deps: Pick<Deps, 'store' | 'clock' | 'meter' | 'timing'>
  readonly #parts: Parts
  readonly #shared = new Map<AccountId, Promise<boolean>>()

  constructor(deps: Pick<Deps, 'store' | 'clock' | 'meter' | 'timing'>, parts: Parts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Reads the account's orders and applies them. Returns whether the broker lists open orders, or may have some. @throws BrokerFault */
  async take(session: Broker, connection: Connection, account: Account, stopping: AbortSignal): Promise<boolean> {
    const { store, clock, timing } = this.#deps
    const before = await store.orders.unfinished({ accountId: account.accountId })
    const { orders } = await store.accounts.freshness(account.accountId)
    const since = sinceWhen(connection, { confirmed: orders, now: clock.now() }, before)
    const list = (signal: AbortSignal) => session.orders(account.brokerAccountId, since, signal)
    const snapshot = await limited(clock, timing.commandMs, list, stopping)
    const isWhole = !this.#parts.untagged.areOf(connection) || (await this.#parts.untagged.claim(account, snapshot, stopping))
    for (const report of snapshot.items) await this.#parts.intake.take(connection, account, report, 'snapshot', isWhole)
    const listed = new Set(snapshot.items.map(({ brokerOrderId }) => brokerOrderId))
    let unanswered: BrokerFault | null = null
    for (const order of before) {
      if (order.brokerOrderId !== null && !listed.has(order.brokerOrderId))
        unanswered = (await this.#lookUp(session, connection, account, order, stopping)) ?? unanswered
      // An order with a pending answer must not stay without a look-up, whatever prevented it so far.
      const present = awaitsAnswer(order) ? await this.#parts.orderWriter.find(order.orderId) : null
      if (present !== null) this.#parts.reconciliation.schedule({ connection, account, order: present })
    }
    if (unanswered !== null) throw unanswered
    await store.orders.confirmed(account, snapshot.asOf)
    return snapshot.leftOut !== undefined || snapshot.items.some(({ status }) => isOpen(status))
  }

  /** Like {@link take}; concurrent callers share one snapshot, so that many lost answers do not use up the broker's rate limit. */
  shared(session: Broker, connection: Connection, account: Account, stopping: AbortSignal): Promise<boolean> {
    const { accountId } = account
    const running = this.#shared.get(accountId)
    if (running !== undefined) return running
    const taking = this.take(session, connection, account, stopping).finally(() => this.#shared.delete(accountId))
    this.#shared.set(accountId, taking)
    return taking
  }

  /**
   * Looks up an open order that the list lacks, because its absence from a list proves nothing. Returns the fault if the broker must be
   * called again; a fault about this one order would only repeat. @throws BrokerFault credentials_rejected
   */
  async #lookUp(
    session: Broker,
    connection: Connection,
    account: Account,
    order: Order,
    stopping: AbortSignal
  ): Promise<BrokerFault | null> {
    if (order.brokerOrderId === null) return null
    const key = { by: 'brokerOrderId', brokerAccountId: account.brokerAccountId, brokerOrderId: order.brokerOrderId } as const
    try {
      const { clock, timing } = this.#deps
      const { found } = await limited(clock, timing.readMs, signal => session.findOrder(key, signal), stopping)
      if (found !== null) await this.#parts.intake.take(connection, account, found, 'lookup')
      return null
    } catch (cause) {
      if (!(cause instanceof BrokerFault) || cause.kind === 'credentials_rejected') throw cause
      this.#deps.meter.count('broker_faults_total', { broker: connection.broker, kind: cause.kind })
      return cause.kind === 'unreachable' || cause.kind === 'rate_limited' ? cause : null
    }
  }
}

/** A confirmation in the future was dated before a clock was set back: its true time is unknown, so everything is read again. */
function sinceWhen(
  connection: Connection,
  { confirmed, now }: { readonly confirmed: Timestamp | null; readonly now: Timestamp },
  open: readonly Order[]
): Timestamp {
  const oldest = open.reduce<number>((time, order) => Math.min(time, epochMs(order.entryTime)), Number.POSITIVE_INFINITY)
  const isKnown = confirmed !== null && epochMs(confirmed) <= epochMs(now) + OVERLAP_MS / 2
  const from = isKnown ? epochMs(confirmed) - OVERLAP_MS : Math.min(epochMs(connection.createdAt), epochMs(now)) - 24 * OVERLAP_MS
  return timestampOfMs(Math.min(from, oldest))
}
