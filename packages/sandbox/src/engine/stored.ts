/** The shapes of a snapshot: the state without its cross-references, field by field. */
import { ORDER_TYPES, SIDES, TIMES_IN_FORCE, TRANSACTION_TYPES } from '@trunkline/core/domain/vocabulary'
import { flag, integer, list, nullable, number, oneOf, record, text } from './codec.ts'
import type { Account, Counterparts, Counters, Holding, Leg, Market, Order, OrderBook, Unsettled } from './state.ts'
import {
  ACCOUNT_TYPES,
  type EngineSettings,
  type FillView,
  type FutureTerms,
  INSTRUMENT_KINDS,
  type InstrumentKind,
  type InstrumentSpec,
  type OptionTerms,
  ORDER_REASONS,
  ORDER_STATES,
  PHASES,
  type TransactionView
} from './types.ts'

/** Raised when these shapes change other than by fields at a record's end; snapshots of other versions are refused. */
export const SNAPSHOT_VERSION = 1

export const QUEUES = ['bids', 'asks', 'waitingBuys', 'waitingSells', 'buyStops', 'sellStops', 'opening', 'closing'] as const
export type QueueName = (typeof QUEUES)[number]

export type StoredLeg = Omit<Leg, 'book'> & { readonly symbol: string }
export type StoredOrder = Omit<Order, 'account' | 'book' | 'legs' | 'queue' | 'node'> & {
  readonly accountId: string
  readonly symbol: string
  readonly legs: StoredLeg[] | null
}
export type StoredHolding = Omit<Holding, 'book'> & { readonly symbol: string }
export type StoredAccount = Omit<
  Account,
  'permitted' | 'holdings' | 'options' | 'multiLegOrders' | 'clientOrderIds' | 'orders' | 'forgotten' | 'live'
> & {
  readonly permitted: InstrumentKind[]
  readonly holdings: StoredHolding[]
  readonly clientOrderIds: { readonly used: string; readonly by: number }[]
}
export type StoredSpec = Omit<InstrumentSpec, 'option' | 'future'> & {
  readonly option: OptionTerms | null
  readonly future: FutureTerms | null
}
export type StoredOrderBook = Omit<
  OrderBook,
  'market' | 'spec' | 'externalBids' | 'externalAsks' | 'underlying' | 'multiLegOrders' | 'references' | QueueName
> & {
  readonly spec: StoredSpec
  readonly packages: string[]
  readonly externalBids: { readonly price: bigint; readonly left: bigint }[]
  readonly externalAsks: { readonly price: bigint; readonly left: bigint }[]
} & { readonly [name in QueueName]: string[] }
export type StoredMarket = Omit<Market, 'books'>
export type StoredCounterparts = Counterparts & { readonly currency: string }

export interface StoredState {
  readonly version: number
  readonly settings: EngineSettings
  readonly now: number
  readonly counters: Counters
  readonly sweptDay: number
  readonly markets: StoredMarket[]
  readonly books: StoredOrderBook[]
  readonly accounts: StoredAccount[]
  readonly orders: StoredOrder[]
  readonly closed: string[]
  readonly counterparts: StoredCounterparts[]
}

const fill = record<FillView>('fill', {
  execId: text,
  orderId: text,
  at: number,
  quantity: text,
  price: text,
  fee: text,
  venue: oneOf(['STREET', 'HOUSE', 'OPEN', 'CLOSE'])
})

const leg = record<StoredLeg>('leg', {
  symbol: text,
  side: oneOf(SIDES),
  buy: flag,
  ratio: integer,
  traded: integer,
  fees: integer,
  fills: list(fill)
})

const orderFields = {
  id: text,
  number,
  clientOrderId: text,
  accountId: text,
  symbol: text,
  side: oneOf(SIDES),
  buy: flag,
  orderType: oneOf(ORDER_TYPES),
  timeInForce: oneOf(TIMES_IN_FORCE),
  quantity: nullable(integer),
  notional: nullable(integer),
  limit: nullable(integer),
  stop: nullable(integer),
  carried: integer,
  replaces: nullable(text),
  acceptedAt: number,
  state: oneOf(ORDER_STATES),
  triggered: flag,
  notionalLeft: nullable(integer),
  filled: integer,
  traded: integer,
  fees: integer,
  fills: list(fill),
  reason: nullable(record('reason', { code: oneOf(ORDER_REASONS), message: text })),
  replacedBy: nullable(text),
  updatedAt: number,
  lastFillAt: nullable(number),
  session: number,
  need: integer,
  feeNeed: integer,
  heldQuantity: integer,
  heldReserve: integer,
  heldFees: integer,
  legs: nullable(list(leg))
}

