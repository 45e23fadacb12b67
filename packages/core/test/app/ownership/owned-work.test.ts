// The work for users as their partitions come and go.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type OrderRequest, placeOrder } from '@trunkline/core/app/orders/place-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseClOrdId, type UserKey } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS } from '@trunkline/core/domain/partition'
import type { Ownership, OwnershipListener } from '@trunkline/core/ports/ownership'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { application } from '@trunkline/testkit/application'
import { Bench, type World } from '@trunkline/testkit/bench'
import * as make from '@trunkline/testkit/store-contract/records'
import { withMethods } from '@trunkline/testkit/with-methods'

let bench: Bench
before(async () => {
  bench = await Bench.open()
})
after(() => bench[Symbol.asyncDispose]())

/** A node's ownership of some users, whose partitions were all gained at once. */
class OwnedUsers implements Ownership {
  readonly users: Set<UserKey>
  readonly #closing = new Set<UserKey>()
  #fence = 1
  #listener: OwnershipListener | null = null

  constructor(...worlds: readonly World[]) {
    this.users = new Set(worlds.map(({ connection }) => connection.userKey))
  }

  ownerOf(userKey: UserKey) {
    return this.users.has(userKey) && !this.#closing.has(userKey) ? ({ kind: 'this' } as const) : ({ kind: 'none' } as const)
  }

  fenceOf(userKey: UserKey): number | null {
    return this.users.has(userKey) ? this.#fence : null
  }

  async changed(): Promise<void> {}

  listen(listener: OwnershipListener): () => void {
    this.#listener = listener
    listener.gained(new Set(ALL_PARTITIONS))
    return () => undefined
  }

  /** Another node had it in between. */
  regain({ connection }: World): void {
    this.#fence += 2
    this.users.add(connection.userKey)
    this.#listener?.gained(new Set(ALL_PARTITIONS))
  }

  /** The user moves away: nothing begins for it any more, and what has begun may be finished until this resolves. */
  async close({ connection }: World): Promise<void> {
    this.#closing.add(connection.userKey)
    await this.#listener?.release(new Set(ALL_PARTITIONS))
    this.users.delete(connection.userKey)
  }

  async release({ connection }: World): Promise<void> {
    this.users.delete(connection.userKey)
    await this.#listener?.release(new Set(ALL_PARTITIONS))
  }
}

/** Stores an order that was being sent when its owner ended. */
async function leftSending({ caller: { platform, user }, connection, account, accounts }: World): Promise<void> {
  await bench.store.orders.record([make.created(make.order({ platform, user, connection, account, accounts }))])
}

test('a user who moves on while open orders are taken up does not keep those of others from being taken up', async () => {
  await using moved = await bench.world()
  await using kept = await bench.world()
  for (const world of [moved, kept]) await leftSending(world)
  const ownership = new OwnedUsers(moved, kept)
  const { store } = kept.deps
  const orders = withMethods(store.orders, {
    record: changes => {
      // The user moves on just before its order is written.
      ownership.users.delete(moved.connection.userKey)
      if (changes.every(({ order }) => ownership.users.has(order.userKey))) return store.orders.record(changes)
      return Promise.reject(new StoreUnavailable('The user is being moved to another node of the service; try again.'))
    }
  })
  const connections = withMethods(store.connections, { withUnfinishedOrders: async () => [moved.connection, kept.connection] })
  await using node = application({ ...kept.deps, ownership, store: withMethods(store, { orders, connections }) })
  await kept.given(node.app.ownedWork.start(), 60_000)
  await kept.clock.until(() => node.app.mirrors.isLive(kept.connection.connectionId), 'the connection of the other user is followed')
  assert.equal(node.app.mirrors.count, 1)
  await kept.given(node.stop())
})

test('open orders that can never be taken up keep neither those of others nor the start waiting, and are tried again', async () => {
  await using broken = await bench.world()
  await using kept = await bench.world()
  for (const world of [broken, kept]) await leftSending(world)
  const { store } = kept.deps
  let attempts = 0
  const orders = withMethods(store.orders, {
    unfinished: where => {
      if (!('connectionId' in where) || where.connectionId !== broken.connection.connectionId) return store.orders.unfinished(where)
      attempts += 1
      return Promise.reject(new Error('no order'))
    }
  })
  const connections = withMethods(store.connections, { withUnfinishedOrders: async () => [broken.connection, kept.connection] })
  await using node = application({
    ...kept.deps,
    ownership: new OwnedUsers(broken, kept),
    store: withMethods(store, { orders, connections })
  })
  await kept.given(node.app.ownedWork.start())
  await kept.clock.until(() => node.app.mirrors.isLive(kept.connection.connectionId), 'the other connection is followed')
  await kept.clock.until(() => attempts >= 3, 'it is tried again')
  assert.equal(node.app.mirrors.count, 2)
  await kept.given(node.stop())
})

test('the work for a user who moves on while its order is looked up ends with that look-up', async () => {
  await using world = await bench.world()
  await leftSending(world)
  let isLookedUp = false
  world.broker.readPlan = kind => {
    if (kind !== 'findOrder') return {}
    isLookedUp = world.clock.monotonicMs() > 30_000
    return { fault: 'unreachable', afterMs: isLookedUp ? 1_000 : 0 }
  }
  const ownership = new OwnedUsers(world)
  await using node = application({ ...world.deps, ownership })
  await world.given(node.app.ownedWork.start())
  await world.clock.until(() => isLookedUp, 'a look-up of those that are rare is on its way')
  const releasedMs = world.clock.monotonicMs()
  await world.given(ownership.release(world))
  const tookMs = world.clock.monotonicMs() - releasedMs
  assert.ok(tookMs <= 2_000, `${tookMs} ms`)
  assert.equal(node.app.resolver.watched, 0)
  await world.given(node.stop())
})

