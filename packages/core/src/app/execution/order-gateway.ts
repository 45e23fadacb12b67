import { minus } from '../../domain/decimal.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { type Broker, BrokerFault, type OrderReport, type Outcome } from '../../ports/broker.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import { limited, within } from '../time-limits.ts'
import type { CommandKind, InFlightCommands } from './in-flight-commands.ts'
import type { OrderReports } from './order-reports.ts'
import { acknowledged, awaitsAnswer, notSent, refusal, refused, submissionUnknown } from './order-steps.ts'
import type { OrderWriter } from './order-writer.ts'
import type { Placed, Reconciliation } from './reconciliation.ts'
import type { ReplacementChains } from './replacement-chains.ts'
import { isSameRequest, type TakenRequests } from './taken-requests.ts'

type GatewayDeps = Pick<Deps, 'store' | 'clock' | 'log' | 'meter' | 'timing'>

/** What the gateway shares with those who read orders at brokers. */
interface GatewayParts {
  readonly orderWriter: OrderWriter
  readonly sessions: BrokerSessions
  readonly reports: OrderReports
  readonly chains: ReplacementChains
  readonly commands: InFlightCommands
  readonly taken: TakenRequests
  readonly reconciliation: Reconciliation
}

/**
 * Sends orders to brokers and applies their answers. Each command is sent once. Its outcome is accepted, refused by the broker, not sent,
 * or unknown. An unknown outcome goes to the listener of {@link onUnresolved}; the order keeps its status.
 */
export class OrderGateway {
  readonly #deps: GatewayDeps
  readonly #parts: GatewayParts

