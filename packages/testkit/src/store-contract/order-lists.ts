// Lists of orders against a model of them: every filter, sort, order and direction, also while orders are placed and move.
import assert from 'node:assert/strict'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { ORDER_STATUSES, SIDES } from '@trunkline/core/domain/vocabulary'
import type { OrderFilter, OrderSort, PageRequest, Store } from '@trunkline/core/ports/store'
import fc from 'fast-check'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'
import { assertPages, walk } from './walking.ts'

const SORTS = ['entryTime', 'lastModifiedTime', 'lastExecTime'] as const satisfies readonly OrderSort[]
/** The last is an option: it is found by its root too. */
const SYMBOLS = ['SPY', 'QQQ', 'BTC/USD', 'SPY261218C00600000'] as const
const LEGS = [
  { symbol: 'SPY261218C00600000', side: 'BUY', ratio: make.decimal('1'), fills: [] },
  { symbol: 'QQQ261218P00500000', side: 'SELL', ratio: make.decimal('2'), fills: [] }
] as const satisfies Order['legs']
/** An adjusted root: found by it, and by the original symbol. */
const ADJUSTED = [
  { symbol: 'AAPL1261218C00200000', side: 'BUY', ratio: make.decimal('1'), fills: [] },
  { symbol: 'SPY', side: 'SELL', ratio: make.decimal('100'), fills: [] }
] as const satisfies Order['legs']
const SOUGHT = [...SYMBOLS, 'QQQ261218P00500000', 'AAPL', 'AAPL1', 'IWM'] as const

