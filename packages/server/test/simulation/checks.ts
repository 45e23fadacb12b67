// What must hold at the end of every day, whatever happened in it.
import assert from 'node:assert/strict'
import type { Balance, Connection, Position } from '@trunkline/core/domain/account'
import { compare, sum } from '@trunkline/core/domain/decimal'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { filledAlong, TRANSITIONS } from '@trunkline/core/domain/order-machine'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import type { Update } from '../../src/wire/update.ts'
import { updateBytes } from '../../src/wire/update.ts'
import type { Day } from './day.ts'
import { hopeless } from './hopeless.ts'
import { readSnapshot } from './rest.ts'
import type { Login, Owner } from './scene.ts'
import type { Service } from './service.ts'
import type { StreamClient } from './stream-client.ts'
import { comparable, type Snapshot, UserRecord, type WireRecord } from './user-record.ts'
import { assertNoOlder } from './witness.ts'

const READ_MAX = 1_000

/** @throws AssertionError naming what does not hold. */
export async function check(day: Day): Promise<void> {
  const { scene, fleet } = day
  const snapshots = new Map<Owner, Snapshot>()
  for (const owner of scene.owners) {
    if ((await scene.store.inner.users.findByKey(owner.user.userKey)) === null) checkRemoved(day, owner)
    else snapshots.set(owner, await readEverywhere(day, owner))
  }
  // What those reads brought to light is published as well.
  await scene.clock.advance(1_000)
  day.assertWell()
  for (const [owner, snapshot] of snapshots) await checkOwner(day, owner, snapshot)
  await checkAnswers(day)
  checkAlarms(day)
  const sessions = fleet.living.reduce((sum, { stream }) => sum + stream.authenticated, 0)
  assert.equal(scene.store.slots.held, sessions, 'a slot is held for every session and for no other')
}

/** What REST shows, which is the same at every node. */
async function readEverywhere(day: Day, owner: Owner): Promise<Snapshot> {
  const read = (service: Service) => day.given(readSnapshot(service, owner, day.scene.doomed), 'the last reads')
  const [first, ...others] = day.fleet.living
  assert.ok(first !== undefined)
  const snapshot = await read(first)
  for (const other of others)
    assert.deepEqual(comparable(await read(other)), comparable(snapshot), `two nodes show the same of ${owner.user.userId}`)
  return snapshot
}

async function checkOwner(day: Day, owner: Owner, snapshot: Snapshot): Promise<void> {
  const { scene, clients, witness } = day
  assertNoOlder(snapshot.orders, owner.user.userId, witness.sightings(), scene.doomed)
  const log = await readLog(day, owner)
  const stored = await ordersOf(day, owner)
  checkLog(log, stored)
  const gone = new Set<unknown>()
  for (const login of owner.logins) {
    const present = await scene.store.inner.connections.find(login.connection.connectionId)
    if (present === null) gone.add(login.connection.connectionId)
    else await checkLogin(day, login, present, stored)
  }
  const shown = comparable(snapshot)
  const still = (whole: Snapshot) => without(whole, gone)
  assert.deepEqual(still(replayed(owner, log)), shown, `the log of ${owner.user.userId} leads to what REST shows`)
  for (const client of clients) checkClient(day, client, { owner, log, shown, still })
}

/** Nothing of a user who was deleted is left, and its followers were notified. */
function checkRemoved({ scene, clients }: Day, { user }: Owner): void {
  assert.ok(scene.doomed.has(user.userKey), `${user.userId} is gone and nobody wanted it`)
  for (const client of clients) {
    const followed = client.followed.get(user.userId)
    assert.ok(
      followed === undefined || followed.isGone || !followed.isWanted,
      `${client.name} was not notified that ${user.userId} is gone`
    )
  }
}

/** What is left of a snapshot when connections were deleted: the log still holds what they once had. */
function without({ orders, positions, balances }: Snapshot, gone: ReadonlySet<unknown>): Snapshot {
  const left = (records: readonly WireRecord[]) => records.filter(({ connection_id }) => !gone.has(connection_id))
  return { orders: left(orders), positions: left(positions), balances: left(balances) }
}

async function readLog({ scene: { store } }: Day, { user: { userKey } }: Owner): Promise<readonly LoggedEvent[]> {
  const log: LoggedEvent[] = []
  for (;;) {
    const events = await store.inner.events.read(userKey, log.length, READ_MAX)
    log.push(...events)
    if (events.length === 0) return log
  }
}

async function ordersOf({ scene: { store } }: Day, { logins }: Owner): Promise<readonly Order[]> {
  const accountIds = logins.flatMap(({ accounts }) => accounts.map(({ accountId }) => accountId))
  const page = { limit: READ_MAX, edge: null, descending: false } as const
  return (await store.inner.orders.list({ accountIds }, 'entryTime', page)).rows
}

