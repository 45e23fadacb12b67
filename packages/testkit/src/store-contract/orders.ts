// Orders: written once, changed only from their present state, published exactly once and in order.
import assert from 'node:assert/strict'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import type { ChangeResult, OrderChange, Store } from '@trunkline/core/ports/store'
import { assertRows, type DefineCase } from './harness.ts'
import * as make from './records.ts'

export function orderCases(contractCase: DefineCase): void {
  writingCases(contractCase)
  raceCases(contractCase)
  groupCases(contractCase)
  findingCases(contractCase)
}

function writingCases(contractCase: DefineCase): void {
  contractCase('O10', 'an order comes back character for character, from its row and from its event', async ({ store }) => {
    const who = await make.owner(store)
    const order = rich(who)
    const [result] = await store.orders.record([make.created(order)])
    assert.deepEqual(await store.orders.find(order.orderId), order)
    assert.deepEqual(await store.orders.findByClOrdId(who.user.userKey, order.tradingDay, order.clOrdId), order)
    const [event] = await store.events.read(who.user.userKey, 0, 10)
    assert.deepEqual(event?.data, order)
    assert.deepEqual(result, { kind: 'recorded', event })
    assert.equal(await store.orders.find(make.uuid()), null)
  })

  contractCase('O20', 'an order moves from revision to revision and each step is published', async ({ store }) => {
    const who = await make.owner(store)
    let order = make.order(who)
    await store.orders.record([make.created(order)])
    for (const status of ['working', 'partially_filled', 'filled'] as const) {
      const change = make.moved(order, { status, fills: [...order.fills, make.fill(status)] })
      assert.equal((await one(store, change)).kind, 'recorded')
      order = change.order
      assert.deepEqual(await store.orders.find(order.orderId), order)
    }
    const events = await store.events.read(who.user.userKey, 0, 10)
    assert.deepEqual(
      events.map(({ seq, topic, data }) => [seq, topic, 'status' in data ? data.status : null]),
      [
        [1, 'orders', 'pending'],
        [2, 'orders', 'working'],
        [3, 'orders', 'partially_filled'],
        [4, 'orders', 'filled']
      ]
    )
  })

  contractCase('O30', 'an unpublished change takes no number; its audit entry is stored nevertheless', async ({ store }) => {
    const who = await make.owner(store)
    const order = make.order(who)
    const entry = make.audit('order.place')
    assert.deepEqual(await one(store, make.created(order, { publish: false, audit: entry })), { kind: 'recorded', event: null })
    const recorded = await one(store, make.moved(order, { status: 'working' }))
    assert.equal(recorded.kind === 'recorded' && recorded.event?.seq, 1)
    assert.ok((await store.audit.list(5)).some(({ target }) => target === entry.target))
  })

  contractCase.sql(
    'O40',
    'an execution is stored once, however often it is seen; what was only inferred is not stored as one',
    async harness => {
      const { store } = harness
      const who = await make.owner(store)
      const order = make.order(who)
      await store.orders.record([make.created(order)])
      const partial = make.moved(order, {
        status: 'partially_filled',
        fills: [make.fill('e1', '0.50'), make.fill('i1', '1.50', { inferred: true })]
      })
      await one(store, partial)
      await one(store, make.moved(partial.order, { status: 'filled', fills: [make.fill('e1', '0.50'), make.fill('e2', '1.50')] }))
      const rows = await harness.sql('select fill_id, quantity::text, price::text from fills where order_id = $1 order by fill_id', [
        order.orderId
      ])
      assert.deepEqual(rows, [
        { fill_id: 'e1', quantity: '0.50', price: '10.10' },
        { fill_id: 'e2', quantity: '1.50', price: '10.10' }
      ])
    }
  )
}

