import type { OrderId } from '../../domain/ids.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { mayMatch } from '../../domain/order-matching.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import { BrokerFault, type OrderReport, type Snapshot } from '../../ports/broker.ts'
import type { AuditEntry } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'
import { failedReplacement } from '../execution/failed-replacement.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderReports } from '../execution/order-reports.ts'
import { acknowledged, refused, type SubmissionFailure } from '../execution/order-steps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import type { Placed, Reconciliation } from '../execution/reconciliation.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import type { Resolver } from '../reconciliation/resolver.ts'
import { limited } from '../time-limits.ts'

/** How far before the order's entry time the broker's list is read, because clocks may disagree. */
const BEFORE_MS = 3_600_000
/** Oldest list of an account that may end an order; an older one is read again. */
const EVIDENCE_MS = 10_000

interface SettlingDeps extends Pick<Deps, 'store' | 'clock' | 'timing' | 'ownership'> {
  readonly orderWriter: OrderWriter
  readonly commands: InFlightCommands
  readonly orderReports: OrderReports
  readonly reconciliation: Reconciliation
  readonly mirrors: Mirrors
  readonly resolver: Resolver
}

/** An operator's decision on an order of unknown outcome: the broker never received it. */
export interface Verdict {
  /** Skips the look-up at the broker, which cannot be reached: the operator has checked its records by other means. */
  readonly isUnseen: boolean
  readonly audit: AuditEntry
}

/** The order was not settled. The message says why and what to do. */
export class NotSettled extends Error {
  override readonly name = 'NotSettled'
}

/** Some orders of a set were not settled. The message says why, and which of them were ended before. */
export class SettlingInterrupted extends Error {
  override readonly name = 'SettlingInterrupted'
}

/**
 * Ends an order of unknown outcome as never received, on an operator's decision. At a broker that echoes no client order id this is the
 * only way: an absent order cannot be distinguished there from one whose record differs. Refused while the order is recent enough to arrive
 * late, and while the broker lists an order that may be this one.
 * @throws NotSettled; the signal's reason if it aborts before the order is ended
 */
export async function settleAsNotReceived(deps: SettlingDeps, orderId: OrderId, verdict: Verdict, signal: AbortSignal): Promise<Order> {
  await settleable(deps, orderId, { signal, read: verdict.isUnseen ? null : placed => readOrders(deps, placed, signal) })
  return end(deps, orderId, verdict.audit)
}

/** The orders of a set that were ended, or in a trial run would be, and those that were skipped, with reasons. */
export interface SettledSet {
  readonly orders: readonly Order[]
  readonly skipped: readonly { readonly orderId: OrderId; readonly why: string }[]
}

export interface SetVerdict {
  readonly isUnseen: boolean
  /**
   * Builds the audit entry of the orders about to be ended (possibly none). It is written before the first is ended; if this throws, none
   * is. Null: a trial run that ends nothing.
   */
  readonly entry: ((orders: readonly Order[]) => AuditEntry) | null
  /** Builds the audit entry of orders that the first entry names and that were not ended after all. */
  readonly skippedEntry: (orderIds: readonly OrderId[]) => AuditEntry
}

/**
 * Ends a set of orders of unknown outcome by one decision, each under the rule of {@link settleAsNotReceived}. Each account's list is read
 * once for all of its orders, and again for an order that it has become too old for. The audit entry is written first and names all orders
 * about to end, so that none ends without an entry. Orders skipped after that are named by a second entry.
 * @throws SettlingInterrupted if something fails, or the signal aborts, after the first entry is written; before, the signal's reason.
 */
