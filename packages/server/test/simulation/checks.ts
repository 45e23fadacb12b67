// What must hold at the end of every day, whatever happened in it.
import assert from 'node:assert/strict'
import type { Balance, Position } from '@trunkline/core/domain/account'
import { compare, sum } from '@trunkline/core/domain/decimal'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { ARROWS } from '@trunkline/core/domain/order-machine'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import type { Update } from '../../src/wire/update.ts'
import { updateBytes } from '../../src/wire/update.ts'
import type { Day } from './day.ts'
import { readPicture } from './rest.ts'
import type { Login, Owner } from './scene.ts'
import type { StreamClient } from './stream-client.ts'
import { comparable, type Picture, UserRecord } from './user-record.ts'
import { assertNoOlder } from './witness.ts'

const READ_MAX = 1_000

/** @throws AssertionError naming what does not hold. */
export async function check(day: Day): Promise<void> {
  const pictures = new Map<Owner, Picture>()
  for (const owner of day.scene.owners) pictures.set(owner, await day.given(readPicture(day.service.app, owner.caller), 'the last reads'))
  // What those reads brought to light is told as well.
  await day.scene.clock.advance(1_000)
  day.assertWell()
  for (const [owner, picture] of pictures) {
    assertNoOlder(picture.orders, owner.user.userId, day.witness.sightings())
    const log = await readLog(day, owner)
    const stored = await ordersOf(day, owner)
    checkLog(log, stored)
    for (const login of owner.logins) await checkLogin(day, login, stored)
    const shown = comparable(picture)
    assert.deepEqual(replayed(owner, log), shown, `the log of ${owner.user.userId} leads to what REST shows`)
    for (const client of day.clients) checkClient(day, client, { owner, log, shown })
  }
  await checkAnswers(day)
  checkAlarms(day)
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

/** The log has no gaps, tells the last state of each order, and moves along the arrows. */
function checkLog(log: readonly LoggedEvent[], stored: readonly Order[]): void {
  const last = new Map<string, Order>()
  log.forEach((event, index) => {
    assert.equal(event.seq, index + 1, 'the log has no gaps')
    if (event.topic !== 'orders') return
    const before = last.get(event.data.orderId)
    const isStep = before === undefined || before.status === event.data.status || ARROWS[before.status].includes(event.data.status)
    assert.ok(isStep, `${event.data.clOrdId} went from ${before?.status} to ${event.data.status}`)
    last.set(event.data.orderId, event.data)
  })
  for (const order of stored) assert.deepEqual(last.get(order.orderId), order, `the log tells the last of ${order.clOrdId}`)
}

async function checkLogin(day: Day, login: Login, stored: readonly Order[]): Promise<void> {
  const { broker, connection, accounts } = login
  const orders = stored.filter(({ connectionId }) => connectionId === connection.connectionId)
  for (const order of orders) checkOrder(login, order)
  for (const report of broker.book.list()) {
    const ours = orders.filter(({ brokerOrderId }) => brokerOrderId === report.brokerOrderId)
    assert.equal(ours.length, 1, `${connection.broker}’s ${report.brokerOrderId} is ${ours.length} records here`)
  }
  for (const { accountId, brokerAccountId } of accounts) {
    const { inner } = day.scene.store
    assert.deepEqual(holdings(await inner.accounts.positions([accountId])), holdings(broker.holdings(brokerAccountId)))
    const [balance] = await inner.accounts.balances([accountId])
    assert.ok(balance !== undefined && hasCash(balance, broker.cash(brokerAccountId)), `${connection.broker} has ${broker.cash(brokerAccountId)}`)
  }
}

function checkOrder({ broker }: Login, order: Order): void {
  const { clOrdId, status, submission } = order
  const what = `${order.broker}’s ${clOrdId} (${order.brokerOrderId})`
  const arrivals = broker.book.arrivals(order.brokerClOrdId)
  if (submission.state !== 'external') assert.ok(arrivals <= 1, `${what} arrived ${arrivals} times`)
  assert.equal(order.pendingRequest, null, `${what} is ${status} and waits for something`)
  const report = broker.book.list().find(known => known.brokerOrderId === order.brokerOrderId)
  if (report === undefined) {
    assert.equal(arrivals, 0, `${what} is at the broker, and unknown here`)
    assert.equal(status, 'rejected', `${what} is not at the broker`)
    assert.ok(['refused', 'not_sent', 'not_received'].includes(submission.state), `${what} is ${submission.state}`)
    assert.ok(order.brokerMessage !== null, `${what} is rejected without a reason`)
    return
  }
  assert.equal(status, report.status, `${what} is ${report.status} at the broker`)
  if (broker.tells === 'fills') assert.deepEqual(new Set(order.fills), new Set(report.fills), `${what} has other fills at the broker`)
  assert.equal(sum(order.fills.map(({ quantity }) => quantity)), sum((report.fills ?? []).map(({ quantity }) => quantity)), what)
}

/** What anybody has who reads the log from its beginning. */
function replayed({ user }: Owner, log: readonly LoggedEvent[]): Picture {
  const record = new UserRecord()
  for (const event of log) record.apply(readUpdate(updateText(event, user.userId)))
  return record.picture()
}

function checkClient(
  { scene }: Day,
  client: StreamClient,
  { owner, log, shown }: { readonly owner: Owner; readonly log: readonly LoggedEvent[]; readonly shown: Picture }
): void {
  const { userId } = owner.user
  const followed = client.followed.get(userId)
  if (followed === undefined || !followed.isWanted) return
  const { record } = followed
  const all = client.topics.some(topics => topics.includes('all'))
  const wants = (topic: keyof Picture) => all || client.topics.some(topics => topics.includes(topic))
  const due = log.filter(({ seq, topic }) => seq > record.since && wants(topic))
  assert.deepEqual(
    due.map(({ seq }) => seq),
    [...record.received.keys()].toSorted((a, b) => a - b),
    `${client.name} got every update of ${userId} from ${record.since} on`
  )
  for (const event of due) assert.equal(record.received.get(event.seq), updateText(event, userId), `${client.name} got ${event.seq} as the log has it`)
  const picture = record.picture()
  for (const topic of ['orders', 'positions', 'balances'] as const) {
    if (wants(topic)) assert.deepEqual(picture[topic], shown[topic], `${client.name} has the ${topic} of ${userId} that REST shows`)
  }
  scene.trace.mix(`${client.name} ${userId} ${record.position}`)
}

async function checkAnswers(day: Day): Promise<void> {
  for (const answer of day.platform.answers) {
    const final = await day.scene.store.inner.orders.find(answer.orderId)
    assert.ok(final !== null, `${answer.clOrdId} was answered and is not stored`)
    if (!isOpen(answer.status)) assert.equal(final.status, answer.status, `${answer.clOrdId} was answered ${answer.status}`)
    assert.ok(final.revision >= answer.revision, `${answer.clOrdId} was answered in a later revision than is stored`)
  }
}

function checkAlarms({ services }: Day): void {
  const alarms = services.flatMap(({ counted }) => [...counted.keys()].filter(name => name.startsWith('order_alarms_total')))
  assert.deepEqual(alarms, [])
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