function raceCases(contractCase: DefineCase): void {
  contractCase.sql('O45', 'of an order with many executions each is stored once, whichever node writes the next change', async harness => {
    const { store, beside } = harness
    const who = await make.owner(store)
    const legs: Order['legs'] = ['A', 'B'].map(symbol => ({ symbol, side: 'BUY' as const, ratio: make.decimal('1'), fills: [] }))
    let order = make.order(who, { legs })
    await store.orders.record([make.created(order)])
    for (let count = 1; count <= 12; count += 1) {
      const fills = [
        ...order.fills.filter(({ inferred }) => inferred !== true),
        make.fill(`e${count}`),
        make.fill('guess', '1', { inferred: true })
      ]
      const filled = order.legs?.map((leg, index) => ({ ...leg, fills: [...leg.fills, make.fill(`e${count}`, `${index + 1}`)] })) ?? null
      const change = make.moved(order, { status: 'partially_filled', fills, legs: filled })
      const node = count % 4 === 0 ? beside : store
      assert.equal((await one(node, change)).kind, 'recorded')
      order = change.order
    }
    const rows = await harness.sql('select leg, count(*)::int from fills where order_id = $1 group by leg order by leg', [order.orderId])
    assert.deepEqual(rows, [
      { leg: 0, count: 12 },
      { leg: 1, count: 12 },
      { leg: 2, count: 12 }
    ])
  })

  contractCase('O50', 'of fifty orders with one client order id at once, one exists, and the others get its id [S41]', async harness => {
    const { store } = harness
    const who = await make.owner(store)
    const clOrdId = parseClOrdId('same-id')
    const rivals = Array.from({ length: 50 }, () => make.order(who, { clOrdId }))
    const results = await Promise.all(rivals.map(rival => one(store, make.created(rival, { audit: make.audit('rival') }))))
    const winners = rivals.filter((_, index) => results[index]?.kind === 'recorded')
    assert.equal(winners.length, 1)
    const [winner] = winners
    assert.ok(winner !== undefined)
    for (const result of results) if (result.kind !== 'recorded') assert.deepEqual(result, { kind: 'duplicate', orderId: winner.orderId })
    await assertRows(harness, 'select count(*)::int from orders where user_key = $1', [who.user.userKey], [{ count: 1 }])
    assert.equal((await store.events.read(who.user.userKey, 0, 100)).length, 1)
    assert.deepEqual(await one(store, make.created(make.order(who, { clOrdId }))), { kind: 'duplicate', orderId: winner.orderId })
  })

  contractCase('O55', 'orders are entered as they come, one whose cancel is pending too', async ({ store }) => {
    const who = await make.owner(store)
    const clOrdId = parseClOrdId('same-id')
    const first = make.order(who, { clOrdId })
    const later = make.order(who, { clOrdId, status: 'pending_cancel' })
    // The first of them is being written while the others wait.
    const [, ...results] = await Promise.all([make.order(who), first, later].map(order => one(store, make.created(order))))
    assert.deepEqual(results, [
      { ...results[0], kind: 'recorded' },
      { kind: 'duplicate', orderId: first.orderId }
    ])
  })

  contractCase('O60', 'a client order id is free on another day and for another user [S40]', async ({ store }) => {
    const who = await make.owner(store)
    const other = await make.owner(store, { platform: who.platform })
    const clOrdId = parseClOrdId('daily')
    const orders = [
      make.order(who, { clOrdId }),
      make.order(who, { clOrdId, entryTime: make.at(86_400_000) }),
      make.order(other, { clOrdId })
    ]
    for (const order of orders) assert.equal((await one(store, make.created(order))).kind, 'recorded')
    assert.deepEqual(await store.orders.findByClOrdId(who.user.userKey, make.day('2026-11-21'), clOrdId), orders[1])
  })

  contractCase('O70', 'of many changes from one revision one is written; an old revision is never written over', async ({ store }) => {
    const who = await make.owner(store)
    const order = make.order(who)
    await one(store, make.created(order))
    const rivals = Array.from({ length: 25 }, (_, index) => make.moved(order, { status: 'working', brokerMessage: `rival ${index}` }))
    const results = await Promise.all(rivals.map(rival => one(store, rival)))
    assert.equal(results.filter(({ kind }) => kind === 'recorded').length, 1)
    assert.equal(results.filter(({ kind }) => kind === 'stale').length, 24)
    const winner = rivals[results.findIndex(({ kind }) => kind === 'recorded')]
    assert.deepEqual(await store.orders.find(order.orderId), winner?.order)
    assert.equal((await store.events.read(who.user.userKey, 0, 100)).length, 2)
    assert.deepEqual(await one(store, make.created(order)), { kind: 'duplicate', orderId: order.orderId })
    assert.deepEqual(await one(store, make.moved(make.order(who), { status: 'working' })), { kind: 'stale' })
  })

  contractCase('O80', 'an order of a removed user, connection or account is stale, as is one of another user', async ({ store }) => {
    const who = await make.owner(store)
    const other = await make.owner(store)
    const [order, late] = [make.order(who), make.order(who)]
    await one(store, make.created(order))
    const stolen = make.moved({ ...order, userKey: other.user.userKey }, { status: 'cancelled' })
    assert.deepEqual(await one(store, stolen), { kind: 'stale' })
    assert.deepEqual(await one(store, make.created(make.order({ ...who, account: other.account }))), { kind: 'stale' })
    await store.connections.remove(who.connection.connectionId, make.at(1), make.audit())
    assert.deepEqual(await one(store, make.created(late)), { kind: 'stale' })
    assert.deepEqual(await one(store, make.moved(order, { status: 'working' })), { kind: 'stale' })
    await store.users.remove(other.user.userKey, make.at(1), make.audit())
    assert.deepEqual(await one(store, make.created(make.order(other))), { kind: 'stale' })
  })
}