  constructor(deps: GatewayDeps, parts: GatewayParts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Sends a stored order. Returns its newest state after the broker's answer, or after `answerWithinMs` without one. */
  submit(placed: Placed, fence: IntentFence): Promise<Order> {
    return this.#command(placed, { kind: 'submit', of: placed.order, isNew: false, fence }, async (session, signal) => {
      const { clock, meter } = this.#deps
      const start = clock.monotonicMs()
      const outcome = await session.submit({ ...placed.order, brokerAccountId: placed.account.brokerAccountId }, signal)
      meter.observe('order_submit_seconds', (clock.monotonicMs() - start) / 1_000)
      return outcome
    })
  }

  /**
   * Sends the cancel of an order in `pending_cancel`. Concurrent calls for the same request share one send and its result. With `isNew` the
   * cancel is sent even if an earlier, already decided one is still unanswered.
   */
  cancel(placed: Placed, isNew: boolean, fence: IntentFence): Promise<Order> {
    return this.#command(placed, { kind: 'cancel', of: placed.order, isNew, fence }, (session, signal) =>
      cancelled(session, placed, signal)
    )
  }

  /**
   * Sends the cancel of an order in `pending_replace`. The broker cancels the order it holds under this order's id, which ends the
   * replacement too. If the broker refuses, the cancel stays pending for the order that remains after the replacement is decided.
   */
  stop(placed: Placed, isNew: boolean, fence: IntentFence): Promise<Order> {
    return this.#command(placed, { kind: 'stop', of: placed.order, isNew, fence }, (session, signal) => cancelled(session, placed, signal))
  }

  /** Sends the replacement of `placed` (in `pending_replace`) by `successor`. Returns the successor's newest state. */
  async replace(placed: Placed, successor: Order, fence: IntentFence): Promise<Order> {
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
        ticket = await this.#parts.chains.inBrokerTerms(successor, order)
      } catch (cause) {
        return { kind: 'not_sent', cause }
      }
      return session.replace({ ...request, ticket }, signal)
    }
    await this.#command(placed, { kind: 'replace', of: successor, isNew: false, fence }, send)
    return (await this.#parts.orderWriter.find(successor.orderId).catch(() => null)) ?? successor
  }

  async #command(placed: Placed, command: Command, send: Send): Promise<Order> {
    const { kind, of, isNew } = command
    const settled = (isNew ? undefined : this.#parts.commands.newest(kind, of)) ?? this.#begin(placed, command, send)
    let order: Order | null = null
    try {
      order = await within(this.#deps.clock, settled, this.#deps.timing.answerWithinMs)
    } catch {
      // The intent is already stored, so a failing store does not fail the request: return what is known.
    }
    return order ?? (await this.#parts.orderWriter.find(placed.order.orderId).catch(() => null)) ?? placed.order
  }

  #begin(placed: Placed, command: Command, send: Send): Promise<Order | null> {
    const { kind, of } = command
    const { commands, taken, reconciliation } = this.#parts
    // An acceptance noted so far belongs to an earlier request, even if both have the same timestamp.
    if (kind === 'cancel' || kind === 'replace') taken.forget(placed.order.orderId)
    const settled = commands.run(kind, of, isNewest => this.#carryOut(placed, command, send, isNewest))
    // The caller may have been answered before the command ends. If the store fails then, the resolver recovers.
    settled.catch(cause => {
      this.#deps.log.error('the outcome of a command could not be stored', { orderId: placed.order.orderId, kind, cause })
      reconciliation.takeOver(placed)
      // The old order may end meanwhile, and then nothing else would look up its successor.
      if (kind === 'replace') reconciliation.takeOver({ ...placed, order: of })
    })
    return settled
  }

  async #carryOut(placed: Placed, { kind, fence }: Command, send: Send, isNewest: () => boolean): Promise<Order | null> {
    const outcome = await this.#send(placed, fence, send)
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
      await this.#parts.sessions.reportFault(placed.connection, cause).catch(() => false)
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

  async #send({ connection }: Placed, fence: IntentFence, send: Send): Promise<Outcome<OrderReport | null>> {
    let session: Broker
    try {
      // The session asks for this very fence again, right before the first byte.
      session = this.#parts.sessions.get(connection, fence)
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
        const order = await this.#parts.reports.applyReport(orderId, outcome.value, 'reply')
        // A cancel may have been waiting for the order's acknowledgement.
        if (order !== null) this.#parts.reconciliation.schedule({ ...placed, order })
        return order
      }
      if (outcome.kind === 'refused') return this.#parts.orderWriter.change(orderId, order => refused(order, refusal(outcome), now))
      if (outcome.kind === 'not_sent')
        return this.#parts.orderWriter.change(orderId, order => refused(order, notSent('order', outcome.cause), now))
      const order = await this.#parts.orderWriter.change(orderId, present => submissionUnknown(present, 'reply', now))
      if (order !== null && !acknowledged(order)) this.#parts.reconciliation.takeOver({ ...placed, order })
      return order
    },
    cancel: async (placed, outcome, isNewest) => {
      const { orderId } = placed.order
      if (outcome.kind === 'accepted' && isNewest()) await this.#parts.taken.note(placed.order)
      if (outcome.kind === 'accepted' && outcome.value !== null) await this.#parts.reports.applyReport(orderId, outcome.value, 'reply')
      if (outcome.kind === 'accepted' && isNewest()) await this.#parts.taken.store(placed.order)
      if (outcome.kind === 'refused') await this.#afterRefusal(placed, outcome.message, isNewest)
      const order = await this.#parts.orderWriter.find(orderId)
      if (order !== null && isOpen(order.status)) this.#parts.reconciliation.takeOver({ ...placed, order })
      else this.#parts.taken.forget(orderId)
      return order
    },
    stop: async (placed, outcome) => {
      const { orderId } = placed.order
      if (outcome.kind === 'accepted') this.#parts.taken.noteStop(placed.order)
      if (outcome.kind === 'accepted' && outcome.value !== null) await this.#parts.reports.applyReport(orderId, outcome.value, 'reply')
      const order = await this.#parts.orderWriter.find(orderId)
      if (order !== null && awaitsAnswer(order)) this.#parts.reconciliation.takeOver({ ...placed, order })
      return order
    },
    replace: async (placed, outcome) => {
      const { orderId, pendingRequest } = placed.order
      const successorId = pendingRequest?.successorId ?? null
      if (successorId === null) return placed.order
      if (outcome.kind === 'accepted' && outcome.value !== null)
        await this.#parts.reports.completeReplacement(orderId, successorId, outcome.value, 'reply')
      if (outcome.kind === 'accepted' && outcome.value === null) {
        await this.#parts.taken.note(placed.order)
        await this.#parts.taken.store(placed.order)
      }
      if (outcome.kind === 'refused') await this.#parts.reports.abandonReplacement(orderId, successorId, refusal(outcome))
      if (outcome.kind === 'not_sent')
        await this.#parts.reports.abandonReplacement(orderId, successorId, notSent('modification', outcome.cause))
      // The successor is looked up separately: the old order may fill meanwhile, and then it is not looked up any more.
      const successor = await this.#parts.orderWriter.change(successorId, present =>
        submissionUnknown(present, 'reply', this.#deps.clock.now())
      )
      if (successor !== null && awaitsAnswer(successor)) this.#parts.reconciliation.takeOver({ ...placed, order: successor })
      const order = await this.#parts.orderWriter.find(orderId)
      if (order !== null && awaitsAnswer(order)) this.#parts.reconciliation.takeOver({ ...placed, order })
      return order
    }
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
      const session = this.#parts.sessions.get(connection)
      const { found } = await limited(this.#deps.clock, this.#deps.timing.readMs, signal => session.findOrder(key, signal))
      if (found === null) return
      const report = { ...found, releases: true, brokerMessage: found.brokerMessage ?? message } as const
      const isStill = (present: Order) => isNewest() && (present.pendingRequest === null || isSameRequest(present, order))
      await this.#parts.reports.applyReport(orderId, report, 'lookup', isStill)
    } catch (cause) {
      if (!(cause instanceof BrokerFault)) throw cause
      await this.#parts.sessions.reportFault(connection, cause)
    }
  }
}

/**
 * The user's fence from before the intent was stored. A command is sent under it only: once another node has owned the user, that one may
 * have found that the broker never had the order, and ended it.
 */
type IntentFence = number | null

interface Command {
  readonly kind: CommandKind
  readonly fence: IntentFence
  /** The order that is sent or cancelled; for a replace, the successor. */
  readonly of: Order
  /** Whether the request was made just now: no command in flight can belong to it. */
  readonly isNew: boolean
}

type Send = (session: Broker, signal: AbortSignal) => Promise<Outcome<OrderReport | null>>

function cancelled(session: Broker, { order, account }: Placed, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
  const { brokerOrderId } = order
  if (brokerOrderId === null) return Promise.resolve({ kind: 'not_sent', cause: new Error('the broker’s order id is not known yet') })
  return session.cancel({ brokerAccountId: account.brokerAccountId, brokerOrderId }, signal)
}
