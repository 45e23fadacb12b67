import type { Account, Connection } from '../../domain/account.ts'
import { minus } from '../../domain/decimal.ts'
import type { OrderId } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { epochMs } from '../../domain/timestamp.ts'
import { type Broker, BrokerFault, type OrderReport, type Outcome } from '../../ports/broker.ts'
import { setBounded } from '../bounded-map.ts'
import type { BrokerSessions } from '../connections/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import { limited } from '../limited.ts'
import { within } from '../within.ts'
import type { ReportMethod } from './apply-report.ts'
import { OrderReports } from './order-reports.ts'
import { acknowledged, awaitsAnswer, notSent, refusal, refused, type SubmissionFailure, submissionUnknown } from './order-steps.ts'
import type { OrderWriter } from './order-writer.ts'
import { requestName } from './pending-answers.ts'

/** An order with its account and connection. */
export interface Placed {
  readonly connection: Connection
  readonly account: Account
  readonly order: Order
}

/** Most orders with a noted acceptance. Beyond it the oldest is dropped; its time then starts again, and the order is waited for longer. */
const TAKEN_MAX = 50_000

type GatewayDeps = Pick<Deps, 'store' | 'clock' | 'log' | 'meter' | 'timing' | 'brokers'>

/**
 * Sends orders to brokers and applies their answers. Each command is sent once. Its outcome is accepted, refused by the broker, not sent,
 * or unknown. An unknown outcome goes to the listener of {@link onUnresolved}; the order keeps its status.
 */
export class OrderGateway {
  readonly #deps: GatewayDeps
  readonly #orderWriter: OrderWriter
  readonly #sessions: BrokerSessions
  readonly #reports: OrderReports
  /** The newest command by kind and order. A replace is keyed by its successor. */
  readonly #inFlight = new Map<string, Promise<Order | null>>()
  /** Every command without an answer yet, including those that a newer one has superseded in `#inFlight`. */
  readonly #running = new Set<Promise<Order | null>>()
  /** Pending cancels and replaces that the broker has accepted: which request, and when it was accepted (monotonic clock). */
  readonly #taken = new Map<OrderId, { readonly request: string; readonly atMs: number }>()
  /** Accepted cancels of orders in `pending_replace`: the `cancelRequestedAt` of each. */
  readonly #stopped = new Map<OrderId, string>()
  readonly #startMs: number
  #unresolved: (placed: Placed) => void = () => undefined

  constructor(deps: GatewayDeps, orderWriter: OrderWriter, sessions: BrokerSessions) {
    this.#deps = deps
    this.#startMs = deps.clock.monotonicMs()
    this.#orderWriter = orderWriter
    this.#sessions = sessions
    this.#reports = new OrderReports(deps, orderWriter)
  }

  /** Sets the listener for orders of unknown outcome. Call it once, before the first command. */
  onUnresolved(listener: (placed: Placed) => void): void {
    this.#unresolved = listener
  }

