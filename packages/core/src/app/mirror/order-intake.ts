import type { Account, Connection } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { AccountId, ClOrdId, OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { tradingDay } from '../../domain/timestamp.ts'
import type { OrderReport } from '../../ports/broker.ts'
import type { AuditEntry } from '../../ports/store.ts'
import { setBounded } from '../bounded-map.ts'
import type { Deps } from '../deps.ts'
import type { ReportMethod } from '../execution/apply-report.ts'
import { applyReport } from '../execution/apply-report.ts'
import type { OrderReports } from '../execution/order-reports.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import type { Reconciliation } from '../execution/reconciliation.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import type { UntaggedOrders } from './untagged-orders.ts'

const KNOWN_MAX = 50_000

/** Matches reports of a broker to orders; an order placed elsewhere is adopted as an external order. */
export class OrderIntake {
  readonly #deps: Pick<Deps, 'store' | 'clock' | 'ids' | 'brokers'>
  readonly #orderWriter: OrderWriter
  readonly #reports: OrderReports
  readonly #reconciliation: Reconciliation
  readonly #untagged: UntaggedOrders
  /** Orders by the broker's ids. A cache only: misses are looked up in the store. */
  readonly #known = new Map<string, OrderId>()
  readonly #refusals = new KeyedQueue<AccountId>()
  /** By account and the broker's order id. */
  readonly #reported = new KeyedQueue<string>()

  constructor(
    deps: Pick<Deps, 'store' | 'clock' | 'ids' | 'brokers'>,
    parts: {
      readonly orderWriter: OrderWriter
      readonly reports: OrderReports
      readonly reconciliation: Reconciliation
      readonly untagged: UntaggedOrders
    }
  ) {
    this.#deps = deps
    this.#orderWriter = parts.orderWriter
    this.#reports = parts.reports
    this.#reconciliation = parts.reconciliation
    this.#untagged = parts.untagged
  }

  /** Registers the order of a client order id at the broker, before any report of it can arrive. */
  expect(accountId: AccountId, brokerClOrdId: string, orderId: OrderId): void {
    setBounded(this.#known, `${accountId} c ${brokerClOrdId}`, orderId, KNOWN_MAX)
  }

  /**
   * Takes reports of one order in the order in which they come, so that the first of them, which makes the order known, is not applied
   * after the next. `isWhole`: the report comes with everything else that the broker shows of the account, so that orders left unmatched
   * were placed elsewhere.
   */
  take(
    connection: Connection,
    account: Account,
    report: OrderReport,
    method: ReportMethod,
    isWhole: boolean = method !== 'stream'
  ): Promise<void> {
    return this.#reported.run(`${account.accountId} ${report.brokerOrderId}`, () =>
      this.#take(connection, account, report, method, isWhole)
    )
  }

  async #take(connection: Connection, account: Account, report: OrderReport, method: ReportMethod, isWhole: boolean): Promise<void> {
    const known = await this.#find(account.accountId, report)
    if (known === null && !isWhole && (await this.#isSuspected(connection, account, report))) return
    // A command that was in flight when the order was still unknown here has been answered by now.
    const orderId = known ?? (await this.#unclaimed(connection, account, report, method))
    const order = orderId === null ? null : await this.#reports.applyReport(orderId, report, method)
    if (order !== null) this.#reconciliation.schedule({ connection, account, order })
  }

  /**
   * Whether the report may be about an order of ours whose answer was lost. Then a full snapshot decides soon, and this report is not
   * needed.
   */
  async #isSuspected(connection: Connection, account: Account, report: OrderReport): Promise<boolean> {
    if (!this.#untagged.areOf(connection)) return false
    const suspects = await this.#untagged.suspects(account, report)
    if (suspects.length === 0 || (await this.#find(account.accountId, report)) !== null) return false
    for (const order of suspects) this.#reconciliation.schedule({ connection, account, order })
    return true
  }

  /** Null if it is not to be adopted, or not yet. */
  async #unclaimed(connection: Connection, account: Account, report: OrderReport, method: ReportMethod): Promise<OrderId | null> {
    if (!this.#untagged.areOf(connection))
      return (await this.#find(account.accountId, report)) ?? (await this.#adopt(connection, account, report))
    // One at a time, so that two reports are not matched to the same refused order.
    const refused = await this.#refusals.run(account.accountId, async () => {
      const known = await this.#find(account.accountId, report)
      if (known !== null) return known
      const refusal = await this.#untagged.refusal(account, report)
      if (refusal.kind !== 'same') return refusal.kind
      await this.#reports.applyReport(refusal.order.orderId, report, method)
      return refusal.order.orderId
    })
    if (refused === 'none') return await this.#adopt(connection, account, report)
    return refused === 'undecided' ? null : refused
  }

  async #find(accountId: AccountId, { brokerOrderId, brokerClOrdId }: OrderReport): Promise<OrderId | null> {
    const byOrderId = `${accountId} o ${brokerOrderId}`
    const known = this.#known.get(byOrderId)
    if (known !== undefined) return known
    const named = brokerClOrdId === null ? undefined : this.#known.get(`${accountId} c ${brokerClOrdId}`)
    const { orders } = this.#deps.store
    const found = named ?? (await orders.findByBrokerIds(accountId, { brokerOrderId, brokerClOrdId }))?.orderId ?? null
    const isAnothers = found !== null && (await this.#isOnlyNamedAlike(found, brokerOrderId))
    const orderId = isAnothers
      ? ((await orders.findByBrokerIds(accountId, { brokerOrderId, brokerClOrdId: null }))?.orderId ?? null)
      : found
    if (orderId !== null) setBounded(this.#known, byOrderId, orderId, KNOWN_MAX)
    return orderId
  }

  /** If client order ids are labels only, another client may use one of ours: an order known under another broker order id is not meant. */
  async #isOnlyNamedAlike(orderId: OrderId, brokerOrderId: string): Promise<boolean> {
    const order = await this.#orderWriter.find(orderId)
    if (order === null || order.brokerOrderId === null || order.brokerOrderId === brokerOrderId) return false
    return this.#deps.brokers.get(order.broker)?.capabilities.deduplication === 'label'
  }

  /**
   * Adopts an order placed elsewhere. Its client order id is the broker order id; the store's unique index lets it be adopted once only.
   * Null if the account is gone.
   */
  async #adopt(connection: Connection, account: Account, report: OrderReport): Promise<OrderId | null> {
    const { brokerOrderId } = report
    // The user may have given another order that id today, or see the same order through a second login.
    for (const name of [brokerOrderId, `${brokerOrderId}@${account.accountId.slice(-12)}`]) {
      const adopted = await this.#open(connection, account, report, name)
      if (adopted !== 'duplicate') return adopted
      // A concurrent report of the same order has adopted it; this report is still to be applied.
      const known = await this.#find(account.accountId, report)
      if (known !== null) return known
    }
    throw new Error(`the broker’s order ${brokerOrderId} cannot be adopted: both its names are taken`)
  }

  async #open(connection: Connection, account: Account, report: OrderReport, name: string): Promise<OrderId | null | 'duplicate'> {
    const now = this.#deps.clock.now()
    const made = { orderId: this.#deps.ids.uuid<OrderId>(), clOrdId: name as ClOrdId, now }
    const { order } = applyReport(external(connection, account, report, made), report, 'snapshot', now)
    const audit: AuditEntry = {
      at: now,
      actor: 'service',
      action: 'order.adopt',
      target: order.orderId,
      result: 'ok',
      ip: null,
      requestId: null,
      detail: { broker: connection.broker, brokerOrderId: report.brokerOrderId }
    }
    try {
      await this.#orderWriter.open(order, audit)
      return order.orderId
    } catch (cause) {
      if (cause instanceof ServiceError && cause.code === 'cl_order_id_duplicate') return 'duplicate'
      if (cause instanceof ServiceError && cause.code === 'account_not_found') return null
      throw cause
    }
  }
}

function external(
  connection: Connection,
  account: Account,
  report: OrderReport,
  { orderId, clOrdId, now }: { readonly orderId: OrderId; readonly clOrdId: ClOrdId; readonly now: Order['systemTime'] }
): Order {
  const { side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs } = report
  return {
    ...{ side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs },
    orderId,
    clOrdId,
    tradingDay: tradingDay(report.entryTime),
    platformId: connection.platformId,
    userKey: connection.userKey,
    userId: connection.userId,
    connectionId: connection.connectionId,
    accountId: account.accountId,
    accountNumber: account.accountNumber,
    broker: connection.broker,
    // Every status can be reached from `working`. What happened to the order before is not recorded.
    status: report.status === 'pending' ? 'pending' : 'working',
    submission: { state: 'external', since: now, attempts: 0, method: 'snapshot' },
    pendingRequest: null,
    brokerClOrdId: report.brokerClOrdId ?? report.brokerOrderId,
    brokerOrderId: report.brokerOrderId,
    brokerStatus: null,
    brokerMessage: null,
    rejectCode: null,
    brokerOrderType: null,
    execDest: null,
    fills: [],
    entryTime: report.entryTime,
    lastExecTime: null,
    lastModifiedTime: report.updatedAt,
    systemTime: now,
    replacesOrderId: null,
    replacedByOrderId: null,
    previouslyFilledQuantity: null,
    revision: 1
  }
}