export function orderListCases(contractCase: DefineCase): void {
  contractCase('L10', 'pages of any filter and sort are those of a sorted list, there and back', async ({ store }) => {
    const who = await make.owner(store, { accounts: 3 })
    const orders = await scattered(store, who, 160)
    await fc.assert(
      fc.asyncProperty(queries(who, orders), async ({ filter, sort, descending, limit }) => {
        const page = (request: PageRequest) => store.orders.list(filter, sort, request)
        assertPages(await walk(page, { limit, descending }), expected(orders, filter, sort, descending))
      }),
      { numRuns: 60 }
    )
  })

  contractCase('L20', 'the statuses open and closed together are all there is, and none is nothing', async ({ store }) => {
    const who = await make.owner(store, { accounts: 2 })
    const orders = await scattered(store, who, 40)
    const accountIds = who.accounts.map(({ accountId }) => accountId)
    const request: PageRequest = { limit: 100, edge: null, descending: true }
    const all = await store.orders.list({ accountIds, statuses: ORDER_STATUSES }, 'lastModifiedTime', request)
    assert.deepEqual(all.rows, expected(orders, { accountIds }, 'lastModifiedTime', true))
    assert.deepEqual(await store.orders.list({ accountIds, statuses: [] }, 'entryTime', request), { rows: [], next: null, prev: null })
    assert.deepEqual(await store.orders.list({ accountIds: [] }, 'entryTime', request), { rows: [], next: null, prev: null })
    assert.deepEqual((await store.orders.list({ accountIds, symbols: [] }, 'entryTime', request)).rows, [])
    const [first] = accountIds
    assert.ok(first !== undefined)
    const twice = await store.orders.list({ accountIds: [first, first], symbols: ['SPY', 'SPY'] }, 'entryTime', request)
    assert.deepEqual(twice.rows, expected(orders, { accountIds: [first], symbols: ['SPY'] }, 'entryTime', true))
  })

  contractCase('L30', 'orders that are placed and move meanwhile make no page skip or repeat one that stays', async ({ store }) => {
    const who = await make.owner(store, { accounts: 2 })
    const staying = await scattered(store, who, 60)
    const accountIds = who.accounts.map(({ accountId }) => accountId)
    const known = new Set(staying.map(({ orderId }) => orderId))
    for (const sort of SORTS) {
      for (const descending of [true, false]) {
        const page = (request: PageRequest) => store.orders.list({ accountIds }, sort, request)
        const between = async () => {
          await scattered(store, who, 2)
        }
        const { forth, back } = await walk(page, { limit: 9, descending, between })
        const wanted = expected(staying, { accountIds }, sort, descending)
        for (const seen of [forth, back]) {
          assert.equal(new Set(seen.map(({ orderId }) => orderId)).size, seen.length, 'no order twice')
          assert.deepEqual(
            seen.filter(({ orderId }) => known.has(orderId)),
            wanted
          )
        }
      }
    }
  })

  contractCase(
    'L35',
    'an order of options is found by its legs and roots, once, from its first day to reports after its end',
    async ({ store }) => {
      const who = await make.owner(store)
      const accountIds = [who.account.accountId]
      const found = async (symbols: readonly string[], sort: OrderSort = 'entryTime', more: Partial<OrderFilter> = {}) =>
        (await store.orders.list({ accountIds, symbols, ...more }, sort, { limit: 2, edge: null, descending: true })).rows
      const before = make.order(who, { symbol: 'IWM', entryTime: make.at(-1) })
      const brokerMessage = 'not "a" text \\ for \\\\u0000 all \u0000 databases \ud800'
      const spread = make.order(who, { symbol: null, instrument: 'MLEG_OPT', legs: LEGS, brokerMessage })
      await store.orders.record([make.created(before), make.created(spread)])
      const done = make.moved(spread, { status: 'filled', lastModifiedTime: make.at(2), lastExecTime: make.at(1) })
      const late = make.moved(done.order, { lastModifiedTime: make.at(5), lastExecTime: make.at(4), legs: LEGS })
      for (const [stage, change] of [null, done, late].entries()) {
        if (change !== null) await store.orders.record([change])
        const present = change?.order ?? spread
        for (const symbol of ['SPY', 'QQQ', 'SPY261218C00600000', 'QQQ261218P00500000'])
          for (const sort of SORTS) assert.deepEqual(await found([symbol], sort), [present], `${symbol} by ${sort}, stage ${stage}`)
        assert.deepEqual(await found(['SPY', 'QQQ', 'SPY261218C00600000', 'IWM']), [present, before])
        assert.deepEqual(await found(['SPY'], 'entryTime', { side: 'BUY', clOrdId: spread.clOrdId, from: make.at(0) }), [present])
        assert.deepEqual(await found(['SPY'], 'entryTime', { side: 'SELL' }), [])
        assert.deepEqual(await found(['S', 'SPY261218C00600001']), [])
      }
    }
  )

  contractCase('L40', 'the edges say whether anything lies beyond them, also when the row they name has gone', async ({ store }) => {
    const who = await make.owner(store)
    const { accountId } = who.account
    const orders = [0, 1, 2].map(ms => make.order(who, { entryTime: make.at(ms) }))
    for (const order of orders) await store.orders.record([make.created(order)])
    const list = (edge: PageRequest['edge'], limit = 1) =>
      store.orders.list({ accountIds: [accountId], statuses: ['pending'] }, 'entryTime', { limit, edge, descending: false })
    const first = await list(null)
    assert.ok(first.next !== null)
    assert.equal(first.prev, null)
    const [one] = orders
    assert.ok(one !== undefined)
    // The row of the edge no longer matches: later rows still do, and none precedes it.
    await store.orders.record([make.moved(one, { status: 'rejected' })])
    const second = await list({ side: 'after', key: first.next })
    assert.deepEqual(second.rows, [orders[1]])
    assert.equal(second.prev, null)
    assert.ok(second.next !== null)
    const rest = await list({ side: 'after', key: second.next }, 5)
    assert.deepEqual(rest.rows, [orders[2]])
    assert.equal(rest.next, null)
    assert.ok(rest.prev !== null)
    const back = await list({ side: 'before', key: rest.prev }, 5)
    assert.deepEqual(back.rows, [orders[1]])
    assert.equal(back.prev, null)
    assert.ok(back.next !== null)
  })
}

interface Query {
  readonly filter: OrderFilter
  readonly sort: OrderSort
  readonly descending: boolean
  readonly limit: number
}