const order = record<StoredOrder>('order', orderFields, { legs: null })

const pending = record('pending', { quantity: integer, reserve: integer })

const holding = record<StoredHolding>('holding', {
  symbol: text,
  quantity: integer,
  cost: integer,
  realized: integer,
  dayBasis: integer,
  openedAt: number,
  updatedAt: number,
  buys: pending,
  sells: pending
})

const transaction = record<TransactionView>('transaction', {
  transactionId: text,
  accountId: text,
  type: oneOf(TRANSACTION_TYPES),
  symbol: nullable(text),
  kind: nullable(oneOf(INSTRUMENT_KINDS)),
  quantity: nullable(text),
  price: nullable(text),
  amount: text,
  fees: text,
  currency: text,
  date: text,
  settlementDate: text,
  orderId: nullable(text),
  execId: nullable(text),
  description: text,
  at: number
})

const account = record<StoredAccount>('account', {
  id: text,
  number: text,
  accountType: oneOf(ACCOUNT_TYPES),
  currency: text,
  permitted: list(oneOf(INSTRUMENT_KINDS)),
  openedAt: number,
  cash: integer,
  unsettled: list(record<Unsettled>('unsettled', { market: text, date: text, amount: integer })),
  unsettledSum: integer,
  realized: integer,
  fees: integer,
  flatReserve: integer,
  holdings: list(holding),
  clientOrderIds: list(record('client order id', { used: text, by: number })),
  transactions: list(transaction)
})

const option = record<OptionTerms>('option', {
  underlying: text,
  right: oneOf(['call', 'put']),
  strike: text,
  expiration: text,
  lastTradeAt: number,
  style: oneOf(['american', 'european']),
  settlement: oneOf(['physical', 'cash'])
})

const future = record<FutureTerms>('future', {
  root: text,
  month: text,
  lastTradeAt: number,
  initialMargin: text,
  maintenanceMargin: text
})

const specFields = {
  symbol: text,
  kind: oneOf(INSTRUMENT_KINDS),
  name: text,
  currency: text,
  market: text,
  tick: text,
  tickBelowOne: nullable(text),
  lot: text,
  fraction: text,
  multiplier: text,
  shortable: flag,
  auctions: flag,
  settlementDays: number,
  margin: record('margin', { initial: number, maintenanceLong: number, maintenanceShort: number }),
  fees: record('fees', { buy: number, sell: number }),
  option: nullable(option),
  future: nullable(future)
}

const spec = record<StoredSpec>('instrument', specFields, { option: null, future: null })

const level = record('level', { price: integer, left: integer })
const ids = list(text)

const bookFields = {
  symbol: text,
  spec,
  halted: flag,
  externalBids: list(level),
  externalAsks: list(level),
  last: nullable(integer),
  mark: nullable(integer),
  previousClose: nullable(integer),
  opened: flag,
  sessionLast: nullable(integer),
  streetUnits: integer,
  bids: ids,
  asks: ids,
  waitingBuys: ids,
  waitingSells: ids,
  buyStops: ids,
  sellStops: ids,
  opening: ids,
  closing: ids,
  packages: ids,
  over: flag
}

const book = record<StoredOrderBook>('book', bookFields, { packages: [], over: false })

const settings = record<EngineSettings>('settings', {
  seed: text,
  closedOrdersMax: number,
  transactionsMax: number,
  openOrdersMax: number,
  gtcDays: number
})

export const storedState = record<StoredState>('snapshot', {
  version: number,
  settings,
  now: number,
  counters: record<Counters>('counters', { command: number, event: number, order: number, exec: number, transaction: number }),
  sweptDay: number,
  markets: list(record<StoredMarket>('market', { name: text, phase: oneOf(PHASES), tradingDate: nullable(text), session: number })),
  books: list(book),
  accounts: list(account),
  orders: list(order),
  closed: ids,
  counterparts: list(
    record<StoredCounterparts>('counterparts', {
      currency: text,
      street: integer,
      bank: integer,
      fees: integer,
      dividends: integer,
      interest: integer
    })
  )
})