/** The log has no gaps, has the last state of each order, and moves along the arrows. */
function checkLog(log: readonly LoggedEvent[], stored: readonly Order[]): void {
  const last = new Map<string, Order>()
  log.forEach((event, index) => {
    assert.equal(event.seq, index + 1, 'the log has no gaps')
    if (event.topic !== 'orders') return
    const before = last.get(event.data.orderId)
    const isStep = before === undefined || before.status === event.data.status || TRANSITIONS[before.status].includes(event.data.status)
    assert.ok(isStep, `${event.data.clOrdId} went from ${before?.status} to ${event.data.status}`)
    last.set(event.data.orderId, event.data)
  })
  for (const order of stored) assert.deepEqual(last.get(order.orderId), order, `the log has the last state of ${order.clOrdId}`)
}

async function checkLogin(day: Day, login: Login, present: Connection, stored: readonly Order[]): Promise<void> {
  const { broker, connection, accounts } = login
  const isRevoked = broker.rejects !== null
  assert.equal(present.status, isRevoked ? 'BROKEN' : 'ACTIVE', `${connection.broker} is ${isRevoked ? '' : 'not '}revoked`)
  checkHealth(day, login, present)
  // What a broker has that refuses our login cannot be known.
  if (isRevoked) return
  const orders = stored.filter(({ connectionId }) => connectionId === connection.connectionId)
  const lost = hopeless(login, orders)
  for (const order of orders) checkCarriedOn(order, orders)
  for (const order of orders) if (!lost.has(order)) checkOrder(login, order, chainOf(order, orders))
  for (const report of broker.ledger.list()) {
    const ours = orders.filter(order => order.brokerOrderId === report.brokerOrderId && !hasPassedOn(order, orders))
    assert.equal(ours.length, 1, `${connection.broker}’s ${report.brokerOrderId} is ${ours.length} records here`)
  }
  for (const { accountId, brokerAccountId } of accounts) {
    const { inner } = day.scene.store
    assert.deepEqual(holdings(await inner.accounts.positions([accountId])), holdings(broker.holdings(brokerAccountId)))
    const [balance] = await inner.accounts.balances([accountId])
    assert.ok(
      balance !== undefined && hasCash(balance, broker.cash(brokerAccountId)),
      `${connection.broker} has ${broker.cash(brokerAccountId)}`
    )
  }
}

/** All is well again, and every subscriber of the health was notified. */
function checkHealth({ fleet, clients }: Day, { broker, owner }: Login, present: Connection): void {
  const [service] = fleet.ownersOf(owner.user.userKey)
  assert.ok(service !== undefined, `${owner.user.userId} has an owner`)
  const health = service.app.mirrors.health(present)
  const followers = clients.filter(client => client.followed.get(owner.user.userId)?.isWanted === true)
  const well = broker.capabilities.accountStream ? 'live' : 'polling'
  const expected = broker.rejects !== null ? ['broken'] : followers.length > 0 ? [well] : ['live', 'polling']
  assert.ok(expected.includes(health.state), `${present.broker} is ${health.state} (${health.reason}) and should be ${expected}`)
  for (const { name, wantsStatus, statuses } of followers) {
    if (!wantsStatus) continue
    const reported = statuses.get(present.connectionId)
    const { state, since, reason } = health
    assert.deepEqual(
      reported && { state: reported.health, since: reported.since, reason: reported.reason, status: reported.status },
      { state, since, reason, status: present.status },
      `${name} was notified how ${present.broker} is`
    )
  }
}

/** Whether another order goes on under this one's id at the broker. */
function hasPassedOn({ replacedByOrderId, brokerOrderId }: Order, orders: readonly Order[]): boolean {
  return orders.some(other => other.orderId === replacedByOrderId && other.brokerOrderId === brokerOrderId)
}

/** Every order that had this one's id at the broker, itself included. */
function chainOf({ brokerOrderId }: Order, orders: readonly Order[]): readonly Order[] {
  return orders.filter(other => other.brokerOrderId === brokerOrderId)
}

/** What the broker calls filled in part may all have been filled before the order took its predecessor's place. */
function ownStatus({ fills }: Order, reported: Order['status'], chain: readonly Order[]): Order['status'] {
  return reported === 'partially_filled' && chain.length > 1 && fills.length === 0 ? 'working' : reported
}

