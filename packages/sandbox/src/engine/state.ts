/** The engine's state: mutable records, accessed only through the functions of this folder. Numbers are integers (see `units.ts`). */
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import { PriceQueue, type QueueNode } from './queue.ts'
import type {
  AccountType,
  EngineSettings,
  FillView,
  InstrumentKind,
  InstrumentSpec,
  Micros,
  OrderReason,
  OrderState,
  Phase,
  TransactionView
} from './types.ts'
import type { Money, Price, Quantity } from './units.ts'

export interface EngineState {
  readonly settings: EngineSettings
  /** The latest `at` received. */
  now: Micros
  /** Counters for ids and event numbers. */
  readonly counters: Counters
  /** The UTC day (since the epoch) of the last search for old orders. */
  sweptDay: number
  readonly markets: Map<string, Market>
  readonly books: Map<string, OrderBook>
  readonly accounts: Map<string, Account>
  /** Live and retained closed orders by id. */
  readonly orders: Map<string, Order>
  /** Closed orders by time of closing, from `forgotten` on. */
  readonly closed: Order[]
  forgotten: number
  /** The counter-accounts, by currency. */
  readonly counterparts: Map<string, Counterparts>
}

export interface Counters {
  command: number
  event: number
  order: number
  exec: number
  transaction: number
}

/** Counter-accounts. Together with the customers' cash they sum to zero in each currency. */
export interface Counterparts {
  /** The external market. */
  street: Money
  /** The source of deposits and destination of withdrawals. */
  bank: Money
  fees: Money
  dividends: Money
  interest: Money
}

export interface Market {
  readonly name: string
  phase: Phase
  tradingDate: string | null
  /** Counts the openings of the market; an OPEN order waits for one of them. */
  session: number
  readonly books: OrderBook[]
}

/** An {@link InstrumentSpec} in integers. */
export interface Spec {
  readonly source: InstrumentSpec
  readonly tick: Price
  readonly tickBelowOne: Price
  readonly lot: Quantity
  readonly fraction: Quantity
  readonly multiplier: bigint
  /** Ten-thousandths. */
  readonly initial: bigint
  readonly maintenanceLong: bigint
  readonly maintenanceShort: bigint
  /** Ten-millionths. */
  readonly buyFee: bigint
  readonly sellFee: bigint
  readonly option: OptionSpec | null
  readonly future: FutureSpec | null
}

/** The terms of an option in integers. */
export interface OptionSpec {
  readonly underlying: string
  readonly call: boolean
  readonly strike: Price
  /** `YYYY-MM-DD`. */
  readonly expiration: string
  readonly lastTradeAt: Micros
  readonly american: boolean
  readonly physical: boolean
}

/** The terms of a futures month in integers. Margins are money per contract, in billionths. */
export interface FutureSpec {
  readonly lastTradeAt: Micros
  readonly initial: Price
  readonly maintenance: Price
}

export interface ExternalLevel {
  readonly price: Price
  left: Quantity
}

export interface OrderBook {
  readonly symbol: string
  spec: Spec
  readonly market: Market
  halted: boolean
  readonly bids: PriceQueue<Order>
  readonly asks: PriceQueue<Order>
  /** Waiting market orders, by time. */
  readonly waitingBuys: PriceQueue<Order>
  readonly waitingSells: PriceQueue<Order>
  /** Untriggered stops, nearest first. */
  readonly buyStops: PriceQueue<Order>
  readonly sellStops: PriceQueue<Order>
  readonly opening: PriceQueue<Order>
  readonly closing: PriceQueue<Order>
  externalBids: readonly ExternalLevel[]
  externalAsks: readonly ExternalLevel[]
  last: Price | null
  mark: Price | null
  previousClose: Price | null
  /** Whether this session's opening print has been seen. */
  opened: boolean
  /** The latest print of this session's `open` phase. */
  sessionLast: Price | null
  /** The external market's position: the customers' units with the opposite sign. */
  streetUnits: Quantity
  /** Of an option: its underlying's book. Null until that is listed, and for all other kinds. */
  underlying: OrderBook | null
  /** Resting multi-leg orders with a leg here, first come first served. */
  multiLegOrders: Order[]
  /** Whether the contract has expired: it no longer trades. */
  over: boolean
  /** Orders in memory that name this book; an expired contract without any is forgotten. */
  references: number
}

export interface Account {
  readonly id: string
  readonly number: string
  readonly accountType: AccountType
  readonly currency: string
  permitted: readonly InstrumentKind[]
  readonly openedAt: Micros
  cash: Money
  /** Unsettled sales of a cash account; included in `cash`. */
  unsettled: Unsettled[]
  unsettledSum: Money
  realized: Money
  fees: Money
  /** The hold of live orders that does not depend on positions: possible fees, charged or not, and the premiums of options to buy. */
  flatReserve: Money
  readonly holdings: Map<string, Holding>
  /** Holdings of options, by underlying. */
  readonly options: Map<string, Holding[]>
  /** The live multi-leg orders. */
  readonly multiLegOrders: Set<Order>
  /** Every client order id ever used, with the order's number. */
  readonly clientOrderIds: Map<string, number>
  /** Retained orders, oldest first; forgotten ones are removed now and then. */
  orders: Order[]
  forgotten: number
  readonly live: Set<Order>
  transactions: TransactionView[]
}

export interface Unsettled {
  readonly market: string
  readonly date: string
  readonly amount: Money
}

/** An account's position in a symbol, and the effect of its live orders. */
export interface Holding {
  readonly book: OrderBook
  /** Negative: short. */
  quantity: Quantity
  /** The cost of the position, signed like the quantity. */
  cost: Money
  realized: Money
  /** The value at the start of the day, plus payments less receipts since: today's profit is the value less this. */
  dayBasis: Money
  openedAt: Micros
  updatedAt: Micros
  readonly buys: Pending
  readonly sells: Pending
}