function groupCases(contractCase: DefineCase): void {
  contractCase('O90', 'a group is written whole or not at all', async harness => {
    const { store } = harness
    const who = await make.owner(store)
    const [old, taken] = [make.order(who), make.order(who, { clOrdId: parseClOrdId('taken') })]
    for (const order of [old, taken]) await one(store, make.created(order))
    const replaced = (successor: Order) => make.moved(old, { status: 'replaced', replacedByOrderId: successor.orderId })

    const clashing = make.order(who, { clOrdId: parseClOrdId('taken') })
    const refused = await store.orders.record([replaced(clashing), make.created(clashing, { audit: make.audit('group.refused') })])
    assert.deepEqual(refused, [{ kind: 'stale' }, { kind: 'duplicate', orderId: taken.orderId }])
    assert.deepEqual(await store.orders.find(old.orderId), old)
    assert.equal(await store.orders.find(clashing.orderId), null)

    const [fresh, behind] = [make.order(who), make.moved({ ...old, revision: 7 }, { status: 'replaced' })]
    const stale = await store.orders.record([make.created(fresh), behind])
    assert.deepEqual(stale, [{ kind: 'stale' }, { kind: 'stale' }])
    assert.equal(await store.orders.find(fresh.orderId), null)

    const successor = make.order(who, { replacesOrderId: old.orderId })
    const written = await store.orders.record([replaced(successor), make.created(successor)])
    assert.deepEqual(written.map(seqOf), [3, 4])
    assert.equal((await store.orders.find(old.orderId))?.status, 'replaced')
    assert.deepEqual(await store.orders.find(successor.orderId), successor)
    assert.equal((await store.events.read(who.user.userKey, 0, 10)).length, 4)
    assert.ok(!(await store.audit.list(50)).some(({ action }) => action === 'group.refused'))
    assert.deepEqual(await store.orders.record([]), [])
  })

  contractCase('O100', 'a group that meets itself is refused, and so is everyone after the first of meeting groups', async ({ store }) => {
    const who = await make.owner(store)
    const clOrdId = parseClOrdId('twice')
    const twins = [make.order(who, { clOrdId }), make.order(who, { clOrdId })]
    await assert.rejects(store.orders.record(twins.map(twin => make.created(twin))), /same|twice|unique/i)
    for (const twin of twins) assert.equal(await store.orders.find(twin.orderId), null)

    const old = make.order(who)
    await one(store, make.created(old))
    const groups = Array.from({ length: 6 }, () => {
      const successor = make.order(who, { clOrdId: parseClOrdId('next') })
      return [make.moved(old, { status: 'replaced', replacedByOrderId: successor.orderId }), make.created(successor)]
    })
    const results = await Promise.all(groups.map(group => store.orders.record(group)))
    const won = results.map(group => group.every(({ kind }) => kind === 'recorded'))
    assert.equal(won.filter(Boolean).length, 1)
    const successor = groups[won.indexOf(true)]?.[1]?.order
    assert.deepEqual(await store.orders.findByClOrdId(who.user.userKey, old.tradingDay, 'next'), successor)
    assert.equal((await store.orders.find(old.orderId))?.replacedByOrderId, successor?.orderId)
  })

  contractCase('O110', 'what is wrong with one caller never hurts another that is written at the same time', async ({ store }) => {
    const who = await make.owner(store)
    const gone = await make.owner(store)
    await store.users.remove(gone.user.userKey, make.at(1), make.audit())
    const existing = make.order(who)
    await one(store, make.created(existing))
    const good = Array.from({ length: 20 }, () => make.order(who))
    // Beyond its column's range: the database refuses the whole statement.
    const poison = make.order(who, { revision: 3_000_000_000 })
    const duplicate = make.order(who, { clOrdId: existing.clOrdId })
    const bad = [poison, duplicate, make.order(gone)].map(order => one(store, make.created(order)).catch(error => error))
    const recorded = await Promise.all(good.map(order => one(store, make.created(order))))
    assert.deepEqual(
      recorded.map(({ kind }) => kind),
      good.map(() => 'recorded')
    )
    const [poisoned, doubled, orphaned] = await Promise.all(bad)
    assert.ok(poisoned instanceof Error)
    assert.deepEqual(doubled, { kind: 'duplicate', orderId: existing.orderId })
    assert.deepEqual(orphaned, { kind: 'stale' })
    assert.equal(await store.orders.find(poison.orderId), null)
    assert.deepEqual(
      (await store.events.read(who.user.userKey, 0, 100)).map(({ seq }) => seq),
      Array.from({ length: 21 }, (_, index) => index + 1)
    )
  })
}

