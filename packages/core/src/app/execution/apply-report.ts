import { areEqual, compare, type Decimal, isPositive, negated } from '../../domain/decimal.ts'
import type { ExecutionFault } from '../../domain/executions.ts'
import type { Order, Submission } from '../../domain/order.ts'
import { apply, type OrderEvent, type Step, TRANSITIONS } from '../../domain/order-machine.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import type { RejectCode } from '../../domain/vocabulary.ts'
import type { OrderReport } from '../../ports/broker.ts'

/** How a report was received. */
export type ReportMethod = NonNullable<Submission['method']>

/** An order after a report was applied, and which parts of the report were not. */
export interface Reported {
  readonly order: Order
  readonly changed: boolean
  /** The report's status is more than one transition away. Applying the same report to this order makes the next transition. */
  readonly isPartial: boolean
  readonly alarms: readonly NonNullable<Step['alarm']>[]
  readonly ignored: readonly NonNullable<Step['ignored']>[]
}

/**
 * Merges a broker's report into an order, at most one status transition at a time. Pure and idempotent: a report that was applied in full
 * changes nothing when it is applied again.
 */
export function applyReport(order: Order, received: OrderReport, method: ReportMethod, now: Timestamp): Reported {
  const report = withRequestedSide(order, received)
  const alarms: NonNullable<Step['alarm']>[] = []
  const ignored: NonNullable<Step['ignored']>[] = []
  const base = raised(order, report)
  let next = base
  let isPartial = false
  for (const event of eventsOf(order, report)) {
    const step = apply(next, event)
    // Executions that cannot be true make the whole report unreliable: the order stays as it was.
    if (isRefused(step)) return { order, changed: false, isPartial: false, alarms: [step.ignored], ignored: [step.ignored] }
    isPartial = step.order.status !== order.status && !TRANSITIONS[order.status].includes(step.order.status)
    if (isPartial) break
    next = step.order
    if (step.alarm !== null) alarms.push(step.alarm)
    if (step.ignored !== null && step.ignored !== 'duplicate_fill') ignored.push(step.ignored)
  }
  if (next === base) next = order
  next = dueAgain(next, report, now)
  const statusTaken = next.status !== order.status || !ignored.includes('illegal_transition')
  if (next.status === 'replaced' && next.replacedByOrderId === null) {
    next = { ...next, replacedByOrderId: order.pendingRequest?.successorId ?? null }
  }
  const described = describe(next, report, statusTaken)
  const submitted = isSameRefusal(order, report) ? described : acknowledge(described, method, now)
  const changed = submitted !== order && differs(submitted, order)
  return { order: changed ? { ...submitted, systemTime: now } : order, changed, isPartial, alarms, ignored }
}

/**
 * A cancel that was sent while the order was still pending new at the broker may have been lost there (its `sentAt` is null). When the
 * broker reports the order live, the cancel becomes due: it is stored as a new request, which the resolver sends.
 */
function dueAgain(order: Order, { status }: OrderReport, now: Timestamp): Order {
  const { pendingRequest } = order
  const isEarly = order.status === 'pending_cancel' && pendingRequest?.kind === 'cancel' && pendingRequest.sentAt === null
  if (!isEarly || (status !== 'working' && status !== 'partially_filled')) return order
  return { ...order, pendingRequest: { ...pendingRequest, requestedAt: now, sentAt: now, takenAt: null, ofRevision: order.revision } }
}

function isRefused(step: Step): step is Step & { readonly ignored: ExecutionFault } {
  return step.ignored === 'impossible_fill' || step.ignored === 'too_many_fills'
}

/** Fills count against the present quantity: an order that was increased elsewhere is not filled when it reaches its old quantity. */
function raised(order: Order, { quantity }: OrderReport): Order {
  return order.quantity !== null && quantity !== null && compare(quantity, order.quantity) > 0 ? { ...order, quantity } : order
}

/**
 * Some brokers report a multi-leg order only by its net price: a sale at 2 is reported as a purchase at -2. The requested side stays,
 * prices change sign.
 */
function withRequestedSide({ legs, side }: Order, report: OrderReport): OrderReport {
  if (legs === null || side === report.side) return report
  const { limitPrice, fills, filledTotal } = report
  const averagePrice = filledTotal?.averagePrice ?? null
  return {
    ...report,
    side,
    limitPrice: limitPrice === null ? null : negated(limitPrice),
    fills: fills?.map(fill => ({ ...fill, price: negated(fill.price) })) ?? null,
    filledTotal: filledTotal === null ? null : { ...filledTotal, averagePrice: averagePrice === null ? null : negated(averagePrice) }
  }
}