export interface Pending {
  quantity: Quantity
  reserve: Money
}

/** A leg of a multi-leg order, and its fills. */
export interface Leg {
  readonly book: OrderBook
  readonly side: Side
  readonly buy: boolean
  /** Contracts per spread. */
  readonly ratio: bigint
  traded: Money
  fees: Money
  fills: FillView[]
}

export interface Order {
  readonly id: string
  /** Smaller means accepted earlier. */
  readonly number: number
  readonly clientOrderId: string
  readonly account: Account
  /** For a multi-leg order, that of its first leg. */
  readonly book: OrderBook
  readonly side: Side
  readonly buy: boolean
  /** The legs of a multi-leg order, whose quantity is in spreads and whose limit is a net price; otherwise null. */
  readonly legs: readonly Leg[] | null
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  /** Null: rejected before it was known. Reduced once, when a notional order's money is spent. */
  quantity: Quantity | null
  readonly notional: Money | null
  readonly limit: Price | null
  readonly stop: Price | null
  readonly carried: Quantity
  readonly replaces: string | null
  readonly acceptedAt: Micros
  state: OrderState
  triggered: boolean
  /** The money that a notional order may still spend. */
  notionalLeft: Money | null
  filled: Quantity
  /** Traded value, including the multiplier, without fees. */
  traded: Money
  fees: Money
  fills: FillView[]
  reason: { readonly code: OrderReason; readonly message: string } | null
  replacedBy: string | null
  updatedAt: Micros
  lastFillAt: Micros | null
  /** The market session whose opening print an OPEN order waits for. */
  session: number
  /**
   * Held against buying power for the whole quantity, and for possible further fees. For a multi-leg order, its net payment; negative:
   * receipt.
   */
  need: Money
  feeNeed: Money
  /** The part of these that is held now. */
  heldQuantity: Quantity
  heldReserve: Money
  heldFees: Money
  queue: PriceQueue<Order> | null
  node: QueueNode<Order> | null
}

export function newState(settings: EngineSettings): EngineState {
  return {
    settings,
    now: 0,
    counters: { command: 0, event: 0, order: 0, exec: 0, transaction: 0 },
    sweptDay: 0,
    markets: new Map(),
    books: new Map(),
    accounts: new Map(),
    orders: new Map(),
    closed: [],
    forgotten: 0,
    counterparts: new Map()
  }
}

export function newMarket(name: string): Market {
  return { name, phase: 'closed', tradingDate: null, session: 0, books: [] }
}

export function newBook(symbol: string, spec: Spec, market: Market): OrderBook {
  return {
    symbol,
    spec,
    market,
    halted: false,
    bids: new PriceQueue('highest'),
    asks: new PriceQueue('lowest'),
    waitingBuys: new PriceQueue('lowest'),
    waitingSells: new PriceQueue('lowest'),
    buyStops: new PriceQueue('lowest'),
    sellStops: new PriceQueue('highest'),
    opening: new PriceQueue('lowest'),
    closing: new PriceQueue('lowest'),
    externalBids: [],
    externalAsks: [],
    last: null,
    mark: null,
    previousClose: null,
    opened: false,
    sessionLast: null,
    streetUnits: 0n,
    underlying: null,
    multiLegOrders: [],
    over: false,
    references: 0
  }
}

/** The account's holding of the book's symbol; created if missing. */
export function holdingOf(account: Account, book: OrderBook, at: Micros): Holding {
  const there = account.holdings.get(book.symbol)
  if (there !== undefined) return there
  const holding: Holding = {
    book,
    quantity: 0n,
    cost: 0n,
    realized: 0n,
    dayBasis: 0n,
    openedAt: at,
    updatedAt: at,
    buys: { quantity: 0n, reserve: 0n },
    sells: { quantity: 0n, reserve: 0n }
  }
  account.holdings.set(book.symbol, holding)
  groupOption(account, holding)
  return holding
}

/** Adds a new holding of an option to those of its underlying. */
export function groupOption(account: Account, holding: Holding): void {
  const { option } = holding.book.spec
  if (option === null) return
  const group = account.options.get(option.underlying)
  if (group === undefined) account.options.set(option.underlying, [holding])
  else group.push(holding)
}

/** Removes a flat holding. */
export function dropHolding(account: Account, { book }: Holding): void {
  account.holdings.delete(book.symbol)
  const { option } = book.spec
  if (option === null) return
  const left = (account.options.get(option.underlying) ?? []).filter(holding => holding.book !== book)
  if (left.length === 0) account.options.delete(option.underlying)
  else account.options.set(option.underlying, left)
}

/** Adds (1) or removes (-1) an order's references to its order books. */
export function refer(order: Order, by: 1 | -1): void {
  if (order.legs === null) order.book.references += by
  else for (const { book } of order.legs) book.references += by
}

export function isBuy(side: Side): boolean {
  return side === 'BUY' || side === 'BUY_TO_OPEN' || side === 'BUY_TO_CLOSE'
}

export function closes(side: Side): boolean {
  return side === 'BUY_TO_CLOSE' || side === 'SELL_TO_CLOSE'
}

/** The quantity that can still be filled. */
export function leaves(order: Order): Quantity {
  return isLive(order) && order.quantity !== null ? order.quantity - order.carried - order.filled : 0n
}

export function isLive(order: Order): boolean {
  return order.state === 'held' || order.state === 'open' || order.state === 'partial'
}

/** Whether the order has no limit price now. */
export function isMarket(order: Order): boolean {
  return order.limit === null
}

/** Whether the order is still waiting for its stop price. */
export function isUntriggered(order: Order): boolean {
  return order.stop !== null && !order.triggered
}
