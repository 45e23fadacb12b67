/** The engine's memory: mutable records, reached only through the functions of this folder. Numbers are integers (see `units.ts`). */
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
  /** The latest `at` seen. */
  now: Micros
  /** Counters behind the ids and the event numbers. */
  readonly counters: Counters
  /** The UTC day (since the epoch) on which old orders were last looked for. */
  sweptDay: number
  readonly markets: Map<string, Market>
  readonly books: Map<string, OrderBook>
  readonly accounts: Map<string, Account>
  /** Live and retained closed orders by id. */
  readonly orders: Map<string, Order>
  /** Closed orders in the order they closed, from `forgotten` on. */
  readonly closed: Order[]
  forgotten: number
  /** The sandbox's side of everything, by currency. */
  readonly counterparts: Map<string, Counterparts>
}

export interface Counters {
  command: number
  event: number
  order: number
  exec: number
  transaction: number
}

/** Counter-accounts. With the customers' cash they sum to zero, currency by currency. */
export interface Counterparts {
  /** The external market. */
  street: Money
  /** Where deposits come from and withdrawals go. */
  bank: Money
  fees: Money
  dividends: Money
  interest: Money
}

export interface Market {
  readonly name: string
  phase: Phase
  tradingDate: string | null
  /** Counts the times the market opened; an OPEN order waits for one of them. */
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
  /** Market orders that found nothing yet, by time. */
  readonly waitingBuys: PriceQueue<Order>
  readonly waitingSells: PriceQueue<Order>
  /** Untriggered stops, the next to trigger first. */
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
  /** What the external market holds: the customers' units with the sign turned. */
  streetUnits: Quantity
  /** Of an option: the book of what it is on; null until that is listed, and for everything else. */
  underlying: OrderBook | null
  /** Resting multi-leg orders with a leg here, first come first served. */
  multiLegOrders: Order[]
  /** The contract has expired: nothing is traded here any more. */
  over: boolean
  /** Orders the engine remembers that name this book; an expired contract without any is forgotten. */
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
  /** Sales of a cash account whose cash comes later; contained in `cash`. */
  unsettled: Unsettled[]
  unsettledSum: Money
  realized: Money
  fees: Money
  /** What live orders hold whatever the positions: possible fees, charged or not, and the premiums of options to buy. */
  flatReserve: Money
  readonly holdings: Map<string, Holding>
  /** The holdings of options, by underlying. */
  readonly options: Map<string, Holding[]>
  /** The live multi-leg orders. */
  readonly multiLegOrders: Set<Order>
  /** Every client order id ever used, with the order's number. */
  readonly clientOrderIds: Map<string, number>
  /** Retained orders, oldest first; forgotten ones are swept out now and then. */
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

/** What an account has of a symbol, and what its live orders would add. */
export interface Holding {
  readonly book: OrderBook
  /** Negative: short. */
  quantity: Quantity
  /** What the position cost, signed like the quantity. */
  cost: Money
  realized: Money
  /** The value at the day's start plus what was paid, less what was received since: today's profit is the value less this. */
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

/** A leg of a multi-leg order, and what was traded of it. */
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
  /** Accepted earlier means smaller. */
  readonly number: number
  readonly clientOrderId: string
  readonly account: Account
  /** Of a multi-leg order: its first leg's. */
  readonly book: OrderBook
  readonly side: Side
  readonly buy: boolean
  /** Of a multi-leg order, which then counts spreads and has a net price as its limit; else null. */
  readonly legs: readonly Leg[] | null
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  /** Null: rejected before it was known. Lowered once by a notional order whose money is spent. */
  quantity: Quantity | null
  readonly notional: Money | null
  readonly limit: Price | null
  readonly stop: Price | null
  readonly carried: Quantity
  readonly replaces: string | null
  readonly acceptedAt: Micros
  state: OrderState
  triggered: boolean
  /** What a notional order may still spend. */
  notionalLeft: Money | null
  filled: Quantity
  /** Traded value, multiplier included, fees not. */
  traded: Money
  fees: Money
  fills: FillView[]
  reason: { readonly code: OrderReason; readonly message: string } | null
  replacedBy: string | null
  updatedAt: Micros
  lastFillAt: Micros | null
  /** The market session whose opening print it waits for (OPEN). */
  session: number
  /** Held against buying power for the whole quantity, and for the fees that could still come. Of a multi-leg order: what it pays net; negative: receives. */
  need: Money
  feeNeed: Money
  /** What of these is held now. */
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

/** The account's holding of the book's symbol, made when it is the first. */
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

/** Enters a new holding of an option among those of its underlying. */
export function groupOption(account: Account, holding: Holding): void {
  const { option } = holding.book.spec
  if (option === null) return
  const group = account.options.get(option.underlying)
  if (group === undefined) account.options.set(option.underlying, [holding])
  else group.push(holding)
}

/** Lets go of a flat holding. */
export function dropHolding(account: Account, { book }: Holding): void {
  account.holdings.delete(book.symbol)
  const { option } = book.spec
  if (option === null) return
  const left = (account.options.get(option.underlying) ?? []).filter(holding => holding.book !== book)
  if (left.length === 0) account.options.delete(option.underlying)
  else account.options.set(option.underlying, left)
}

/** Counts (1) or no longer counts (-1) an order among those that name its order books. */
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

/** What of the order can still be filled. */
export function leaves(order: Order): Quantity {
  return isLive(order) && order.quantity !== null ? order.quantity - order.carried - order.filled : 0n
}

export function isLive(order: Order): boolean {
  return order.state === 'held' || order.state === 'open' || order.state === 'partial'
}

/** Whether the order has no limit price of its own now. */
export function isMarket(order: Order): boolean {
  return order.limit === null
}

/** Whether the order still waits for its stop price. */
export function isUntriggered(order: Order): boolean {
  return order.stop !== null && !order.triggered
}