function findingCases(contractCase: DefineCase): void {
  contractCase('O140', 'unfinished orders are those that can still move, by account and by connection', async ({ store }) => {
    const who = await make.owner(store, { accounts: 2 })
    const [, second] = who.accounts
    assert.ok(second !== undefined)
    const [open, done, elsewhere] = [make.order(who, { entryTime: make.at(2) }), make.order(who), make.order({ ...who, account: second })]
    for (const order of [open, done, elsewhere]) await one(store, make.created(order))
    await one(store, make.moved(done, { status: 'rejected' }))
    assert.deepEqual(await store.orders.unfinished({ accountId: who.account.accountId }), [open])
    assert.deepEqual(await store.orders.unfinished({ connectionId: who.connection.connectionId }), [elsewhere, open])
    const unfinished = async () =>
      (await store.connections.withUnfinishedOrders()).some(({ connectionId }) => connectionId === who.connection.connectionId)
    assert.equal(await unfinished(), true)
    for (const order of [open, elsewhere]) await one(store, make.moved(order, { status: 'cancelled' }))
    assert.equal(await unfinished(), false)
    assert.deepEqual(await store.orders.unfinished({ connectionId: who.connection.connectionId }), [])
  })

  contractCase('O145', 'orders that their broker is not known to have are found, of everybody, the oldest first', async ({ store }) => {
    const [one_, other] = [await make.owner(store), await make.owner(store)]
    const late = make.order(one_, { entryTime: make.at(3), brokerOrderId: null })
    const early = make.order(other, { entryTime: make.at(2), brokerOrderId: null })
    const known = make.order(one_, { brokerOrderId: 'b-145' })
    const over = make.order(one_, { brokerOrderId: null })
    for (const order of [late, early, known, over]) await one(store, make.created(order))
    await one(store, make.moved(over, { status: 'rejected' }))
    const ours = new Set([late, early, known, over].map(({ orderId }) => orderId))
    const found = (await store.orders.unresolved(10_000)).filter(({ orderId }) => ours.has(orderId))
    assert.deepEqual(found, [early, late])
    assert.equal((await store.orders.unresolved(1)).length, 1)
    const following = (await store.orders.unresolved(10_000, { after: early })).filter(({ orderId }) => ours.has(orderId))
    assert.deepEqual(following, [late])
  })

  contractCase('O150', "an order is found by every id its broker gave it, within its account, and by the client's", async ({ store }) => {
    const who = await make.owner(store, { accounts: 2 })
    const [, second] = who.accounts
    assert.ok(second !== undefined)
    const { accountId } = who.account
    const order = make.order(who)
    await one(store, make.created(order))
    const find = (brokerOrderId: string | null, brokerClOrdId: string | null, account = accountId) =>
      store.orders.findByBrokerIds(account, { brokerOrderId, brokerClOrdId })
    assert.deepEqual(await find(null, order.brokerClOrdId), order)
    assert.equal(await find('b1', null), null)
    const named = make.moved(order, { status: 'working', brokerOrderId: 'b1' })
    await one(store, named)
    const renamed = make.moved(named.order, { brokerOrderId: 'b2' })
    await one(store, renamed)
    for (const id of ['b1', 'b2']) assert.deepEqual(await find(id, null), renamed.order)
    assert.equal(await find('b1', order.brokerClOrdId, second.accountId), null)
    assert.equal(await find(null, null), null)

    // The broker reuses an id: it means the newest order.
    const reused = make.order(who, { brokerOrderId: 'b1', entryTime: make.at(50) })
    await one(store, make.created(reused))
    assert.deepEqual(await find('b1', order.brokerClOrdId), reused)
    assert.deepEqual(await store.orders.idsByBrokerOrderIds(accountId, ['b1', 'b2', 'b3']), [
      { brokerOrderId: 'b1', orderId: reused.orderId },
      { brokerOrderId: 'b2', orderId: order.orderId }
    ])
    assert.deepEqual(await store.orders.idsByBrokerOrderIds(accountId, []), [])
  })
}