function checkOrder({ broker }: Login, order: Order, chain: readonly Order[]): void {
  const { clOrdId, status, submission } = order
  const what = `${order.broker}’s ${clOrdId} (${order.brokerOrderId})`
  const arrivals = broker.ledger.arrivals(order.brokerClOrdId)
  if (submission.state !== 'external') assert.ok(arrivals <= 1, `${what} arrived ${arrivals} times`)
  assert.equal(order.pendingRequest, null, `${what} is ${status} and waits for something`)
  const report = broker.ledger.list().find(known => known.brokerOrderId === order.brokerOrderId)
  if (report === undefined) {
    assert.equal(arrivals, 0, `${what} is at the broker, and unknown here`)
    assert.equal(status, 'rejected', `${what} is not at the broker`)
    assert.ok(['refused', 'not_sent', 'not_received'].includes(submission.state), `${what} is ${submission.state}`)
    assert.ok(order.brokerMessage !== null, `${what} is rejected without a reason`)
    return
  }
  assert.equal(
    status,
    hasPassedOn(order, chain) ? 'replaced' : ownStatus(order, report.status, chain),
    `${what} is ${report.status} at the broker`
  )
  const fills = chain.flatMap(part => part.fills)
  if (broker.reports === 'fills') assert.deepEqual(new Set(fills), new Set(report.fills), `${what} has other fills at the broker`)
  assert.equal(sum(fills.map(({ quantity }) => quantity)), sum((report.fills ?? []).map(({ quantity }) => quantity)), what)
}

/** What was filled before an order took another's place counts against its total. */
function checkCarriedOn(order: Order, orders: readonly Order[]): void {
  const before = orders.find(({ replacedByOrderId }) => replacedByOrderId === order.orderId)
  if (before !== undefined)
    assert.equal(order.previouslyFilledQuantity, filledAlong(before), `${order.clOrdId} continues ${before.clOrdId}`)
}

/** What anybody has who reads the log from its beginning. */
function replayed({ user }: Owner, log: readonly LoggedEvent[]): Snapshot {
  const record = new UserRecord()
  for (const event of log) record.apply(readUpdate(updateText(event, user.userId)))
  return record.snapshot()
}

function checkClient(
  { scene }: Day,
  client: StreamClient,
  {
    owner,
    log,
    shown,
    still
  }: {
    readonly owner: Owner
    readonly log: readonly LoggedEvent[]
    readonly shown: Snapshot
    readonly still: (whole: Snapshot) => Snapshot
  }
): void {
  const { userId } = owner.user
  const followed = client.followed.get(userId)
  if (followed === undefined || !followed.isWanted) return
  const { record } = followed
  const all = client.topics.some(topics => topics.includes('all'))
  const wants = (topic: keyof Snapshot) => all || client.topics.some(topics => topics.includes(topic))
  const due = log.filter(({ seq, topic }) => seq > record.since && wants(topic))
  assert.deepEqual(
    due.map(({ seq }) => seq),
    [...record.received.keys()].toSorted((a, b) => a - b),
    `${client.name} got every update of ${userId} from ${record.since} on`
  )
  for (const event of due)
    assert.equal(record.received.get(event.seq), updateText(event, userId), `${client.name} got ${event.seq} as the log has it`)
  const snapshot = still(record.snapshot())
  for (const topic of ['orders', 'positions', 'balances'] as const) {
    if (wants(topic)) assert.deepEqual(snapshot[topic], shown[topic], `${client.name} has the ${topic} of ${userId} that REST shows`)
  }
  scene.trace.mix(`${client.name} ${userId} ${record.position}`)
}

async function checkAnswers(day: Day): Promise<void> {
  for (const answer of day.platform.answers) {
    const final = await day.scene.store.inner.orders.find(answer.orderId)
    if (final === null && (day.scene.doomed.has(answer.connectionId) || day.scene.doomed.has(answer.userKey))) continue
    assert.ok(final !== null, `${answer.clOrdId} was answered and is not stored`)
    if (!isOpen(answer.status)) assert.equal(final.status, answer.status, `${answer.clOrdId} was answered ${answer.status}`)
    assert.ok(final.revision >= answer.revision, `${answer.clOrdId} was answered in a later revision than is stored`)
  }
}

function checkAlarms({ fleet, scene }: Day): void {
  const alarms = fleet.services.flatMap(({ counted }) => [...counted.keys()].filter(name => name.startsWith('order_alarms_total')))
  // Whether an execution came late is judged by two clocks, and one of them was set, or is that of another node.
  const isExcused = scene.trace.counts.has('clockJump') || !fleet.isAlone
  // A broker that does not answer in time does not hold a removal up for ever.
  const isRemoved = scene.doomed.size > 0
  const real = alarms.filter(name => !name.endsWith(' ambiguous') && !(isRemoved && name.endsWith(' abandoned')))
  assert.deepEqual(isExcused ? real.filter(name => !name.endsWith(' late_fill')) : real, [])
}

function holdings(positions: readonly Pick<Position, 'symbol' | 'quantity'>[]): readonly string[] {
  return positions.map(({ symbol, quantity }) => `${quantity} ${symbol}`).toSorted()
}

function hasCash({ cash }: Balance, expected: NonNullable<Balance['cash']>): boolean {
  return cash !== null && compare(cash, expected) === 0
}

function updateText(event: LoggedEvent, userId: Owner['user']['userId']): string {
  return Buffer.from(updateBytes(event, userId)).toString()
}

function readUpdate(text: string): Update {
  return JSON.parse(text)
}
