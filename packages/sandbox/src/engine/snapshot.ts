/** The whole state as one JSON text, and back. References between records are stored as ids and restored on reading. */
import { Malformed } from '@trunkline/core/domain/malformed'
import { specOf } from './specs.ts'
import {
  type Account,
  type EngineState,
  groupOption,
  type Holding,
  isLive,
  type Leg,
  type Market,
  newBook,
  newMarket,
  newState,
  type Order,
  type OrderBook,
  refer
} from './state.ts'
import {
  QUEUES,
  type QueueName,
  SNAPSHOT_VERSION,
  type StoredAccount,
  type StoredOrder,
  type StoredOrderBook,
  storedState
} from './stored.ts'

export function writeSnapshot(state: EngineState): string {
  const stored = storedState.write({
    version: SNAPSHOT_VERSION,
    settings: state.settings,
    now: state.now,
    counters: state.counters,
    sweptDay: state.sweptDay,
    markets: [...state.markets.values()],
    books: [...state.books.values()].map(storeBook),
    accounts: [...state.accounts.values()].map(storeAccount),
    orders: [...state.orders.values()].map(storeOrder),
    closed: state.closed.slice(state.forgotten).map(order => order.id),
    counterparts: [...state.counterparts].map(([currency, sums]) => ({ currency, ...sums }))
  })
  return JSON.stringify(stored)
}

/** @throws Malformed naming what cannot be read. */
export function readSnapshot(text: string): EngineState {
  const json = parse(text)
  const version: unknown = Array.isArray(json) ? json[0] : undefined
  if (version !== SNAPSHOT_VERSION) throw new Malformed('snapshot', `one of version ${SNAPSHOT_VERSION}`, version)
  const stored = storedState.read(json, 'snapshot')
  const state = newState(stored.settings)
  state.now = stored.now
  state.sweptDay = stored.sweptDay
  Object.assign(state.counters, stored.counters)
  for (const market of stored.markets) state.markets.set(market.name, Object.assign(newMarket(market.name), market))
  for (const book of stored.books) restoreBook(state, book)
  for (const book of state.books.values()) {
    book.underlying = book.spec.option === null ? null : (state.books.get(book.spec.option.underlying) ?? null)
  }
  for (const account of stored.accounts) restoreAccount(state, account)
  for (const order of stored.orders) restoreOrder(state, order)
  for (const book of stored.books) {
    for (const name of QUEUES) restoreQueue(state, book, name)
    known(state.books, book.symbol).multiLegOrders = book.packages.map(id => known(state.orders, id))
  }
  for (const id of stored.closed) state.closed.push(known(state.orders, id))
  for (const { currency, ...sums } of stored.counterparts) state.counterparts.set(currency, sums)
  return state
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Malformed('snapshot', 'JSON', text)
  }
}

function storeOrder(order: Order): StoredOrder {
  const legs = order.legs?.map(leg => ({ ...leg, symbol: leg.book.symbol })) ?? null
  return { ...order, accountId: order.account.id, symbol: order.book.symbol, legs }
}

function storeBook(book: OrderBook): StoredOrderBook {
  const ids = (name: QueueName) => book[name].items().map(order => order.id)
  const { option = null, future = null, ...source } = book.spec.source
  return {
    ...book,
    spec: { ...source, option, future },
    packages: book.multiLegOrders.map(order => order.id),
    externalBids: [...book.externalBids],
    externalAsks: [...book.externalAsks],
    bids: ids('bids'),
    asks: ids('asks'),
    waitingBuys: ids('waitingBuys'),
    waitingSells: ids('waitingSells'),
    buyStops: ids('buyStops'),
    sellStops: ids('sellStops'),
    opening: ids('opening'),
    closing: ids('closing')
  }
}

function restoreBook(state: EngineState, stored: StoredOrderBook): void {
  const market: Market = known(state.markets, stored.spec.market)
  const { symbol, spec, bids, asks, waitingBuys, waitingSells, buyStops, sellStops, opening, closing, packages, ...rest } = stored
  const { option, future, ...source } = spec
  const row = { ...source, ...(option === null ? {} : { option }), ...(future === null ? {} : { future }) }
  const book = Object.assign(newBook(symbol, specOf(row), market), rest)
  if (!book.over) market.books.push(book)
  state.books.set(symbol, book)
}

function storeAccount(account: Account): StoredAccount {
  return {
    ...account,
    permitted: [...account.permitted],
    holdings: [...account.holdings.values()].map(holding => ({ ...holding, symbol: holding.book.symbol })),
    clientOrderIds: [...account.clientOrderIds].map(([used, by]) => ({ used, by }))
  }
}

function restoreAccount(state: EngineState, stored: StoredAccount): void {
  const holdings = new Map<string, Holding>()
  const clientOrderIds = new Map(stored.clientOrderIds.map(({ used, by }) => [used, by]))
  const empty = {
    options: new Map<string, Holding[]>(),
    multiLegOrders: new Set<Order>(),
    orders: [],
    forgotten: 0,
    live: new Set<Order>()
  }
  const account: Account = { ...stored, ...empty, holdings, clientOrderIds }
  state.accounts.set(stored.id, account)
  for (const { symbol, ...rest } of stored.holdings) {
    const holding = { book: known(state.books, symbol), ...rest }
    holdings.set(symbol, holding)
    groupOption(account, holding)
  }
}

function restoreOrder(state: EngineState, stored: StoredOrder): void {
  const { accountId, symbol, ...rest } = stored
  const account = known(state.accounts, accountId)
  const legs = stored.legs?.map(({ symbol: name, ...leg }): Leg => ({ ...leg, book: known(state.books, name) })) ?? null
  const order: Order = { ...rest, account, book: known(state.books, symbol), legs, queue: null, node: null }
  state.orders.set(order.id, order)
  refer(order, 1)
  account.orders.push(order)
  if (!isLive(order)) return
  account.live.add(order)
  if (legs !== null) account.multiLegOrders.add(order)
}

/** Orders were written in queue order, so adding them one by one restores their positions. */
function restoreQueue(state: EngineState, stored: StoredOrderBook, name: QueueName): void {
  const queue = known(state.books, stored.symbol)[name]
  for (const id of stored[name]) {
    const order = known(state.orders, id)
    order.queue = queue
    order.node = queue.add(queuePrice(order, name), order)
  }
}

function queuePrice({ limit, stop }: Order, name: QueueName): bigint {
  if (name === 'bids' || name === 'asks') return limit ?? 0n
  return name === 'buyStops' || name === 'sellStops' ? (stop ?? 0n) : 0n
}

function known<T>(map: ReadonlyMap<string, T>, id: string): T {
  const found = map.get(id)
  if (found === undefined) throw new Malformed('snapshot', 'consistent', id)
  return found
}
