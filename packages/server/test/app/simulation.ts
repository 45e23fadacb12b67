// Random days, each from a seed. Whatever happened, in the end the records are the broker's books, and nothing was sent twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sum } from '@trunkline/core/domain/decimal'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { ARROWS } from '@trunkline/core/domain/order-machine'
import type { Bench, World } from './bench.ts'
import { Chance } from './chance.ts'
import { SimulatedDay } from './simulated-day.ts'

const FIRST_SEED = Number(process.env.TRUNKLINE_TEST_SEED ?? 1)
const AT_ONCE = 8

/** @param days how many, unless the environment says it. */
export function simulation(open: () => Promise<Bench>, days: number): void {
  const count = Number(process.env.TRUNKLINE_TEST_SEEDS ?? days)
  let bench: Bench
  before(async () => {
    bench = await open()
  })
  after(() => bench[Symbol.asyncDispose]())

  test(`${count} random days end with the broker’s books, from seed ${FIRST_SEED} on`, async () => {
    const seeds = Array.from({ length: count }, (_, index) => FIRST_SEED + index)
    const failures: Error[] = []
    const worker = async () => {
      for (let seed = seeds.shift(); seed !== undefined && failures.length === 0; seed = seeds.shift()) {
        await day(bench, seed).catch((cause: unknown) => failures.push(cause instanceof Error ? cause : new Error(String(cause))))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    if (failures.length > 0) throw failures[0]
  })
}

async function day(bench: Bench, seed: number): Promise<void> {
  const chance = new Chance(seed)
  const deduplication = chance.weighted({ enforced: 6, bounded: 2, open_only: 2, label: 1 })
  await using world = await bench.world({ capabilities: { deduplication, accountStream: chance.happens(0.85) } })
  world.broker.listsBy = chance.happens(0.7) ? 'updatedAt' : 'entryTime'
  world.broker.tells = chance.happens(0.8) ? 'fills' : 'totals'
  const simulated = new SimulatedDay(world, chance)
  try {
    await simulated.run(chance.whole(5, 40))
    await simulated.end()
    await check(world, simulated.answers)
  } catch (cause) {
    const rerun = `TRUNKLINE_TEST_SEED=${seed} TRUNKLINE_TEST_SEEDS=1`
    throw new Error(`seed ${seed} (again with ${rerun}): ${String(cause)}\n${simulated.diary.join('\n')}`, { cause })
  }
}

async function check(world: World, answers: readonly Order[]): Promise<void> {
  const orders = await world.orders()
  for (const order of orders) checkOrder(world, order)
  for (const report of world.book.list()) {
    const ours = orders.filter(({ brokerOrderId }) => brokerOrderId === report.brokerOrderId)
    assert.equal(ours.length, 1, `the broker’s ${report.brokerOrderId} is ${ours.length} records here`)
  }
  for (const answer of answers) {
    const final = orders.find(({ orderId }) => orderId === answer.orderId)
    if (!isOpen(answer.status)) assert.equal(final?.status, answer.status, `${answer.clOrdId} was answered ${answer.status}`)
  }
  await checkEvents(world, orders)
  await checkHoldings(world)
  const alarms = [...world.counted].filter(([name]) => name.startsWith('order_alarms_total'))
  assert.deepEqual(alarms, [])
}

function checkOrder(world: World, order: Order): void {
  const { clOrdId, status, submission } = order
  const what = `${clOrdId} (${order.brokerOrderId})`
  const arrivals = world.book.arrivals(order.brokerClOrdId)
  if (submission.state !== 'external') assert.ok(arrivals <= 1, `${what} arrived ${arrivals} times`)
  assert.equal(order.pendingRequest, null, `${what} is ${status} and waits for something`)
  const report = world.book.list().find(known => known.brokerOrderId === order.brokerOrderId)
  if (report === undefined) {
    assert.equal(arrivals, 0, `${what} is at the broker, and unknown here`)
    assert.equal(status, 'rejected', `${what} is not at the broker`)
    assert.ok(['refused', 'not_sent', 'not_received'].includes(submission.state), `${what} is ${submission.state}`)
    return
  }
  assert.equal(status, report.status, `${what} is ${report.status} at the broker`)
  if (world.broker.tells === 'fills') assert.deepEqual(new Set(order.fills), new Set(report.fills), `${what} has other fills at the broker`)
  assert.equal(sum(order.fills.map(({ quantity }) => quantity)), sum((report.fills ?? []).map(({ quantity }) => quantity)), what)
}

/** The log has no gaps, tells the last state of each order, and moves along the arrows. */
async function checkEvents(world: World, orders: readonly Order[]): Promise<void> {
  const events = await world.events()
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1)
  )
  const last = new Map<string, Order>()
  for (const event of events) {
    if (event.topic !== 'orders') continue
    const before = last.get(event.data.orderId)
    const isStep = before === undefined || before.status === event.data.status || ARROWS[before.status].includes(event.data.status)
    assert.ok(isStep, `${event.data.clOrdId} went from ${before?.status} to ${event.data.status}`)
    last.set(event.data.orderId, event.data)
  }
  for (const order of orders) assert.deepEqual(last.get(order.orderId), order)
  const told = new Set(world.told.map(({ seq }) => seq))
  assert.equal(told.size, world.told.length, 'an event was told twice')
}

async function checkHoldings(world: World): Promise<void> {
  const stale = await world.given(world.app.mirrors.freshen([world.connection], world.accounts, 'positions'))
  assert.deepEqual(stale, [])
  const stored = await world.watched.store.accounts.positions([world.account.accountId])
  const held = world.broker.holdings(world.account.brokerAccountId)
  assert.deepEqual(
    stored.map(({ symbol, quantity }) => [symbol, quantity]),
    held.map(({ symbol, quantity }) => [symbol, quantity])
  )
}