export async function settleAllAsNotReceived(
  deps: SettlingDeps,
  orderIds: readonly OrderId[],
  { isUnseen, entry, skippedEntry }: SetVerdict,
  signal: AbortSignal
): Promise<SettledSet> {
  const skipped: { orderId: OrderId; why: string }[] = []
  const unlessSkipped = async (orderId: OrderId, work: () => Promise<Order>): Promise<readonly Order[]> => {
    try {
      return [await work()]
    } catch (cause) {
      if (!(cause instanceof NotSettled)) throw cause
      skipped.push({ orderId, why: cause.message })
      return []
    }
  }
  const snapshots = new Map<string, { readonly requestedMs: number; readonly taken: Promise<Snapshot<OrderReport>> }>()
  // Orders come oldest first, so an account's first list reaches back far enough for the others.
  const shared = (placed: Placed) => {
    const { accountId } = placed.account
    const now = deps.clock.monotonicMs()
    const present = snapshots.get(accountId)
    if (present !== undefined && now - present.requestedMs <= EVIDENCE_MS) return present.taken
    const taken = readOrders(deps, placed, signal)
    snapshots.set(accountId, { requestedMs: now, taken })
    return taken
  }
  const due: Order[] = []
  const looking = { signal, read: isUnseen ? null : shared }
  for (const orderId of orderIds) due.push(...(await unlessSkipped(orderId, () => settleable(deps, orderId, looking))))
  if (entry === null) return { orders: due, skipped }
  const audit = entry(due)
  if (due.length === 0) return { orders: due, skipped }
  await deps.store.audit.append(audit)
  const endOne = async (orderId: OrderId) => {
    await settleable(deps, orderId, looking)
    return end(deps, orderId, null)
  }
  const ended: Order[] = []
  const failures: unknown[] = []
  const trying = (work: () => Promise<void>) => work().catch(cause => void failures.push(cause))
  await trying(async () => {
    for (const { orderId } of due) ended.push(...(await unlessSkipped(orderId, () => endOne(orderId))))
  })
  const left = due.map(({ orderId }) => orderId).filter(orderId => !ended.some(order => order.orderId === orderId))
  if (left.length > 0) await trying(() => deps.store.audit.append(skippedEntry(left)))
  if (failures.length > 0) throw interrupted(ended, left, failures)
  return { orders: ended, skipped }
}

function interrupted(ended: readonly Order[], left: readonly OrderId[], failures: readonly unknown[]): SettlingInterrupted {
  const why = failures.map(cause => (cause instanceof Error ? cause.message : String(cause))).join(' Then: ')
  const done = ended.length === 0 ? 'None was ended' : `These were ended: ${ended.map(({ orderId }) => orderId).join(', ')}`
  const rest = left.length === 0 ? '' : `; look again at ${left.join(', ')}`
  return new SettlingInterrupted(`The orders were not all settled: ${why} ${done}${rest}.`, { cause: new AggregateError(failures) })
}

interface Looking {
  /** Null: the operator has looked. */
  readonly read: Read | null
  readonly signal: AbortSignal
}

/** The order, if an operator may end it. @throws NotSettled; the signal's reason, so that nothing is ended once it has aborted */
async function settleable(deps: SettlingDeps, orderId: OrderId, { read, signal }: Looking): Promise<Order> {
  const placed = await find(deps, orderId)
  demandOwned(deps, placed.order)
  demandUnresolved(deps, placed.order)
  if (read !== null) await demandUnlikeAll(deps, placed, await read(placed))
  signal.throwIfAborted()
  return placed.order
}

type Read = (placed: Placed) => Promise<Snapshot<OrderReport>>

async function end(deps: SettlingDeps, orderId: OrderId, audit: AuditEntry | null): Promise<Order> {
  const at = deps.clock.now()
  const replaces = (await deps.orderWriter.find(orderId))?.replacesOrderId ?? null
  const before = replaces === null ? null : await deps.orderWriter.find(replaces)
  const settled = await deps.orderWriter.change(orderId, present => {
    const next = deps.commands.isSending(present) ? null : refused(present, failedReplacement(NEVER_RECEIVED, present, before), at)
    return next === null ? null : { ...next, ...(audit === null ? {} : { audit }) }
  })
  if (settled?.submission.method !== 'operator')
    throw new NotSettled(`The outcome of ${orderId} became known meanwhile; read the order again.`)
  // The order that it was to replace no longer has a pending replacement.
  if (settled.replacesOrderId !== null) {
    await deps.orderReports.abandonReplacement(settled.replacesOrderId, orderId, NEVER_RECEIVED)
    deps.reconciliation.schedule(await find(deps, settled.replacesOrderId))
  }
  return settled
}

/** Both functions bound to `deps`. */
export function settlingOver(deps: SettlingDeps) {
  return {
    settle: (orderId: OrderId, verdict: Verdict, signal: AbortSignal) => settleAsNotReceived(deps, orderId, verdict, signal),
    settleAll: (orderIds: readonly OrderId[], verdict: SetVerdict, signal: AbortSignal) =>
      settleAllAsNotReceived(deps, orderIds, verdict, signal)
  }
}

const NEVER_RECEIVED: SubmissionFailure = {
  state: 'not_received',
  method: 'operator',
  message: 'The broker never received the order: the operator of this service has verified that.',
  advice: 'It can be placed again under a new cl_order_id.',
  rejectCode: null,
  brokerStatus: null
}