test('what was asked for before the user moved away and came back does not replace what the owner between stored', async () => {
  await using world = await bench.world()
  const { store } = world.deps
  const { connection, account, clock } = world
  const ownership = new OwnedUsers(world)
  await using node = application({ ...world.deps, ownership })
  await world.given(node.app.ownedWork.start())
  world.broker.readPlan = () => ({ travelsMs: 3_000 })
  const days = { from: make.day('2026-03-02'), to: make.day('2026-03-03') }
  const reads = [
    node.app.mirrors.freshen([connection], [account], 'balances'),
    node.app.mirrors.freshen([connection], [account], 'positions'),
    node.app.mirrors.freshenTransactions([connection], [account], days)
  ]
  await clock.advance(500)
  await world.given(ownership.release(world))
  await clock.advance(500)
  const at = clock.now()
  await store.accounts.putBalances(account, [make.balance(account, '777.00', 'USD', at)])
  await store.accounts.putPositions(account, [make.position(account, 'AAPL', '7')], at)
  await clock.advance(500)
  ownership.regain(world)
  const unrefreshed = await world.given(Promise.all(reads))
  for (const accounts of unrefreshed) assert.deepEqual([...accounts], [[account.accountId, 'not_stored']])
  const ids = [account.accountId]
  const stored = async () => [(await store.accounts.balances(ids))[0]?.cash, (await store.accounts.positions(ids))[0]?.quantity]
  assert.deepEqual(await stored(), ['777.00', '7'])
  assert.equal((await store.accounts.freshness(account.accountId)).transactions, null)

  world.broker.readPlan = () => ({})
  await clock.advance(3_000)
  const again = await world.given(node.app.mirrors.freshen([connection], [account], 'balances'))
  assert.deepEqual([...again], [])
  assert.notDeepEqual(await stored(), ['777.00', '7'])
  await world.given(node.stop())
})

test('an order that is being stored when its user moves away is sent before the user is given up', async () => {
  await using world = await bench.world()
  const ownership = new OwnedUsers(world)
  const { store } = world.deps
  let closed: Promise<void> | null = null
  const orders = withMethods(store.orders, {
    record: changes => {
      closed ??= ownership.close(world)
      return store.orders.record(changes)
    }
  })
  await using node = application({ ...world.deps, ownership, store: withMethods(store, { orders }) })
  await world.given(node.app.ownedWork.start())
  const order = await world.given(placeOrder(node.app, world.caller, requestOf(world)))
  assert.equal(order.submission.state, 'acknowledged')
  await world.given(closed ?? assert.fail('the user did not move'))
  assert.equal(ownership.users.size, 0)
  await world.given(node.stop())
})

test('an order that still waits to be sent when its user has been away and is back is not sent any more', async () => {
  await using world = await bench.world()
  const { broker, clock } = world
  const ownership = new OwnedUsers(world)
  await using node = application({ ...world.deps, ownership })
  await world.given(node.app.ownedWork.start())
  broker.plans.submit.push({ waitsMs: 3_000 })
  const placed = placeOrder(node.app, world.caller, requestOf(world))
  await clock.advance(1_000)
  const released = ownership.release(world)
  await clock.advance(1_000)
  // The owner in between may have found that the broker never had it.
  ownership.regain(world)
  const order = await world.given(placed)
  await world.given(released)
  assert.deepEqual([broker.commands.length, order.status, order.submission.state], [0, 'rejected', 'not_sent'])

  const next = await world.given(placeOrder(node.app, world.caller, requestOf(world, 'again')))
  assert.equal(next.submission.state, 'acknowledged')
  await world.given(node.stop())
})

test('an order whose intent was stored before its user has been away is not sent either', async () => {
  await using world = await bench.world()
  const ownership = new OwnedUsers(world)
  const { store } = world.deps
  let isAway = false
  const orders = withMethods(store.orders, {
    record: async changes => {
      const results = await store.orders.record(changes)
      // The answer of the database is late.
      if (!isAway) void ownership.release(world)
      if (!isAway) ownership.regain(world)
      isAway = true
      return results
    }
  })
  await using node = application({ ...world.deps, ownership, store: withMethods(store, { orders }) })
  await world.given(node.app.ownedWork.start())
  const order = await world.given(placeOrder(node.app, world.caller, requestOf(world)))
  assert.deepEqual([world.broker.commands.length, order.submission.state], [0, 'not_sent'])
  await world.given(node.stop())
})

function requestOf({ account, connection }: World, clOrdId = 'moving'): OrderRequest {
  return {
    ...{ side: 'BUY', type: 'LMT', tif: 'DAY', symbol: 'SPY', instrument: 'STK', notional: null, stopPrice: null, legs: null },
    ...{ accountId: account.accountId, broker: connection.broker, clOrdId: parseClOrdId(clOrdId) },
    ...{ quantity: parseDecimal('10', 'quantity'), limitPrice: parseDecimal('10.00', 'limitPrice') }
  }
}
