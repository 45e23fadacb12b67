/** What the engine shows when asked, and its settings. */
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

/** A leg of a multi-leg order and what was filled of it. */
export interface LegView {
  readonly symbol: string
  readonly side: Side
  /** Contracts per unit, a whole number. */
  readonly ratio: string
  /** One for each fill of the multi-leg order, whose id is theirs before the dash. */
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
  /** The total. Of a notional order: what the notional was worth when it was accepted (it buys no more than that, and spends no more than the notional). Null: rejected before it was known. */
  readonly quantity: string | null
  readonly notional: string | null
  readonly limitPrice: string | null
  readonly stopPrice: string | null
  readonly state: OrderState
  /** Whether a stop was reached. False for other types. */
  readonly triggered: boolean
  /** Filled under this order id. */
  readonly filledQuantity: string
  /** Filled under the ids this order replaces; counts towards `quantity`, and is not repeated in `fills`. */
  readonly carriedQuantity: string
  /** `quantity` less both of the above; 0 once final. */
  readonly remainingQuantity: string
  /** Of `fills`, rounded half up to nine places; null while there are none. */
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

/** Why an order ended without being filled. */
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
  /** Settled and unsettled. Negative is a margin loan. */
  readonly cash: string
  /** Cash accounts: without sales not settled yet. Others: `cash`. */
  readonly settledCash: string
  readonly longMarketValue: string
  /** Zero or negative. */
  readonly shortMarketValue: string
  /** Long and short added. */
  readonly marketValue: string
  /** Cash and market value. */
  readonly equity: string
  /** What positions need at opening (Reg-T 50 %); zero in cash and crypto accounts. */
  readonly initialMargin: string
  /** What positions need to be kept (25 % long, 30 % short); zero in cash and crypto accounts. */
  readonly maintenanceMargin: string
  /** Value of further purchases that would be accepted now: what is free after open orders, twice that in margin accounts. Never negative. */
  readonly buyingPower: string
  /** The same before open orders. */
  readonly regTBuyingPower: string
  /** Free funds behind `buyingPower` before it is doubled; negative when prices have moved against the account. */
  readonly excess: string
  /** Held for open orders. */
  readonly reserved: string
  /** Equity is below the maintenance margin. */
  readonly marginCall: boolean
  readonly realizedPl: string
  readonly unrealizedPl: string
  /** Of all positions since the trading day began, without fees. */
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
  /** Since it was last opened from flat, without fees. */
  readonly realizedPl: string
  /** Against the mark at the start of the trading day; of today's trades, against their prices. */
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
  /** Never negative; null where there is none. */
  readonly quantity: string | null
  readonly price: string | null
  /** What it did to the cash, fees included. Negative: paid. */
  readonly amount: string
  /** Zero or more, contained in `amount`. */
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

/** What an order list is narrowed by; newest first unless `oldestFirst`. Fields left out do not narrow. */
/** What an order would come to. Amounts are money as text; null: not known, or there is none such. */
export interface PreviewView {
  readonly currency: string
  /** Per unit; of a multi-leg order the net price. */
  readonly price: string | null
  /** Fees not included; a sale's is below zero. */
  readonly cost: string | null
  readonly fees: string | null
  /** What is held for it in accounts with margin. */
  readonly initialMargin: string | null
  /** By how much the buying power changes. */
  readonly buyingPower: string
  readonly warnings: readonly string[]
}

export interface OrderFilter {
  readonly states?: readonly OrderState[]
  readonly live?: boolean
  readonly symbols?: readonly string[]
  /** Accepted at or after, and before. */
  readonly from?: Micros
  readonly until?: Micros
  readonly oldestFirst?: boolean
  /** Goes on behind this order id. */
  readonly after?: string
  readonly limit?: number
}

/** Newest first. Dates are inclusive. */
export interface TransactionFilter {
  readonly fromDate?: string
  readonly toDate?: string
  readonly types?: readonly TransactionType[]
  readonly symbols?: readonly string[]
  /** Goes on behind this transaction id. */
  readonly after?: string
  readonly limit?: number
}

/** A market as the engine sees it now. */
export interface MarketView {
  readonly symbol: string
  readonly phase: Phase
  readonly tradingDate: string | null
  readonly halted: boolean
  /** What positions are valued at: the last print, or the middle of the quote before any print; null before both. */
  readonly mark: string | null
  readonly previousClose: string | null
  /** As quoted, less what customers took since. */
  readonly bids: readonly QuoteLevel[]
  readonly asks: readonly QuoteLevel[]
}

/** Sums over everything the engine holds, all counter-accounts included. Every figure is zero (`0.00`, `0`), always. */
export interface ConservationView {
  readonly cash: { readonly [currency: string]: string }
  readonly units: { readonly [symbol: string]: string }
}

/** Bounds and rules of one engine; part of the snapshot. */
export interface EngineSettings {
  /** Sets the ids apart from another engine's. Any text. */
  readonly seed: string
  /** Closed orders kept for look-up, over all accounts; the oldest beyond it are forgotten with an event. */
  readonly closedOrdersMax: number
  /** Transactions kept per account; the oldest beyond it are dropped (each was an event once). */
  readonly transactionsMax: number
  /** Live orders an account may have. */
  readonly openOrdersMax: number
  /** Days a GTC or GTC+ order lives. */
  readonly gtcDays: number
}