function queries(who: make.Owner, orders: readonly Order[]): fc.Arbitrary<Query> {
  const time = fc.integer({ min: -1, max: 12 }).map(ms => make.at(ms))
  const filter = fc.record(
    {
      accountIds: fc.subarray(
        who.accounts.map(({ accountId }) => accountId),
        { minLength: 1 }
      ),
      statuses: fc.subarray([...ORDER_STATUSES], { minLength: 1 }),
      symbols: fc.subarray([...SOUGHT], { minLength: 1 }),
      orderId: fc.constantFrom(...orders.map(({ orderId }) => orderId)),
      clOrdId: fc.constantFrom(...orders.map(({ clOrdId }) => clOrdId)),
      side: fc.constantFrom(...SIDES.slice(0, 2)),
      from: time,
      to: time
    },
    { requiredKeys: ['accountIds'] }
  )
  return fc.record(
    { filter, sort: fc.constantFrom(...SORTS), descending: fc.boolean(), limit: fc.constantFrom(1, 7, 50, 500) },
    { noNullPrototype: true }
  )
}

/** Orders with few different times, so that many tie, spread over accounts, statuses, symbols and sides. */
async function scattered(store: Store, who: make.Owner, count: number): Promise<readonly Order[]> {
  const orders = Array.from({ length: count }, (_, index) => {
    const account = who.accounts[pick(who.accounts.length)] ?? who.account
    const legs = pick(5) === 0 ? (pick(3) === 0 ? ADJUSTED : LEGS) : null
    return make.order(
      { ...who, account },
      {
        clOrdId: parseClOrdId(`${make.uuid()}-${index}`),
        entryTime: make.at(pick(12)),
        lastModifiedTime: make.at(pick(12)),
        lastExecTime: pick(3) === 0 ? null : make.at(pick(12) + 0.001),
        status: ORDER_STATUSES[pick(ORDER_STATUSES.length)] ?? 'pending',
        symbol: legs === null ? (SYMBOLS[pick(SYMBOLS.length)] ?? null) : null,
        legs,
        side: SIDES[pick(2)] ?? 'BUY'
      }
    )
  })
  const results = await Promise.all(orders.map(order => store.orders.record([make.created(order)])))
  assert.ok(results.every(([result]) => result?.kind === 'recorded'))
  return orders
}

let picked = 0
/** A number below `below`, the same in every run: a walk through the multiples of a prime. */
function pick(below: number): number {
  picked = (picked * 48_271 + 11) % 2_147_483_647
  return picked % below
}

function expected(orders: readonly Order[], filter: OrderFilter, sort: OrderSort, descending: boolean): readonly Order[] {
  const { accountIds, statuses, symbols, orderId, clOrdId, side, from, to } = filter
  const sorted = orders
    .filter(order => accountIds.includes(order.accountId))
    .filter(order => statuses === undefined || statuses.includes(order.status))
    .filter(order => symbols === undefined || foundBy(order).some(symbol => symbols.includes(symbol)))
    .filter(order => (orderId === undefined || order.orderId === orderId) && (clOrdId === undefined || order.clOrdId === clOrdId))
    .filter(order => side === undefined || order.side === side)
    .filter(order => (from === undefined || order.entryTime >= from) && (to === undefined || order.entryTime <= to))
    .toSorted((a, b) => (sortKey(a, sort) < sortKey(b, sort) ? -1 : 1))
  return descending ? sorted.reverse() : sorted
}

/** An order's own symbol or its legs', and of options the roots, with and without the digit of an adjusted one. */
function foundBy({ symbol, legs }: Order): readonly string[] {
  const named = symbol === null ? (legs ?? []).map(leg => leg.symbol) : [symbol]
  return named.flatMap(name => {
    const root = /^([A-Z]+)\d?\d{6}[CP]\d{8}$/.exec(name)?.[1]
    return root === undefined ? [name] : [name, name.slice(0, -15), root]
  })
}

function sortKey(order: Order, sort: OrderSort): string {
  return `${order[sort] ?? ''} ${order.orderId}`
}
