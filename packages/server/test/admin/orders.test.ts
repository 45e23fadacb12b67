// Which orders an operator's command is about: those that fit, as many as were shown, and none without a service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { AuditEntry, UnresolvedFilter } from '@trunkline/core/ports/store'
import * as make from '@trunkline/testkit/store-contract/records'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { AdminRefused, type SettleOrders } from '../../src/admin/operations.ts'
import { listAbandoned, settleOrders } from '../../src/admin/orders.ts'
import { directory, embedded } from './support.ts'

const RUN = { by: 'tester@here', signal: new AbortController().signal, progress: () => undefined }
const HOUR_MS = 3_600_000

function stage() {
  const platform = make.platform()
  const user = make.user(platform)
  const connections = [make.connection(user), make.connection(user)] as const
  const orders = connections.flatMap(connection =>
    [0, 30, 60].map(hours => {
      const owner = { platform, user, connection, account: make.account(connection), accounts: [] }
      return make.order(owner, { entryTime: make.at(-hours * HOUR_MS) })
    })
  )
  const entries: AuditEntry[] = []
  const known = new Map<OrderId, Order>(orders.map(order => [order.orderId, order]))
  const unresolved = async (limit: number, { broker, connectionId, enteredBefore }: UnresolvedFilter = {}) =>
    orders
      .filter(order => (broker ?? order.broker) === order.broker && (connectionId ?? order.connectionId) === order.connectionId)
      .filter(order => enteredBefore === undefined || order.entryTime < enteredBefore)
      .slice(0, limit)
  const deps = {
    clock: { now: () => make.at(0) },
    store: { orders: { unresolved } },
    settling: {
      settleAll: async (ids: readonly OrderId[], { entry }: { readonly entry: ((orders: readonly Order[]) => AuditEntry) | null }) => {
        const ended = ids.flatMap(id => known.get(id) ?? [])
        if (entry !== null) entries.push(entry(ended))
        return { orders: ended, skipped: [] }
      }
    }
  }
  const settle = (more: Partial<SettleOrders>) => {
    const input = { broker: null, connectionId: null, olderThanHours: null, expected: null, because: 'seen', unseen: false, ...more }
    return settleOrders(Object(deps) satisfies AdminDeps, input, RUN)
  }
  return { settle, entries, known, connections, deps }
}

test('orders are selected by broker, connection and age, combined', async () => {
  const { settle, connections } = stage()
  const counts = [
    { broker: 'SANDBOX' },
    { broker: 'OTHER' },
    { olderThanHours: 24 },
    { connectionId: connections[0].connectionId, olderThanHours: 48 }
  ]
  assert.deepEqual(await Promise.all(counts.map(async filter => (await settle(filter)).fitting)), [6, 0, 4, 1])
  await assert.rejects(settle({}), AdminRefused)
})

test('a dry run ends nothing, nor does a run whose set has changed; otherwise all are ended with one audit entry that names them', async () => {
  const { settle, entries, known } = stage()
  const trial = await settle({ olderThanHours: 24 })
  assert.equal(trial.orders.length, 4)
  const [first, ...rest] = trial.orders
  const stored = known.get(first?.orderId as OrderId) ?? assert.fail()
  known.delete(stored.orderId)
  await assert.rejects(settle({ olderThanHours: 24, expected: trial.set }), /3 would be ended now \(set/)
  assert.equal((await settle({ olderThanHours: 24 })).orders.length, rest.length)
  known.set(stored.orderId, { ...stored, orderId: make.uuid() })
  await assert.rejects(settle({ olderThanHours: 24, expected: trial.set }), /4 would be ended now \(set/)
  known.set(stored.orderId, stored)
  assert.equal(entries.length, 0)
  const { orders } = await settle({ olderThanHours: 24, expected: trial.set })
  assert.equal(entries.length, 1)
  assert.deepEqual(entries[0]?.detail, {
    ...{ by: RUN.by, because: 'seen', unseen: false, broker: null, connection_id: null, older_than_hours: 24, count: 4 },
    orders: orders.map(({ orderId }) => orderId).join(' ')
  })
})

test('without a service that can ask the broker it is refused', async () => {
  const { deps } = stage()
  const input = { broker: 'SANDBOX', connectionId: null, olderThanHours: null, expected: null, because: 'seen', unseen: false }
  await assert.rejects(settleOrders(Object({ ...deps, settling: null }), input, RUN), /No service runs/)
})

test('abandoned orders are listed until a late answer shows their outcome, for thirty days, newest first', async context => {
  const store = await embedded(context, directory(context))
  const about = (action: string, target: string, hoursAgo: number, detail: AuditEntry['detail'] = {}): AuditEntry => ({
    ...make.audit(action, detail),
    ...{ target, at: make.at(-hoursAgo * HOUR_MS) }
  })
  for (const entry of [
    about('order.abandoned', 'long ago', 31 * 24),
    about('order.abandoned', 'answered', 5, { submission: 'submitting' }),
    about('order.abandoned', 'lost for good', 4, { submission: 'unknown', account_number: 'A-1' }),
    about('order.answered_late', 'answered', 3, { outcome: 'accepted' }),
    about('order.answered_late', 'lost for good', 3, { outcome: 'unknown' }),
    about('order.place', 'another', 2, { cl_order_id: '"order.abandoned"' })
  ])
    await store.audit.append(entry)
  const list = async (limit = 50) =>
    (await listAbandoned(Object({ store, clock: { now: () => make.at(0) } }) satisfies AdminDeps, { limit })).map(({ orderId }) => orderId)
  assert.deepEqual(await list(), ['lost for good'])
  await store.audit.seal(100)
  await store.audit.append(about('order.abandoned', 'newest', 1))
  assert.deepEqual([await list(), await list(1)], [['newest', 'lost for good'], ['newest']])
})
