// Records that could not be read: nothing in a partial list counts as gone, and what it lacks is not confirmed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseDay } from '@trunkline/core/domain/timestamp'
import type { Broker } from '@trunkline/core/ports/broker'
import { Bench, type World } from '@trunkline/testkit/bench'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

const ticket = (symbol: string): OrderTicket => ({
  ...{ side: 'BUY', type: 'LMT', tif: 'GTC', symbol, instrument: 'STK', notional: null, stopPrice: null, legs: null },
  quantity: parseDecimal('10', 'quantity'),
  limitPrice: parseDecimal('10.00', 'limitPrice')
})

/** Ten of each symbol are held, and the mirror is live. */
async function holding(...symbols: readonly string[]): Promise<World> {
  const world = await bench.world()
  for (const symbol of symbols)
    world.ledger.fill(world.ledger.addOutside(ticket(symbol), world.account.brokerAccountId).brokerOrderId, '10')
  await followed(world)
  assert.deepEqual(Object.keys(await held(world)), symbols)
  return world
}

async function followed(world: World): Promise<void> {
  world.app.mirrors.hold(world.connection)
  await world.clock.until(() => world.health.state === 'live', 'live')
}

/** The stored quantities, with the time at which each was confirmed. */
async function held({ account }: World): Promise<Readonly<Record<string, readonly [quantity: string, at: string]>>> {
  const positions = await bench.store.accounts.positions([account.accountId])
  return Object.fromEntries(positions.map(({ symbol, quantity, systemTime }) => [symbol, [quantity, systemTime] as const]).sort())
}

async function confirmed({ account }: World, kind: 'positions' | 'balances' | 'transactions') {
  const freshness = await bench.store.accounts.freshness(account.accountId)
  return kind === 'transactions' ? freshness.transactions?.at : freshness[kind]
}

/** From now on these records of a kind cannot be read. */
function leaveOut({ broker }: World, kind: 'positions' | 'balances' | 'transactions', isLeftOut: (id: string) => boolean): void {
  broker.readPlan = read => (read === kind ? { leavesOut: isLeftOut } : {})
}

async function readAgain(world: World): Promise<void> {
  world.broker.streams.down()
  world.broker.streams.up()
  await world.clock.advance(20_000)
  assert.equal(world.health.state, 'live')
}

test('a position that cannot be read stays as it was last confirmed; the others are confirmed, and none is reported closed [S77]', async () => {
  await using world = await holding('AAPL', 'QQQ', 'SPY')
  const [before, events] = [await held(world), (await world.events()).length]
  const listConfirmed = await confirmed(world, 'positions')
  leaveOut(world, 'positions', symbol => symbol === 'QQQ')
  await world.clock.advance(60_000)
  await readAgain(world)
  const after = await held(world)
  assert.deepEqual(after.QQQ, before.QQQ)
  for (const symbol of ['AAPL', 'SPY']) assert.ok(String(after[symbol]?.[1]) > String(before[symbol]?.[1]), symbol)
  assert.equal(await confirmed(world, 'positions'), listConfirmed, 'the list as a whole is not')
  assert.equal((await world.events()).length, events)

  // What changes beside it is reported.
  world.ledger.fill(world.ledger.addOutside({ ...ticket('SPY'), side: 'SELL' }, world.account.brokerAccountId).brokerOrderId, '4')
  await readAgain(world)
  assert.deepEqual([(await held(world)).SPY?.[0], (await held(world)).QQQ], ['6', before.QQQ])
  assert.equal((await world.events()).filter(({ topic, data }) => topic === 'positions' && JSON.stringify(data).includes('QQQ')).length, 1)
})

test('nothing that a partial list lacks is closed, not even what was sold; the next whole list closes it', async () => {
  await using world = await holding('AAPL', 'QQQ', 'SPY')
  leaveOut(world, 'positions', symbol => symbol === 'QQQ')
  world.ledger.fill(world.ledger.addOutside({ ...ticket('SPY'), side: 'SELL' }, world.account.brokerAccountId).brokerOrderId, '10')
  await readAgain(world)
  assert.deepEqual(Object.keys(await held(world)), ['AAPL', 'QQQ', 'SPY'])
  assert.equal(world.app.mirrors.leftOut(world.connection)?.records, 1)
  world.broker.readPlan = () => ({})
  await readAgain(world)
  assert.deepEqual(Object.keys(await held(world)), ['AAPL', 'QQQ'])
  assert.equal(world.app.mirrors.leftOut(world.connection), null)
})

test('a partial list that the stream sends closes nothing, and causes no read', async () => {
  await using world = await holding('AAPL', 'QQQ')
  const { brokerAccountId } = world.account
  const [aapl] = world.broker.holdings(brokerAccountId)
  assert.ok(aapl !== undefined)
  const reads = world.broker.reads.positions
  world.broker.streams.push({ type: 'positions', brokerAccountId, positions: { items: [aapl], asOf: world.clock.now(), leftOut: [null] } })
  await world.clock.settled()
  assert.deepEqual([Object.keys(await held(world)), world.broker.reads.positions], [['AAPL', 'QQQ'], reads])
})

