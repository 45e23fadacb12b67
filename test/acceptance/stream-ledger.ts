// What must be true of the updates of one user, whatever happened.
import assert from 'node:assert/strict'
import type { Body } from './api.ts'
import type { ReceivedMessage, StreamClient } from './stream-client.ts'

/** Where an order may go from where it is. What is not here is final. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  pending: ['working', 'partially_filled', 'filled', 'rejected', 'cancelled', 'expired'],
  working: ['partially_filled', 'filled', 'cancelled', 'expired', 'rejected', 'pending_cancel', 'pending_replace', 'replaced'],
  partially_filled: ['filled', 'cancelled', 'expired', 'pending_cancel', 'pending_replace', 'replaced'],
  pending_cancel: ['cancelled', 'filled', 'working', 'partially_filled', 'expired', 'replaced'],
  pending_replace: ['replaced', 'working', 'partially_filled', 'filled', 'cancelled', 'rejected', 'expired']
}

/** Fails unless `received`, all topics of one user from `after` on, has no gap and no repeat, and no order goes back. */
export function assertLawful(received: readonly ReceivedMessage[], after: number): void {
  const seqs = received.map(({ message }) => message.seq)
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => after + index + 1),
    'seq counts up without a gap'
  )
  assert.equal(new Set(received.map(({ message }) => message.event_id)).size, received.length, 'an event_id names one event')
  for (const [orderId, records] of historiesOf(received)) {
    for (const [index, record] of records.entries()) {
      const before = records[index - 1]
      if (before === undefined) continue
      const step = `order ${orderId}: ${before.normalized_status} (revision ${before.revision}) → ${record.normalized_status} (${record.revision})`
      assert.ok(record.revision > before.revision, `${step}: the later is the newer`)
      const isSame = record.normalized_status === before.normalized_status
      assert.ok(isSame || ARROWS[before.normalized_status]?.includes(record.normalized_status), step)
      const fillIds: readonly string[] = record.fills.map((fill: Body) => fill.fill_id)
      assert.equal(new Set(fillIds).size, fillIds.length, `${step}: a fill counts once`)
      assert.ok(
        before.fills.every((fill: Body) => fillIds.includes(fill.fill_id)),
        `${step}: a fill stays`
      )
    }
  }
}

/** Fails when a record that a request was answered with is contradicted by the updates. */
export function assertAgrees(received: readonly ReceivedMessage[], answered: Body): void {
  const records = historiesOf(received).get(answered.order_id) ?? []
  const same = records.find(({ revision }) => revision === answered.revision)
  if (same !== undefined) assert.deepEqual(same, answered, 'one revision of an order is one record')
  const last = records.at(-1)
  assert.ok(
    last !== undefined && last.revision >= answered.revision,
    `an answer of revision ${answered.revision} is newer than all updates`
  )
}

/** Fails unless `client` received of a user, byte for byte, what `watcher` received above `after` of `topics`, each thing once. */
export async function assertSameUpdates(
  client: StreamClient,
  watcher: StreamClient,
  userId: string,
  { after = 0, topics = ['orders', 'positions', 'balances'] }: { readonly after?: number; readonly topics?: readonly string[] } = {}
): Promise<void> {
  const received = ({ updates }: StreamClient) =>
    updates.filter(({ message }) => message.user_id === userId && message.seq > after && topics.includes(message.type))
  const wanted = received(watcher)
  assert.ok(wanted.length > 0, 'the watcher received nothing, which proves nothing')
  await client.quiet()
  // The client may have received something that happened since.
  const clientUpdates = received(client).slice(0, wanted.length)
  assert.deepEqual(clientUpdates.map(nameOf), wanted.map(nameOf))
  for (const [index, { text }] of wanted.entries()) assert.equal(clientUpdates[index]?.text, text)
  const seqs = client.of(userId).map(({ message }) => message.seq)
  assert.deepEqual(
    seqs,
    [...new Set(seqs)].toSorted((a, b) => a - b),
    'each once, in order'
  )
}

/** Every record of every order, in the order in which they came. */
export function historiesOf(received: readonly ReceivedMessage[]): ReadonlyMap<string, readonly Body[]> {
  const orders = received.filter(({ message }) => message.type === 'orders').map(({ message }) => message.data)
  return Map.groupBy(orders, ({ order_id }) => order_id)
}

/** What a client knows that applied every update by replacing: orders by id, positions by symbol, balances by currency. */
export function accumulated(received: readonly ReceivedMessage[]): {
  readonly orders: ReadonlyMap<string, Body>
  readonly positions: ReadonlyMap<string, Body>
  readonly balances: ReadonlyMap<string, Body>
} {
  const [orders, positions, balances] = [new Map<string, Body>(), new Map<string, Body>(), new Map<string, Body>()]
  for (const { message } of received) {
    if (message.type === 'orders') orders.set(message.data.order_id, message.data)
    if (message.type === 'balances') balances.set(message.data.currency_code, message.data)
    if (message.type !== 'positions') continue
    for (const record of message.data) {
      if (record.quantity === '0') positions.delete(record.symbol)
      else positions.set(record.symbol, record)
    }
  }
  return { orders, positions, balances }
}

/** A helper for waiting: whether an order named so by its client has been received in one of the statuses. */
export function isReceived(received: readonly ReceivedMessage[], clOrderId: string, ...statuses: readonly string[]): boolean {
  return received.some(
    ({ message }) =>
      message.type === 'orders' && message.data.cl_order_id === clOrderId && statuses.includes(message.data.normalized_status)
  )
}

function nameOf({ message }: ReceivedMessage): string {
  return `${message.seq} ${message.type} ${message.event_id}`
}