async function one(store: Store, change: OrderChange): Promise<ChangeResult> {
  const [result] = await store.orders.record([change])
  assert.ok(result !== undefined)
  return result
}

function seqOf(result: ChangeResult): number | null {
  return result.kind === 'recorded' ? (result.event?.seq ?? null) : null
}

/** An order with every member set to something that is easily mangled. */
function rich(who: make.Owner): Order {
  const fills = [make.fill('f"1"\\', '0.10', { at: make.time('2026-11-20T15:00:00.000001Z') }), make.fill('f2', '1.90', { execDest: null })]
  return make.order(who, {
    instrument: 'MLEG_OPT',
    symbol: null,
    quantity: make.decimal('2.000'),
    limitPrice: make.decimal('-0.05'),
    stopPrice: make.decimal('100000000000000000000000000000000000.01'),
    legs: [
      { symbol: 'AAPL261218C00200000', side: 'BUY_TO_OPEN', ratio: make.decimal('1'), fills: [make.fill('f2', '1.90')] },
      { symbol: 'AAPL261218C00210000', side: 'SELL_TO_OPEN', ratio: make.decimal('2'), fills: [] }
    ],
    status: 'partially_filled',
    submission: { state: 'acknowledged', since: make.at(0.5), attempts: 1, method: 'reply' },
    pendingRequest: { kind: 'cancel', requestedAt: make.at(1), sentAt: null, successorId: make.uuid(), takenAt: make.at(2) },
    brokerOrderId: 'b\u2028\u0000\ud83d-1',
    brokerStatus: 'PART "FILLED"',
    brokerMessage: 'zoë\n漢\t🙂 \u0000 \u001e \ud800 \\',
    rejectCode: 'tick_size',
    brokerOrderType: '',
    execDest: 'XNAS',
    fills,
    entryTime: make.time('2026-11-01T05:59:59.999999Z'),
    lastExecTime: make.time('2026-11-20T15:00:00.000001Z'),
    lastModifiedTime: make.time('2026-11-20T15:00:00.1Z'),
    systemTime: make.time('2026-11-20T15:00:00Z'),
    replacesOrderId: make.uuid(),
    replacedByOrderId: make.uuid(),
    previouslyFilledQuantity: make.decimal('0.50'),
    revision: 4
  })
}