  /** Sends a stored order. Returns its newest state after the broker's answer, or after `answerWithinMs` without one. */
  submit(placed: Placed): Promise<Order> {
    return this.#command(placed, { kind: 'submit', of: placed.order, isNew: false }, (session, signal) => {
      const { order, account } = placed
      return this.#timed(() => session.submit({ ...order, brokerAccountId: account.brokerAccountId }, signal))
    })
  }

  /**
   * Sends the cancel of an order in `pending_cancel`. Concurrent calls for the same request share one send and its result. With `isNew` the
   * cancel is sent even if an earlier, already decided one is still unanswered.
   */
  cancel(placed: Placed, isNew: boolean): Promise<Order> {
    return this.#command(placed, { kind: 'cancel', of: placed.order, isNew }, (session, signal) => cancelled(session, placed, signal))
  }

  /**
   * Sends the cancel of an order in `pending_replace`. The broker cancels the order it holds under this order's id, which ends the
   * replacement too. If the broker refuses, the cancel stays pending for the order that remains after the replacement is decided.
   */
  stop(placed: Placed, isNew: boolean): Promise<Order> {
    return this.#command(placed, { kind: 'stop', of: placed.order, isNew }, (session, signal) => cancelled(session, placed, signal))
  }

  /** Whether the broker accepted this cancel. Known to this process only: another process sends the cancel again. */
  isStopTaken({ orderId, pendingRequest }: Order): boolean {
    return pendingRequest?.cancelRequestedAt !== undefined && this.#stopped.get(orderId) === pendingRequest.cancelRequestedAt
  }

  /** Sends the replacement of `placed` (in `pending_replace`) by `successor`. Returns the successor's newest state. */
  async replace(placed: Placed, successor: Order): Promise<Order> {
    const send: Send = async (session, signal) => {
      const { order, account } = placed
      if (order.brokerOrderId === null) return { kind: 'not_sent', cause: new Error('the broker’s order id is not known yet') }
      const request = {
        brokerAccountId: account.brokerAccountId,
        brokerOrderId: order.brokerOrderId,
        brokerClOrdId: successor.brokerClOrdId,
        ...(order.quantity !== null && successor.quantity !== null && { totalChange: minus(successor.quantity, order.quantity) })
      }
      let ticket: Order
      try {
        ticket = await this.#reports.inBrokerTerms(successor, order)
      } catch (cause) {
        return { kind: 'not_sent', cause }
      }
      return session.replace({ ...request, ticket }, signal)
    }
    await this.#command(placed, { kind: 'replace', of: successor, isNew: false }, send)
    return (await this.#orderWriter.find(successor.orderId).catch(() => null)) ?? successor
  }

  /** Applies a broker's report of an order, whatever its source. Returns the order that the report was about. */
  applyReport(orderId: OrderId, report: OrderReport, method: ReportMethod): Promise<Order | null> {
    return this.#reports.applyReport(orderId, report, method)
  }

  completeReplacement(oldId: OrderId, successorId: OrderId, report: OrderReport, method: ReportMethod): Promise<void> {
    return this.#reports.completeReplacement(oldId, successorId, report, method)
  }

  abandonReplacement(oldId: OrderId, successorId: OrderId, failure: SubmissionFailure): Promise<void> {
    return this.#reports.abandonReplacement(oldId, successorId, failure)
  }

  /** Hands an order to the resolver if a submission, cancel or replace of it is unanswered and no command is waiting for that answer. */
  scheduleReconciliation(placed: Placed): void {
    const { order } = placed
    const isAwaited = acknowledged(order) ? this.isCancelling(order) || this.#isReplacing(order) : this.isSending(order)
    if (awaitsAnswer(order) && !isAwaited) this.#unresolved(placed)
  }

  /** Whether a submission of the order, new or as a replacement, is in flight. Its absence at the broker then proves nothing. */
  isSending({ orderId }: Order): boolean {
    return this.#inFlight.has(keyOf('submit', orderId)) || this.#inFlight.has(keyOf('replace', orderId))
  }

  /** Resolves once no submission of the order is in flight, whatever its outcome. Never rejects. */
  async sent({ orderId }: Order): Promise<void> {
    await Promise.allSettled([keyOf('submit', orderId), keyOf('replace', orderId)].map(key => this.#inFlight.get(key)))
  }

  #isReplacing({ pendingRequest }: Order): boolean {
    const successorId = pendingRequest?.successorId ?? null
    return successorId !== null && this.#inFlight.has(keyOf('replace', successorId))
  }

  /** Whether any command of the order is in flight. */
  isUnderWay(order: Order): boolean {
    const isStopping = this.#inFlight.has(keyOf('stop', order.orderId))
    return this.isSending(order) || this.isCancelling(order) || isStopping || this.#isReplacing(order)
  }

  isCancelling({ orderId }: Order): boolean {
    return this.#inFlight.has(keyOf('cancel', orderId))
  }

  /**
   * Milliseconds since the broker accepted the order's pending cancel or replace; null if it did not, or if that is not known. An
   * acceptance that was stored by another process counts from this process's start at the earliest: only the wall clock spans a restart,
   * and it may have been set.
   */
  takenMs({ orderId, pendingRequest }: Order): number | null {
    if (pendingRequest === null) return null
    const { takenAt } = pendingRequest
    const request = requestName(pendingRequest)
    const now = this.#deps.clock.monotonicMs()
    const known = this.#taken.get(orderId)
    if (known?.request === request) return now - known.atMs
    if (takenAt === null) return null
    const agoMs = Math.max(0, Math.min(now - this.#startMs, epochMs(this.#deps.clock.now()) - epochMs(takenAt)))
    setBounded(this.#taken, orderId, { request, atMs: now - agoMs }, TAKEN_MAX)
    return agoMs
  }

  /** Waits until no command is in flight, at most `ms`. Returns how many still are. */
  async drain(ms: number): Promise<number> {
    await within(this.#deps.clock, Promise.allSettled(this.#running), ms)
    return this.#running.size
  }

  async #command(placed: Placed, { kind, of, isNew }: Command, send: Send): Promise<Order> {
    const settled = (isNew ? undefined : this.#inFlight.get(keyOf(kind, of.orderId))) ?? this.#begin(placed, { kind, of, isNew }, send)
    // The intent is already stored, so a failing store does not fail the request: return what is known.
    const order = await within(
      this.#deps.clock,
      settled.catch(() => null),
      this.#deps.timing.answerWithinMs
    )
    return order ?? (await this.#orderWriter.find(placed.order.orderId).catch(() => null)) ?? placed.order
  }

  #begin(placed: Placed, { kind, of }: Command, send: Send): Promise<Order | null> {
    const key = keyOf(kind, of.orderId)
    // An acceptance noted so far belongs to an earlier request, even if both have the same timestamp.
    if (kind === 'cancel' || kind === 'replace') this.#taken.delete(placed.order.orderId)
    const isNewest = () => this.#inFlight.get(key) === settled
    const settled: Promise<Order | null> = this.#carryOut(placed, kind, send, isNewest).finally(() => {
      this.#running.delete(settled)
      if (isNewest()) this.#inFlight.delete(key)
    })
    this.#inFlight.set(key, settled)
    this.#running.add(settled)
    // The caller may have been answered before the command ends. If the store fails then, the resolver recovers.
    settled.catch(cause => {
      this.#deps.log.error('the outcome of a command could not be stored', { orderId: placed.order.orderId, kind, cause })
      this.#unresolved(placed)
      // The old order may end meanwhile, and then nothing else would look up its successor.
      if (kind === 'replace') this.#unresolved({ ...placed, order: of })
    })
    return settled
  }

  async #carryOut(placed: Placed, kind: CommandKind, send: Send, isNewest: () => boolean): Promise<Order | null> {
    const outcome = await this.#send(placed, send)
    this.#deps.meter.count('order_outcomes_total', {
      broker: placed.order.broker,
      command: kind === 'stop' ? 'cancel' : kind,
      outcome: outcome.kind
    })
    const isClear = outcome.kind === 'refused' || (outcome.kind === 'accepted' && outcome.fault === undefined)
    if (!isClear) {
      const cause = outcome.kind === 'accepted' ? outcome.fault : outcome.cause
      const message = outcome.kind === 'accepted' ? 'the result of an accepted command could not be read' : 'a command has no clear outcome'
      this.#deps.log.warn(message, { orderId: placed.order.orderId, kind, outcome: outcome.kind, cause })
      // A store that cannot record the broken connection now gets another chance at the next refusal. Settling the order matters more.
      await this.#sessions.reportFault(placed.connection, cause).catch(() => false)
    }
    const settled = await this.#settle[kind](placed, outcome, isNewest)
    if (settled === null) await this.#answeredLate(placed, kind, outcome)
    return settled
  }

  /** The order's row is gone because its connection was removed. The audit log keeps what the broker answered. */
  async #answeredLate({ order }: Placed, kind: CommandKind, outcome: Outcome<OrderReport | null>): Promise<void> {
    const { orderId, connectionId, broker } = order
    const brokerOrderId = (outcome.kind === 'accepted' ? outcome.value?.brokerOrderId : null) ?? order.brokerOrderId
    const facts = { connectionId, broker, brokerOrderId, command: kind, outcome: outcome.kind }
    this.#deps.log.warn('a command was answered after its connection was removed', { orderId, ...facts })
    const detail = { connection_id: connectionId, broker, broker_order_id: brokerOrderId, command: kind, outcome: outcome.kind }
    const at = this.#deps.clock.now()
    const entry = { at, actor: 'service', target: orderId, result: 'ok', ip: null, requestId: null, detail } as const
    await this.#deps.store.audit.append({ ...entry, action: 'order.answered_late' })
  }

  async #send({ connection }: Placed, send: Send): Promise<Outcome<OrderReport | null>> {
    let session: Broker
    try {
      session = this.#sessions.get(connection)
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    try {
      return await limited(this.#deps.clock, this.#deps.timing.commandMs, signal => send(session, signal))
    } catch (cause) {
      // An adapter that throws or hangs here breaks the port's contract. Bytes may have been sent, so the outcome is unknown.
      return { kind: 'unknown', cause }
    }
  }

  readonly #settle: {
    readonly [kind in CommandKind]: (placed: Placed, outcome: Outcome<OrderReport | null>, isNewest: () => boolean) => Promise<Order | null>
  } = {
    submit: async (placed, outcome) => {
      const { orderId } = placed.order
      const now = this.#deps.clock.now()
      if (outcome.kind === 'accepted' && outcome.value !== null) {
        const order = await this.applyReport(orderId, outcome.value, 'reply')
        // A cancel may have been waiting for the order's acknowledgement.
        if (order !== null) this.scheduleReconciliation({ ...placed, order })
        return order
      }
      if (outcome.kind === 'refused') return this.#orderWriter.change(orderId, order => refused(order, refusal(outcome), now))
      if (outcome.kind === 'not_sent')
        return this.#orderWriter.change(orderId, order => refused(order, notSent('order', outcome.cause), now))
      const order = await this.#orderWriter.change(orderId, present => submissionUnknown(present, 'reply', now))
      if (order !== null && !acknowledged(order)) this.#unresolved({ ...placed, order })
      return order
    },
    cancel: async (placed, outcome, isNewest) => {
      const { orderId } = placed.order
      if (outcome.kind === 'accepted' && isNewest()) await this.#noteTaken(placed.order)
      if (outcome.kind === 'accepted' && outcome.value !== null) await this.applyReport(orderId, outcome.value, 'reply')
      if (outcome.kind === 'accepted' && isNewest()) await this.#storeTaken(placed.order)
      if (outcome.kind === 'refused') await this.#afterRefusal(placed, outcome.message, isNewest)
      const order = await this.#orderWriter.find(orderId)
      if (order !== null && isOpen(order.status)) this.#unresolved({ ...placed, order })
      else this.#taken.delete(orderId)
      return order
    },
    stop: async (placed, outcome) => {
      const { orderId, pendingRequest } = placed.order
      if (outcome.kind === 'accepted') setBounded(this.#stopped, orderId, pendingRequest?.cancelRequestedAt ?? '', TAKEN_MAX)
      if (outcome.kind === 'accepted' && outcome.value !== null) await this.applyReport(orderId, outcome.value, 'reply')
      const order = await this.#orderWriter.find(orderId)
      if (order !== null && awaitsAnswer(order)) this.#unresolved({ ...placed, order })
      return order
    },
    replace: async (placed, outcome) => {
      const { orderId, pendingRequest } = placed.order
      const successorId = pendingRequest?.successorId ?? null
      if (successorId === null) return placed.order
      if (outcome.kind === 'accepted' && outcome.value !== null)
        await this.completeReplacement(orderId, successorId, outcome.value, 'reply')
      if (outcome.kind === 'accepted' && outcome.value === null) {
        await this.#noteTaken(placed.order)
        await this.#storeTaken(placed.order)
      }
      if (outcome.kind === 'refused') await this.abandonReplacement(orderId, successorId, refusal(outcome))
      if (outcome.kind === 'not_sent') await this.abandonReplacement(orderId, successorId, notSent('modification', outcome.cause))
      // The successor is looked up separately: the old order may fill meanwhile, and then it is not looked up any more.
      const successor = await this.#orderWriter.change(successorId, present => submissionUnknown(present, 'reply', this.#deps.clock.now()))
      if (successor !== null && awaitsAnswer(successor)) this.#unresolved({ ...placed, order: successor })
      const order = await this.#orderWriter.find(orderId)
      if (order !== null && awaitsAnswer(order)) this.#unresolved({ ...placed, order })
      return order
    }
  }

  async #noteTaken(requested: Order): Promise<void> {
    const present = await this.#orderWriter.find(requested.orderId)
    if (requested.pendingRequest === null || present === null || !isSameRequest(present, requested)) return
    setBounded(
      this.#taken,
      requested.orderId,
      { request: requestName(requested.pendingRequest), atMs: this.#deps.clock.monotonicMs() },
      TAKEN_MAX
    )
  }

  /** Stores the time of acceptance for other processes. A request that was decided meanwhile needs none. */
  async #storeTaken(requested: Order): Promise<void> {
    const at = this.#deps.clock.now()
    await this.#orderWriter.change(requested.orderId, present => {
      const { pendingRequest } = present
      if (pendingRequest === null || pendingRequest.takenAt !== null) return null
      if (!isSameRequest(present, requested) || !isOpen(present.status)) return null
      return { order: { ...present, pendingRequest: { ...pendingRequest, takenAt: at } }, publish: false }
    })
  }

  /**
   * The broker refused a cancel, usually because the order changed meanwhile. Its present record of the order decides the status and ends
   * the pending cancel, unless a later request is pending by then.
   */
  async #afterRefusal({ connection, account, order }: Placed, message: string, isNewest: () => boolean): Promise<void> {
    const { orderId, brokerOrderId } = order
    if (brokerOrderId === null || !isNewest()) return
    try {
      const key = { by: 'brokerOrderId', brokerAccountId: account.brokerAccountId, brokerOrderId } as const
      const session = this.#sessions.get(connection)
      const { found } = await limited(this.#deps.clock, this.#deps.timing.readMs, signal => session.findOrder(key, signal))
      if (found === null) return
      const report = { ...found, releases: true, brokerMessage: found.brokerMessage ?? message } as const
      const isStill = (present: Order) => isNewest() && (present.pendingRequest === null || isSameRequest(present, order))
      await this.#reports.applyReport(orderId, report, 'lookup', isStill)
    } catch (cause) {
      if (!(cause instanceof BrokerFault)) throw cause
      await this.#sessions.reportFault(connection, cause)
    }
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const start = this.#deps.clock.monotonicMs()
    const result = await work()
    this.#deps.meter.observe('order_submit_seconds', (this.#deps.clock.monotonicMs() - start) / 1_000)
    return result
  }
}

/** `stop` is the cancel of an order whose replacement is pending. */
type CommandKind = 'submit' | 'cancel' | 'stop' | 'replace'

interface Command {
  readonly kind: CommandKind
  /** The order that is sent or cancelled; for a replace, the successor. */
  readonly of: Order
  /** Whether the request was made just now: no command in flight can belong to it. */
  readonly isNew: boolean
}

type Send = (session: Broker, signal: AbortSignal) => Promise<Outcome<OrderReport | null>>

function isSameRequest({ pendingRequest: present }: Order, { pendingRequest: requested }: Order): boolean {
  return present !== null && requested !== null && requestName(present) === requestName(requested)
}

function cancelled(session: Broker, { order, account }: Placed, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
  const { brokerOrderId } = order
  if (brokerOrderId === null) return Promise.resolve({ kind: 'not_sent', cause: new Error('the broker’s order id is not known yet') })
  return session.cancel({ brokerAccountId: account.brokerAccountId, brokerOrderId }, signal)
}

function keyOf(kind: CommandKind, orderId: OrderId): string {
  return `${kind} ${orderId}`
}