async function find({ store, orderWriter }: SettlingDeps, orderId: OrderId): Promise<Placed> {
  // Another node may have changed it since it was cached here.
  orderWriter.forget(orderId)
  const order = await orderWriter.find(orderId)
  const connection = order === null ? null : await store.connections.find(order.connectionId)
  const accounts = connection === null ? [] : await store.accounts.listByConnections([connection.connectionId])
  const account = accounts.find(({ accountId }) => accountId === order?.accountId)
  if (order === null || connection === null || account === undefined) throw new NotSettled(`There is no order ${orderId}.`)
  return { order, connection, account }
}

/** Only the owner knows what is on its way to the broker, and may ask it. */
function demandOwned({ ownership }: SettlingDeps, { orderId, userKey }: Order): void {
  const owner = ownership.ownerOf(userKey)
  if (owner.kind === 'none') throw new NotSettled(`The user of ${orderId} is being moved to another node. Try again in some seconds.`)
  if (owner.kind === 'this') return
  const { nodeId, url } = owner.node
  throw new NotSettled(
    `The user of ${orderId} belongs to node ${nodeId}, which other nodes reach at ${url}. Do the same there, or end it by itself in the console, at any node; "npm run cli -- cluster nodes" lists the nodes by name.`
  )
}

function demandUnresolved({ clock, timing, commands, resolver }: SettlingDeps, order: Order): void {
  const { orderId, status, submission, brokerOrderId } = order
  if (acknowledged(order) || brokerOrderId !== null || !isOpen(status)) {
    const known = brokerOrderId === null ? '' : `, as ${brokerOrderId} at the broker`
    throw new NotSettled(`The outcome of ${orderId} is known: it is ${status} (${submission.state}${known}). There is nothing to settle.`)
  }
  // The wall clock may have been set forward since the order was entered. Where the resolver watches it, the time it has done so bounds the
  // age.
  const ageMs = Math.min(epochMs(clock.now()) - epochMs(order.entryTime), resolver.watchedMs(orderId) ?? Number.POSITIVE_INFINITY)
  const youngMs = timing.absenceMs.label - ageMs
  if (youngMs > 0 || commands.isSending(order))
    throw new NotSettled(`${orderId} may still be on its way. Try again in ${Math.max(1, Math.ceil(youngMs / 1_000))} seconds.`)
}

/**
 * Demands that the broker's list has no order that may be this one. Unreadable orders may be, and orders known to be other orders of ours
 * are not.
 */
async function demandUnlikeAll(
  deps: SettlingDeps,
  placed: Placed,
  { items, leftOut = [], brokerClock }: Snapshot<OrderReport>
): Promise<void> {
  const { order, account } = placed
  const aheadMs = brokerClock === undefined ? 0 : epochMs(brokerClock) - epochMs(deps.clock.now())
  const alike = items.filter(report => report.brokerClOrdId === order.brokerClOrdId || mayMatch(order, report, aheadMs))
  const known = await deps.store.orders.idsByBrokerOrderIds(account.accountId, [
    ...alike.map(({ brokerOrderId }) => brokerOrderId),
    ...leftOut.filter(id => id !== null)
  ])
  const others = new Set<string>()
  for (const { brokerOrderId, orderId } of known) {
    const other = await deps.orderWriter.find(orderId)
    if (other !== null && other.submission.state !== 'external') others.add(brokerOrderId)
  }
  const candidates = alike.filter(({ brokerOrderId }) => !others.has(brokerOrderId)).map(({ brokerOrderId }) => brokerOrderId)
  if (candidates.length > 0)
    throw new NotSettled(`${order.orderId} may be at the broker, as ${candidates.join(' or ')}, and is not ended while that can be.`)
  const unread = leftOut.filter(id => id === null || !others.has(id)).length
  if (unread > 0)
    throw new NotSettled(
      `${order.orderId} may be at the broker: its list has ${unread} ${unread === 1 ? 'order' : 'orders'} that cannot be read and may be this one. Try again later, or, when you have seen in the broker’s own records that it never had the order, do the same as unseen (--unseen on the command line).`
    )
}

async function readOrders(deps: SettlingDeps, { connection, account, order }: Placed, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
  const since = timestampOfMs(epochMs(order.entryTime) - BEFORE_MS)
  try {
    const session = deps.mirrors.session(connection)
    return await limited(deps.clock, deps.timing.commandMs, deadline => session.orders(account.brokerAccountId, since, deadline), signal)
  } catch (cause) {
    signal.throwIfAborted()
    if (!(cause instanceof BrokerFault)) throw cause
    throw new NotSettled(
      `The broker could not be read (${cause.message}). Try again later, or, when you have seen in its own records that it never had the order, do the same as unseen (--unseen on the command line).`,
      { cause }
    )
  }
}
