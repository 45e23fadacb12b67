import type { OrderId, UserKey } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { type Broker, BrokerFault, type OrderKey, type OrderReport } from '../../ports/broker.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderGateway } from '../execution/order-gateway.ts'
import type { OrderReports } from '../execution/order-reports.ts'
import {
  acknowledged,
  awaitsAnswer,
  failureOf,
  notReceived,
  refused,
  type SubmissionFailure,
  submissionUnknown
} from '../execution/order-steps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import { canTakeCancel, pendingAnswerOf, uncancelled } from '../execution/pending-answers.ts'
import type { Placed, Reconciler } from '../execution/reconciliation.ts'
import type { TakenRequests } from '../execution/taken-requests.ts'
import type { OrderSnapshots } from '../mirror/order-snapshots.ts'
import { isOwned } from '../owned-users.ts'
import { limited } from '../time-limits.ts'
import { Absence, type Lookup, NEGATIVES_MIN, type Negatives } from './absence.ts'
import { type Cancels, RepeatedCancels } from './repeated-cancels.ts'

/** Rounds in which an order may be missing from the store: an unconfirmed commit may become visible late. */
const UNSEEN_ROUNDS = 5
const WATCHED_MAX = 50_000
/** Pauses after the quick look-ups: half a minute for ten minutes, then five minutes. */
const PATIENT_MS = 30_000
const PATIENT_FOR_MS = 600_000
const RARE_MS = 300_000

/** What the resolver works with. */
interface ResolverParts {
  readonly orderWriter: OrderWriter
  readonly gateway: OrderGateway
  readonly reports: OrderReports
  readonly commands: InFlightCommands
  readonly taken: TakenRequests
  readonly sessions: BrokerSessions
  readonly snapshots: OrderSnapshots
}

/** The results of the rounds so far. */
interface Progress {
  readonly negatives: Negatives
  readonly cancels: Cancels
}

/** The look-up rounds of one order. */
interface Watch {
  readonly userKey: UserKey
  /** Start of the watch, on the monotonic clock. */
  readonly since: number
  /** The last known {@link pendingAnswerOf} the order. */
  pendingAnswer: string
  /** The order now waits for another answer: the rounds start again. */
  isRenewed: boolean
  /** A waiting cancel can be sent now: the next round starts at once. */
  isUrgent: boolean
  /** `watch` was called since the order was last read. */
  isWanted: boolean
  wake: () => void
  ended: Promise<void>
}

/**
 * Finds the outcome of orders with a pending answer: submissions of unknown outcome, and cancels and replaces that are not decided. It
 * looks orders up and never sends one again. Only cancels are sent again, because a repeated cancel adds no risk.
 */
export class Resolver implements Reconciler {
  readonly #deps: Pick<Deps, 'clock' | 'log' | 'meter' | 'timing' | 'brokers' | 'ownership'>
  readonly #parts: ResolverParts
  readonly #absence: Absence
  readonly #cancels: RepeatedCancels
  readonly #watched = new Map<OrderId, Watch>()
  readonly #stopping = new AbortController()

  constructor(deps: Pick<Deps, 'clock' | 'log' | 'meter' | 'timing' | 'brokers' | 'ownership'>, parts: ResolverParts) {
    this.#deps = deps
    this.#parts = parts
    this.#absence = new Absence(deps, parts)
    this.#cancels = new RepeatedCancels(deps, parts)
  }

