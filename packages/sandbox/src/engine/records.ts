/** The engine's views and its settings. */
import type { OrderType, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'
import type { QuoteLevel } from './commands.ts'
import { type AccountType, type InstrumentKind, type Micros, type OrderState, type Phase, REFUSAL_CODES } from './enums.ts'

export interface FillView {
  readonly execId: string
  readonly orderId: string
  readonly at: Micros
  readonly quantity: string
  readonly price: string
  /** Charged with this fill, in the account's currency. */
  readonly fee: string
  /** `STREET`: the external market; `HOUSE`: another customer of this sandbox; `OPEN`, `CLOSE`: an auction. */
  readonly venue: 'STREET' | 'HOUSE' | 'OPEN' | 'CLOSE'
}

/** A leg of a multi-leg order and its fills. */
export interface LegView {
  readonly symbol: string
  readonly side: Side
  /** Contracts per unit, a whole number. */
  readonly ratio: string
  /** One for each fill of the multi-leg order, which has the same id before the dash. */
  readonly fills: readonly FillView[]
}

export interface OrderView {
  readonly orderId: string
  readonly clientOrderId: string
  readonly accountId: string
  /** Null for a multi-leg order. */
  readonly symbol: string | null
  readonly kind: InstrumentKind
  readonly side: Side
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  /**
   * The total. Of a notional order: the units that it was worth at acceptance; it buys no more than that, and spends no more than the
   * notional. Null: rejected before it was known.
   */
  readonly quantity: string | null
  readonly notional: string | null
  readonly limitPrice: string | null
  readonly stopPrice: string | null
  readonly state: OrderState
  /** Whether a stop was reached. False for other types. */
  readonly triggered: boolean
  /** Filled under this order's id. */
  readonly filledQuantity: string
  /** Filled under the ids that this order replaced; counts towards `quantity`, and is not repeated in `fills`. */
  readonly carriedQuantity: string
  /** `quantity` less both of the above; 0 once final. */
  readonly remainingQuantity: string
  /** Average price of `fills`, rounded half up to nine places; null without fills. */
  readonly averagePrice: string | null
  readonly fees: string
  /** Of a multi-leg order: whole spreads at their net price. */
  readonly fills: readonly FillView[]
  /** The legs of a multi-leg order; null for every other order. */
  readonly legs: readonly LegView[] | null
  /** Why it was rejected, canceled or expired; null otherwise. */
  readonly reason: { readonly code: OrderReason; readonly message: string } | null
  /** Order ids. */
  readonly replaces: string | null
  readonly replacedBy: string | null
  readonly acceptedAt: Micros
  readonly updatedAt: Micros
  readonly lastFillAt: Micros | null
}

/** Why an order ended unfilled. */
export const ORDER_REASONS = [
  ...REFUSAL_CODES,
  'requested',
  'immediate_remainder',
  'not_fillable',
  'session_ended',
  'auction_over',
  'too_old',
  'split'
] as const
export type OrderReason = (typeof ORDER_REASONS)[number]

export interface AccountView {
  readonly accountId: string
  readonly number: string
  readonly accountType: AccountType
  readonly currency: string
  readonly permitted: readonly InstrumentKind[]
  readonly openedAt: Micros
}

/** Money in the account's currency. */
export interface BalanceView {
  readonly accountId: string
  readonly currency: string
  /** Settled and unsettled. A negative amount is a margin loan. */
  readonly cash: string
  /** Cash accounts: without unsettled sales. Others: `cash`. */
  readonly settledCash: string
  readonly longMarketValue: string
  /** Zero or negative. */
  readonly shortMarketValue: string
  /** Long plus short. */
  readonly marketValue: string
  /** Cash plus market value. */
  readonly equity: string
  /** The initial margin of the positions (Reg-T 50 %); zero in cash and crypto accounts. */
  readonly initialMargin: string
  /** The maintenance margin of the positions (25 % long, 30 % short); zero in cash and crypto accounts. */
  readonly maintenanceMargin: string
  /**
   * Value of further purchases that would be accepted now: the free funds after open orders, doubled in margin accounts. Never negative.
   */
  readonly buyingPower: string
  /** The same before open orders. */
  readonly regTBuyingPower: string
  /** Free funds behind `buyingPower` before it is doubled; negative when prices have moved against the account. */
  readonly excess: string
  /** Held for open orders. */
  readonly reserved: string
  /** Whether equity is below the maintenance margin. */
  readonly marginCall: boolean
  readonly realizedPl: string
  readonly unrealizedPl: string
  /** Of all positions since the start of the trading day, without fees. */
  readonly dailyPl: string
  readonly fees: string
}

export interface PositionView {
  readonly accountId: string
  readonly symbol: string
  readonly kind: InstrumentKind
  readonly currency: string
  /** Negative: short. */
  readonly quantity: string
  /** Rounded half up to nine places. */
  readonly averagePrice: string
  /** Signed like the quantity. */
  readonly costBasis: string
  readonly lastPrice: string
  readonly previousClose: string | null
  readonly marketValue: string
  readonly unrealizedPl: string
  /** Since the position was last opened from flat, without fees. */
  readonly realizedPl: string
  /** Against the mark at the start of the trading day; for today's trades, against their prices. */
  readonly dailyPl: string
  /** Realised and unrealised. */
  readonly totalPl: string
  readonly openedAt: Micros
  readonly updatedAt: Micros
}

export interface TransactionView {
  readonly transactionId: string
  readonly accountId: string
  readonly type: TransactionType
  readonly symbol: string | null
  readonly kind: InstrumentKind | null
  /** Never negative; null if there is none. */
  readonly quantity: string | null
  readonly price: string | null
  /** The change of the cash, including fees. Negative: paid. */
  readonly amount: string
  /** Zero or more; included in `amount`. */
  readonly fees: string
  readonly currency: string
  /** Trading date, `YYYY-MM-DD`. */
  readonly date: string
  readonly settlementDate: string
  readonly orderId: string | null
  readonly execId: string | null
  readonly description: string
  readonly at: Micros
}

/** The effect of an order. Amounts are money as text; null: unknown, or not applicable. */
export interface PreviewView {
  readonly currency: string
  /** Per unit; of a multi-leg order the net price. */
  readonly price: string | null
  /** Without fees; negative for a sale. */
  readonly cost: string | null
  readonly fees: string | null
  /** The amount held for it in accounts with margin. */
  readonly initialMargin: string | null
  /** The change of the buying power. */
  readonly buyingPower: string
  readonly warnings: readonly string[]
}

export interface OrderFilter {
  readonly states?: readonly OrderState[]
  readonly live?: boolean
  readonly symbols?: readonly string[]
  /** Accepted at or after; accepted before. */
  readonly from?: Micros
  readonly until?: Micros
  readonly oldestFirst?: boolean
  /** Continues after this order id. */
  readonly after?: string
  readonly limit?: number
}

/** Newest first. Dates are inclusive. */
export interface TransactionFilter {
  readonly fromDate?: string
  readonly toDate?: string
  readonly types?: readonly TransactionType[]
  readonly symbols?: readonly string[]
  /** Continues after this transaction id. */
  readonly after?: string
  readonly limit?: number
}

/** The market as the engine sees it now. */
export interface MarketView {
  readonly symbol: string
  readonly phase: Phase
  readonly tradingDate: string | null
  readonly halted: boolean
  /** The price at which positions are valued: the last print, or the middle of the quote before any print; null before both. */
  readonly mark: string | null
  readonly previousClose: string | null
  /** As quoted, less what customers have taken since. */
  readonly bids: readonly QuoteLevel[]
  readonly asks: readonly QuoteLevel[]
}

/** Sums over all of the engine's records, including all counter-accounts. Every figure is always zero (`0.00`, `0`). */
export interface ConservationView {
  readonly cash: { readonly [currency: string]: string }
  readonly units: { readonly [symbol: string]: string }
}

/** Bounds and rules of an engine; part of the snapshot. */
export interface EngineSettings {
  /** Makes the ids differ from another engine's. Any text. */
  readonly seed: string
  /** Closed orders kept for look-up, over all accounts; the oldest beyond that are forgotten with an event. */
  readonly closedOrdersMax: number
  /** Transactions kept per account; the oldest beyond that are dropped (each was an event before). */
  readonly transactionsMax: number
  /** Live orders an account may have. */
  readonly openOrdersMax: number
  /** Days a GTC or GTC+ order lives. */
  readonly gtcDays: number
}
