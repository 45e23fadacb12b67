// Compares an order at the service and the sandbox, and checks the event log.

import type { OrderRecord } from './platform.ts'
import type { Json, SandboxOrders } from './sandbox-process.ts'
import type { LogEntry, StoredOrder } from './service.ts'
import { plain, STATUS } from './snapshot.ts'

const UNSETTLED = ['submitting', 'unknown']
const TRANSIENT = ['pending', 'pending_cancel', 'pending_replace']

export interface Agreement {
  /** Why it is too early to compare; null if both sides are at rest. */
  readonly waitsFor: string | null
  /** The differences. Empty: the order is once at the broker, or provably absent, and both agree about it. */
  readonly differences: readonly string[]
}

/** Compares one order. */
export function agreement(order: OrderRecord, atSandbox: SandboxOrders): Agreement {
  const { normalized_status: status, submission } = order
  const waitsFor = UNSETTLED.includes(submission.state)
    ? `its submission is ${submission.state}`
    : TRANSIENT.includes(status)
      ? `it is ${status}`
      : null
  const differences: string[] = []
  if (atSandbox.received > 1) differences.push(`the sandbox received it ${atSandbox.received} times`)
  if (atSandbox.accepted > 1) differences.push(`the sandbox has it ${atSandbox.accepted} times`)
  const [there] = atSandbox.orders
  differences.push(...(there === undefined ? absent(order) : present(order, there)))
  return { waitsFor, differences }
}

function absent({ normalized_status: status, submission, fills }: OrderRecord): readonly string[] {
  const proofs = ['not_sent', 'not_received', 'refused']
  return [
    ...(status === 'rejected' ? [] : [`the sandbox does not have it and here it is ${status}`]),
    ...(proofs.includes(submission.state) ? [] : [`the sandbox does not have it and its submission is ${submission.state}`]),
    ...(fills.length === 0 ? [] : ['it has fills the sandbox does not know of'])
  ]
}

function present(order: OrderRecord, there: Json): readonly string[] {
  const status = STATUS[there.state]
  const ours = order.fills.map((fill: Json) => `${fill.fill_id} ${plain(fill.quantity)} ${plain(fill.price)}`).sort()
  const theirs = there.fills.map((fill: Json) => `${fill.id} ${plain(fill.quantity)} ${plain(fill.price)}`).sort()
  return [
    ...(order.normalized_status === status ? [] : [`it is ${there.state} at the sandbox and ${order.normalized_status} here`]),
    ...(JSON.stringify(ours) === JSON.stringify(theirs)
      ? []
      : [`its fills are ${theirs.join(', ')} at the sandbox and ${ours.join(', ')} here`]),
    ...(plain(order.filled_qty) === plain(there.filled) ? [] : [`${there.filled} is filled at the sandbox and ${order.filled_qty} here`]),
    ...(plain(order.order_qty) === plain(there.quantity)
      ? []
      : [`its quantity is ${there.quantity} at the sandbox and ${order.order_qty} here`])
  ]
}

/**
 * Faults of a user's event log: missing or repeated numbers, changed entries, or a last entry of an order that differs from the stored one.
 */
export function logFaults(log: readonly LogEntry[], earlier: readonly LogEntry[], orders: readonly StoredOrder[]): readonly string[] {
  const faults: string[] = []
  log.forEach(({ seq }, index) => {
    if (seq !== index + 1) faults.push(`event ${index + 1} has the number ${seq}`)
  })
  if (new Set(log.map(({ eventId }) => eventId)).size !== log.length) faults.push('an event id comes up twice')
  earlier.forEach(({ eventId }, index) => {
    if (log[index]?.eventId !== eventId) faults.push(`event ${index + 1} is another one than before`)
  })
  for (const { orderId, revision, status } of orders) {
    const last = log.findLast(({ order }) => order?.orderId === orderId)?.order
    if (last?.status !== status || last.revision !== revision)
      faults.push(`order ${orderId} is ${status} (${revision}) and its last event has ${last?.status} (${last?.revision})`)
  }
  return faults
}