  /**
   * Watches an order until its outcome is known. Watching it again does nothing, unless it now waits for another answer: then the rounds
   * start again. Beyond `WATCHED_MAX` the order is left to the mirror's next snapshot.
   */
  watch(placed: Placed): void {
    const { orderId, userKey } = placed.order
    if (this.#stopping.signal.aborted || !isOwned(this.#deps.ownership, userKey)) return
    const known = this.#watched.get(orderId)
    const pendingAnswer = pendingAnswerOf(placed.order)
    if (known !== undefined) {
      known.isWanted = true
      if (known.pendingAnswer !== pendingAnswer) {
        Object.assign(known, { pendingAnswer, isRenewed: true, isUrgent: canTakeCancel(placed.order) })
        known.wake()
      }
      return
    }
    if (this.#watched.size >= WATCHED_MAX) {
      this.#deps.log.error('too many unresolved orders: this one waits for the account’s next snapshot', { orderId })
      return
    }
    const watch: Watch = {
      userKey,
      pendingAnswer,
      isRenewed: false,
      isUrgent: canTakeCancel(placed.order),
      isWanted: false,
      since: this.#deps.clock.monotonicMs(),
      wake: () => undefined,
      ended: Promise.resolve()
    }
    this.#watched.set(orderId, watch)
    watch.ended = this.#resolve(placed, watch)
      .catch(cause => {
        if (!this.#stopping.signal.aborted) this.#deps.log.error('resolving an order failed', { orderId, cause })
      })
      .finally(() => {
        if (this.#watched.get(orderId) === watch) this.#watched.delete(orderId)
      })
  }

  /** How long the order has been watched, on the monotonic clock; null: it is not. */
  watchedMs(orderId: OrderId): number | null {
    const watch = this.#watched.get(orderId)
    return watch === undefined ? null : this.#deps.clock.monotonicMs() - watch.since
  }

  get watched(): number {
    return this.#watched.size
  }

  /** Ends the watches of orders whose user this node does not own any more. */
  async endUnowned(): Promise<void> {
    const left = [...this.#watched.values()].filter(({ userKey }) => !isOwned(this.#deps.ownership, userKey))
    for (const { wake } of left) wake()
    await Promise.all(left.map(({ ended }) => ended))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#watched.values()].map(({ ended }) => ended))
  }

  async #resolve(placed: Placed, watch: Watch): Promise<void> {
    const { orderId } = placed.order
    const start = this.#deps.clock.monotonicMs()
    let progress = begun(orderId, start)
    for (let round = 0; ; round += 1) {
      await this.#sleep(watch, this.#pause(round, start, placed.order, progress.negatives))
      // The next owner looks it up.
      if (!isOwned(this.#deps.ownership, placed.order.userKey)) return
      if (watch.isRenewed) {
        watch.isRenewed = false
        progress = begun(orderId, this.#deps.clock.monotonicMs())
        round = -1
        if (!watch.isUrgent) continue
      }
      watch.isUrgent = false
      try {
        // In later rounds, which are rare, read the row again: another node may have changed or removed it.
        if (round >= this.#deps.timing.lookupPausesMs.length) this.#parts.orderWriter.forget(orderId)
        if (await this.#isOver(orderId, watch, { round, start })) return
        progress = await this.#round(placed, progress)
        if (await this.#isOver(orderId, watch, { round, start })) return
      } catch (cause) {
        if (this.#stopping.signal.aborted) throw cause
        await this.#markUnknown(orderId).catch(() => undefined)
        if (await this.#failed(placed, cause)) return
      }
    }
  }

  /** Whether no answer is pending any more. If so, the watch is removed in the same step, so that no call of `watch` is lost in between. */
  async #isOver(orderId: OrderId, watch: Watch, { round, start }: { readonly round: number; readonly start: number }): Promise<boolean> {
    let order: Order | null
    do {
      watch.isWanted = false
      order = await this.#parts.orderWriter.find(orderId)
    } while (watch.isWanted)
    const isOver = order === null ? round >= UNSEEN_ROUNDS : !awaitsAnswer(order)
    if (isOver) this.#watched.delete(orderId)
    if (isOver && order !== null) this.#report(order, start)
    return isOver
  }

  async #round(placed: Placed, { negatives, cancels }: Progress): Promise<Progress> {
    const order = await this.#parts.orderWriter.find(placed.order.orderId)
    if (order === null) return { negatives, cancels }
    const present = { ...placed, order }
    const seen = await this.#look(this.#parts.sessions.get(placed.connection), present, negatives, cancels)
    await this.#markUnknown(order.orderId)
    // A broker that reports the cancel as pending needs no second one.
    const isUnderWay = seen.status === 'pending_cancel'
    return { negatives: seen.negatives, cancels: isUnderWay ? cancels : await this.#cancels.sendAgain(present, cancels) }
  }

  /** A submission that is not in flight and that a look-up has not settled is of unknown outcome, even if that look-up failed. */
  async #markUnknown(orderId: OrderId): Promise<void> {
    const order = await this.#parts.orderWriter.find(orderId)
    if (order?.submission.state !== 'submitting' || this.#parts.commands.isSending(order)) return
    const at = this.#deps.clock.now()
    await this.#parts.orderWriter.change(orderId, present => submissionUnknown(present, 'recovery', at))
  }

  /** A failed look-up proves nothing, and a failing store may recover: the watch goes on, unless the connection is broken. */
  async #failed({ connection, order }: Placed, cause: unknown): Promise<boolean> {
    if (cause instanceof BrokerFault) {
      this.#deps.meter.count('broker_faults_total', { broker: order.broker, kind: cause.kind })
    } else {
      this.#deps.log.error('a round of resolving an order failed', { orderId: order.orderId, cause })
    }
    return await this.#parts.sessions.reportFault(connection, cause).catch(() => false)
  }

  /** Sleeps until the next round is due or the watch is woken. @throws the abort reason of `stop`. */
  async #sleep(watch: Watch, ms: number): Promise<void> {
    // The user may have moved on during the last round, when nothing was asleep to be woken.
    if (watch.isUrgent || watch.isRenewed || !isOwned(this.#deps.ownership, watch.userKey)) return
    const woken = new AbortController()
    watch.wake = () => woken.abort()
    const either = AbortSignal.any([this.#stopping.signal, woken.signal])
    await this.#deps.clock.sleep(ms, either).catch(() => this.#stopping.signal.throwIfAborted())
  }

  async #look(session: Broker, placed: Placed, negatives: Negatives, cancels: Cancels): Promise<Seen> {
    const { account, order } = placed
    const { brokerAccountId } = account
    const { brokerOrderId, brokerClOrdId } = order
    const { deduplication, replacedOrderId } = session.capabilities
    if (brokerOrderId === null && (deduplication === 'none' || (order.replacesOrderId !== null && replacedOrderId === 'same'))) {
      if (deduplication === 'none') await this.#matchUntagged(placed)
      if (order.replacesOrderId === null) return { status: null, negatives }
      return { status: null, negatives: await this.#lookThroughPredecessor(session, placed, negatives) }
    }
    const key =
      brokerOrderId === null ? ({ by: 'brokerClOrdId', brokerClOrdId } as const) : ({ by: 'brokerOrderId', brokerOrderId } as const)
    const isUncancelled = this.#cancels.isUncancelled(order, cancels)
    const { found, ...seen } = await this.#find(session, { brokerAccountId, ...key })
    const status = found?.status ?? null
    if (found !== null) await this.#parts.reports.applyReport(order.orderId, isUncancelled ? uncancelled(found) : found, 'lookup')
    if (order.status === 'pending_replace') return { status, negatives: await this.#lookForSuccessor(session, placed, negatives, seen) }
    if (found !== null || acknowledged(order)) return { status, negatives }
    const next = this.#absence.counted(order, seen, negatives)
    const absent = await this.#absence.failureOf(order, next)
    if (absent !== null) await this.#end(session, placed, absent)
    return { status, negatives: next }
  }

  /** For brokers that cannot find by our ids: a full snapshot of the account gives the order what is its. @throws BrokerFault */
  async #matchUntagged({ connection, account }: Placed): Promise<void> {
    const { sessions, snapshots } = this.#parts
    await snapshots.shared(sessions.get(connection), connection, account, this.#stopping.signal)
  }

  /** Ends an order that the broker does not have. The order that it was to replace is looked up first, because it may have filled. */
  async #end(session: Broker, placed: Placed, failure: SubmissionFailure): Promise<void> {
    const { orderId, replacesOrderId } = placed.order
    const at = this.#deps.clock.now()
    const before = replacesOrderId === null ? null : await this.#parts.orderWriter.find(replacesOrderId)
    if (before === null) {
      await this.#parts.orderWriter.change(orderId, present => refused(present, failure, at))
      return
    }
    const { brokerOrderId } = before
    if (isOpen(before.status) && brokerOrderId !== null) {
      const { brokerAccountId } = placed.account
      const { found } = await this.#find(session, { by: 'brokerOrderId', brokerAccountId, brokerOrderId })
      if (found !== null) await this.#parts.reports.applyReport(before.orderId, found, 'lookup')
    }
    await this.#abandon(placed, before.orderId, orderId, failure)
  }

  async #lookForSuccessor(session: Broker, placed: Placed, negatives: Negatives, before: Lookup): Promise<Negatives> {
    const { account, order } = placed
    const successorId = order.pendingRequest?.successorId ?? null
    const successor = successorId === null ? null : await this.#parts.orderWriter.find(successorId)
    if (successor === null) return negatives
    const failure = failureOf(successor)
    if (failure !== null) {
      await this.#abandon(placed, order.orderId, successor.orderId, failure)
      return negatives
    }
    const { replacedOrderId, deduplication } = session.capabilities
    if (replacedOrderId === 'new' && deduplication === 'none') await this.#matchUntagged(placed)
    // The look-up before this found the order unreplaced; otherwise it would be replaced by now.
    if (replacedOrderId === 'same' || deduplication === 'none') return this.#unchanged(placed, successor, before, negatives)
    const key = { by: 'brokerClOrdId', brokerAccountId: account.brokerAccountId, brokerClOrdId: successor.brokerClOrdId } as const
    const { found, ...seen } = await this.#find(session, key)
    if (found !== null) {
      await this.#parts.reports.completeReplacement(order.orderId, successor.orderId, found, 'lookup')
      await this.#takeUpCancels(placed, [order.orderId, successor.orderId])
      return negatives
    }
    const next = this.#absence.counted(successor, seen, negatives)
    const absent = await this.#absence.failureOf(successor, next)
    if (absent !== null) await this.#abandon(placed, order.orderId, successor.orderId, absent)
    return next
  }

  /** The outcome of a replacement that cannot be looked up itself: the order that it replaces shows it. */
  async #lookThroughPredecessor(session: Broker, placed: Placed, negatives: Negatives): Promise<Negatives> {
    const { connection, account, order } = placed
    const before = order.replacesOrderId === null ? null : await this.#parts.orderWriter.find(order.replacesOrderId)
    if (before === null || before.brokerOrderId === null) return negatives
    if (before.status === 'pending_replace' && before.pendingRequest?.successorId === order.orderId) {
      const seen = await this.#look(session, { connection, account, order: before }, negatives, { count: 0, lastAt: 0 })
      return seen.negatives
    }
    // The old order ended, or works on under its old terms: the replacement did not happen.
    if (before.replacedByOrderId !== order.orderId) await this.#abandon(placed, before.orderId, order.orderId, notReceived('modification'))
    return negatives
  }

  /** The broker shows the order under its old terms. Enough such answers, long enough after the request, prove that it was not replaced. */
  async #unchanged(placed: Placed, successor: Order, seen: Lookup, negatives: Negatives): Promise<Negatives> {
    const { order } = placed
    const present = await this.#parts.orderWriter.find(order.orderId)
    if (present?.status !== 'pending_replace') return negatives
    const next = this.#absence.counted(successor, seen, negatives)
    const absent = await this.#absence.failureOf(successor, next)
    if (absent !== null) await this.#abandon(placed, order.orderId, successor.orderId, absent)
    return next
  }

  /** Sends a cancel that was requested during the replacement, now for the order that remains. */
  async #takeUpCancels(placed: Placed, orderIds: readonly OrderId[]): Promise<void> {
    for (const orderId of orderIds) {
      const order = await this.#parts.orderWriter.find(orderId)
      if (order !== null && canTakeCancel(order)) this.watch({ ...placed, order })
    }
  }

  async #abandon(placed: Placed, oldId: OrderId, successorId: OrderId, failure: SubmissionFailure): Promise<void> {
    await this.#parts.reports.abandonReplacement(oldId, successorId, failure)
    await this.#takeUpCancels(placed, [oldId, successorId])
  }

  /** The pause before the next round. While an absence can still be proved, it is short enough to prove it in time. */
  #pause(round: number, start: number, order: Order, negatives: Negatives): number {
    const { lookupPausesMs: quick, settleMs } = this.#deps.timing
    const elapsed = this.#deps.clock.monotonicMs() - start
    const pause = quick[round] ?? (elapsed < PATIENT_FOR_MS ? Math.min(PATIENT_MS, quick.at(-1) ?? PATIENT_MS) : RARE_MS)
    const absenceMs = this.#absence.provedMs(order)
    if (absenceMs === null || (negatives.count === 0 && elapsed > settleMs + 2 * absenceMs)) return pause
    return Math.min(pause, absenceMs / NEGATIVES_MIN)
  }

  #report({ orderId, broker }: Order, start: number): void {
    const seconds = (this.#deps.clock.monotonicMs() - start) / 1_000
    this.#deps.meter.count('orders_resolved_total', { broker })
    this.#deps.meter.observe('order_resolve_seconds', seconds)
    this.#deps.log.info('an order’s outcome is known', { orderId, seconds })
  }

  async #find(session: Broker, key: OrderKey): Promise<Lookup & { readonly found: OrderReport | null }> {
    const { clock, timing } = this.#deps
    const requestedMs = clock.monotonicMs()
    return { requestedMs, ...(await limited(clock, timing.readMs, signal => session.findOrder(key, signal), this.#stopping.signal)) }
  }
}

/** The result of one round: the status that the broker reports of the order itself, null if none. */
interface Seen {
  readonly status: OrderReport['status'] | null
  readonly negatives: Negatives
}

function begun(orderId: OrderId, at: number): Progress {
  return { negatives: { of: orderId, count: 0, since: at }, cancels: { count: 0, lastAt: at } }
}