/** Fills come first: a status that ends the order must not precede the executions that led to it. */
function eventsOf(order: Order, report: OrderReport): readonly OrderEvent[] {
  const { updatedAt: at, releases } = report
  const to = statusOf(order, report)
  const [only, ...others] = report.fills ?? []
  const total = report.filledTotal
  const fills: readonly OrderEvent[] =
    total !== null && only !== undefined && others.length === 0
      ? [{ type: 'execution', fill: only, total }]
      : report.fills === null || only === undefined
        ? []
        : [{ type: 'fills', fills: report.fills }]
  const legFills: readonly OrderEvent[] = (report.legs ?? []).flatMap(leg =>
    leg.fills.length === 0 ? [] : [{ type: 'leg_fills', leg, fills: leg.fills } as const]
  )
  const totals: readonly OrderEvent[] = report.fills === null && total !== null ? [{ type: 'filled_total', ...total, at }] : []
  // A first report that shows a pending cancel or replace implies that the order was working before.
  const isBehind = order.status === 'pending' && !TRANSITIONS.pending.includes(to) && TRANSITIONS.working.includes(to)
  // The broker rejected the order while its cancel was pending: the cancel ends first.
  const isUncancelled = order.status === 'pending_cancel' && to === 'rejected'
  const between: readonly OrderEvent[] = isBehind || isUncancelled ? [{ type: 'status', to: 'working', at, releases: true }] : []
  return [
    ...fills,
    ...legFills,
    ...totals,
    ...between,
    releases === true ? { type: 'status', to, at, releases } : { type: 'status', to, at }
  ]
}

/** A partially filled order cannot become rejected. The broker removed the remainder, so the order is cancelled. */
function statusOf(order: Order, { status, fills, filledTotal }: OrderReport): OrderReport['status'] {
  const isFilled = order.fills.length > 0 || (fills ?? []).length > 0 || (filledTotal !== null && isPositive(filledTotal.quantity))
  return status === 'rejected' && isFilled ? 'cancelled' : status
}

const NO_REASON = 'The broker rejected the order and gave no reason.'

/** The order was rejected before, with a status of the broker's that says why; a list that only repeats it says less. */
function isKnownRejection({ status, brokerStatus, brokerMessage }: Order, report: OrderReport): boolean {
  return (
    status === 'rejected' &&
    report.status === 'rejected' &&
    report.brokerMessage === null &&
    brokerStatus !== null &&
    brokerMessage !== null
  )
}

/** Copies the broker's descriptive fields. Those of an outdated snapshot, whose status was not taken, are ignored. */
function describe(order: Order, report: OrderReport, statusTaken: boolean): Order {
  const identified = order.brokerOrderId === null ? { ...order, brokerOrderId: report.brokerOrderId } : order
  if (!statusTaken) return identified
  return {
    ...identified,
    brokerStatus: isKnownRejection(order, report) ? identified.brokerStatus : report.brokerStatus,
    brokerMessage: report.brokerMessage ?? identified.brokerMessage ?? (identified.status === 'rejected' ? NO_REASON : null),
    rejectCode: rejectCodeOf(identified, report),
    brokerOrderType: report.brokerOrderType ?? identified.brokerOrderType,
    execDest: report.execDest ?? identified.execDest,
    quantity: newer(identified.quantity, report.quantity),
    limitPrice: newer(identified.limitPrice, report.limitPrice),
    stopPrice: newer(identified.stopPrice, report.stopPrice)
  }
}

/** A broker may give a reason in one message and none, or a vaguer one, in another. The more exact code stays. */
function rejectCodeOf({ status, rejectCode: known }: Order, { rejectCode: reported }: OrderReport): RejectCode | null {
  if (status !== 'rejected') return null
  return reported === null || (reported === 'other' && known !== null) ? known : reported
}

/** The broker's value if it differs; ours if it is the same number in another notation, or not reported. */
function newer(ours: Decimal | null, theirs: Decimal | null): Decimal | null {
  if (theirs === null) return ours
  return areEqual(ours, theirs) ? ours : theirs
}

/** A broker that keeps listing a refused order reports nothing new. */
function isSameRefusal({ submission, status }: Order, report: OrderReport): boolean {
  return submission.state === 'refused' && status === 'rejected' && report.status === 'rejected'
}

function acknowledge(order: Order, method: ReportMethod, now: Timestamp): Order {
  const { state, attempts } = order.submission
  if (state === 'acknowledged' || state === 'external') return order
  return { ...order, submission: { state: 'acknowledged', since: now, attempts, method } }
}

const COMPARED = [
  'status',
  'submission',
  'pendingRequest',
  'fills',
  'legs',
  'brokerOrderId',
  'brokerStatus',
  'brokerMessage',
  'rejectCode',
  'brokerOrderType'
] as const
const COMPARED_TOO = ['execDest', 'quantity', 'limitPrice', 'stopPrice', 'lastExecTime', 'replacedByOrderId'] as const

function differs(a: Order, b: Order): boolean {
  return [...COMPARED, ...COMPARED_TOO].some(field => a[field] !== b[field])
}