test('a partial list does not take the place of a whole one that waits to be stored', async () => {
  await using world = await holding('AAPL', 'QQQ')
  const { brokerAccountId } = world.account
  const push = (leftOut?: readonly null[]) => {
    const [aapl] = world.broker.holdings(brokerAccountId)
    assert.ok(aapl !== undefined)
    const positions = { items: [aapl], asOf: world.clock.now(), ...(leftOut === undefined ? {} : { leftOut }) }
    world.broker.streams.push({ type: 'positions', brokerAccountId, positions })
  }
  world.ledger.fill(world.ledger.addOutside({ ...ticket('QQQ'), side: 'SELL' }, brokerAccountId).brokerOrderId, '10')
  const gate = Promise.withResolvers<void>()
  world.watched.intercept = async call => {
    if (call.name === 'accounts.putPositions') await gate.promise
    return call.go()
  }
  push([null])
  await world.clock.settled()
  push()
  push([null])
  await world.clock.settled()
  world.watched.intercept = null
  gate.resolve()
  await world.clock.settled()
  assert.deepEqual(Object.keys(await held(world)), ['AAPL'])
})

test('what a whole list lacks is closed only if the read that confirms it is whole, too', async () => {
  await using world = await holding('AAPL', 'QQQ')
  let reads = 0
  world.broker.readPlan = read => {
    if (read !== 'positions') return {}
    reads += 1
    return reads === 1 ? { isEmpty: true } : { leavesOut: symbol => symbol === 'QQQ' }
  }
  await readAgain(world)
  assert.ok(reads >= 2)
  assert.deepEqual(Object.keys(await held(world)), ['AAPL', 'QQQ'])
})

test('positions that are partial when they are first read are stored, with the time of that read', async () => {
  await using world = await bench.world()
  for (const symbol of ['AAPL', 'QQQ'])
    world.ledger.fill(world.ledger.addOutside(ticket(symbol), world.account.brokerAccountId).brokerOrderId, '10')
  leaveOut(world, 'positions', symbol => symbol === 'QQQ')
  await followed(world)
  const { AAPL, ...others } = await held(world)
  assert.deepEqual([AAPL?.[0], AAPL?.[1], others], ['10', await confirmed(world, 'positions'), {}])
})

test('a balance that cannot be read stays as it was last confirmed', async () => {
  await using world = await holding('AAPL')
  const { accountId } = world.account
  const [before, at] = [await bench.store.accounts.balances([accountId]), await confirmed(world, 'balances')]
  assert.equal(before.length, 1)
  leaveOut(world, 'balances', () => true)
  await world.clock.advance(60_000)
  await readAgain(world)
  assert.deepEqual(await bench.store.accounts.balances([accountId]), before)
  assert.equal(await confirmed(world, 'balances'), at)
  world.broker.readPlan = () => ({})
  await readAgain(world)
  assert.ok(String(await confirmed(world, 'balances')) > String(at))
})

test('a partial list of transactions adds what it has, and confirms no days', async () => {
  await using world = await holding('AAPL', 'QQQ')
  const days = { from: parseDay('2000-01-01', 'from'), to: parseDay('2100-01-01', 'to') }
  const read = () => world.app.mirrors.freshenTransactions([world.connection], [world.account], days)
  const stored = async () => (await transactionsOf(world)).length
  await world.given(read())
  const [all, at] = [await stored(), await confirmed(world, 'transactions')]
  assert.ok(all > 1 && at !== undefined)
  leaveOut(world, 'transactions', id => id.endsWith('1'))
  await world.clock.advance(60_000)
  await world.given(read())
  assert.deepEqual([await stored(), await confirmed(world, 'transactions')], [all, at])
})

async function transactionsOf({ account }: World) {
  const filter = { from: parseDay('2000-01-01', 'from'), to: parseDay('2100-01-01', 'to'), types: null }
  return (await bench.store.accounts.transactions([account.accountId], filter, { limit: 100, edge: null, descending: true })).rows
}

test('how many records the lists of a connection lack is shown with its health, and when that was last so', async () => {
  await using world = await holding('AAPL', 'QQQ')
  assert.equal(world.app.mirrors.leftOut(world.connection), null)
  leaveOut(world, 'positions', symbol => symbol === 'QQQ')
  await readAgain(world)
  const leftOut = world.app.mirrors.leftOut(world.connection)
  assert.ok(leftOut !== null && leftOut.records === 1 && leftOut.at <= world.clock.now())
  const session: Broker = world.app.mirrors.session(world.connection)
  world.broker.readPlan = () => ({})
  await world.given(session.positions(world.account.brokerAccountId, new AbortController().signal))
  assert.equal(world.app.mirrors.leftOut(world.connection), null)
})
