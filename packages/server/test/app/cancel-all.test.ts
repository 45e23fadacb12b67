// Cancelling all: each order by itself, nothing twice, nothing called cancelled that is only requested.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { cancelOrders } from '@trunkline/core/app/orders/cancel-orders'
import { Bench, type World } from './bench.ts'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const all = (world: World) => world.given(cancelOrders(world.app, world.caller, { accountId: world.account.accountId }))

test('every open order is asked for, and each is told as what it is: confirmed, only requested, refused, filled meanwhile', async () => {
  await using world = await bench.world()
  await world.live()
  for (const clOrdId of ['one', 'two', 'three']) await world.given(world.place({ clOrdId }))
  const done = await world.given(world.place({ clOrdId: 'done' }))
  world.book.fill(done.brokerOrderId ?? '', '10')
  await world.clock.advance(1_000)
  // One is confirmed, one is taken and not confirmed, one is refused.
  world.broker.plans.cancel.push({}, { effect: 'done', status: 'working', replyAfterMs: 10 }, { effect: 'refused', message: 'Too late.' })
  const { results, remaining } = await all(world)
  assert.deepEqual(results.map(({ result }) => result).sort(), ['cancelled', 'refused', 'requested'])
  assert.equal(remaining, 0)
  for (const { result, order } of results) {
    const stored = await world.stored(order)
    assert.equal(stored.status, result === 'cancelled' ? 'cancelled' : result === 'requested' ? 'pending_cancel' : 'working')
  }
})

test('asked again it sends nothing for what was asked for, and asks for the rest', async () => {
  await using world = await bench.world()
  await world.live()
  await world.given(world.place({ clOrdId: 'first' }))
  world.broker.plans.cancel.push({ effect: 'done', status: 'working', replyAfterMs: 10 })
  assert.deepEqual(
    (await all(world)).results.map(({ result }) => result),
    ['requested']
  )
  await world.clock.advance(1_000)
  await world.given(world.place({ clOrdId: 'second' }))
  const again = await all(world)
  assert.deepEqual(
    again.results.map(({ order, result }) => [order.clOrdId, result]),
    [
      ['second', 'cancelled'],
      ['first', 'requested']
    ]
  )
  assert.equal(world.broker.sent('cancel'), 2)
})

test('an order whose fate is unknown keeps the wish', async () => {
  await using world = await bench.world()
  world.broker.plans.submit.push({ effect: 'none', reply: 'unknown' })
  await world.given(world.place())
  const { results } = await all(world)
  assert.deepEqual(
    results.map(({ result, order }) => [result, order.status]),
    [['requested', 'pending']]
  )
})

test('a request takes so many orders and says how many are left', async () => {
  await using world = await bench.world()
  for (const clOrdId of ['a', 'b', 'c', 'd', 'e']) await world.given(world.place({ clOrdId }))
  const some = () => world.given(cancelOrders(world.app, world.caller, {}, 3))
  const [first, second, third] = [await some(), await some(), await some()]
  assert.deepEqual([first.results.length, first.remaining], [3, 2])
  assert.deepEqual([second.results.length, second.remaining], [2, 0])
  assert.deepEqual([third.results.length, third.remaining], [0, 0])
})

test('while a broker is silent no cancel is begun after fifteen seconds, and those that were not say so', async () => {
  await using world = await bench.world()
  for (let count = 0; count < 80; count += 1) await world.given(world.place({ clOrdId: `order ${count}` }))
  for (let count = 0; count < 80; count += 1) world.broker.plans.cancel.push({ effect: 'none', reply: 'deadline' })
  const { results } = await all(world)
  const counted = (result: string) => results.filter(each => each.result === result).length
  assert.ok(counted('requested') >= 16, 'those that were begun')
  assert.ok(counted('not_attempted') > 0)
  assert.equal(counted('requested') + counted('not_attempted'), 80)
  for (const { result, order } of results) if (result === 'not_attempted') assert.equal((await world.stored(order)).status, 'working')
})

test('what nobody expects at one order is its own result, logged: the others keep theirs', async t => {
  await using world = await bench.world()
  await world.live()
  for (let count = 0; count < 20; count += 1) await world.given(world.place())
  const { desk } = world.app
  const find = desk.findOf.bind(desk)
  let asked = 0
  t.mock.method(desk, 'findOf', async (...key: Parameters<typeof find>) => {
    asked += 1
    if (asked === 3) throw new Error('connection terminated unexpectedly')
    return find(...key)
  })
  const { results } = await all(world)
  assert.equal(results.filter(({ result }) => result === 'cancelled').length, 19)
  const failed = results.filter(({ result }) => result === 'failed')
  assert.deepEqual(
    failed.map(({ failure, order }) => [failure?.code, order.status]),
    [['internal', 'working']]
  )
  const [first] = failed
  assert.ok(first !== undefined)
  const errors = world.logged.filter(({ level, fields }) => level === 'error' && fields.orderId === first.order.orderId)
  assert.equal(errors.length, 1)
})
