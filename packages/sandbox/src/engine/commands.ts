/** The commands of the engine: by customers, by the sandbox, and by the market. */
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { AccountType, InstrumentKind, InstrumentSpec, Micros, Phase } from './enums.ts'

/** Adds an instrument or replaces its specification (kind, currency, market and multiplier cannot change). */
export interface ListInstrumentCommand {
  readonly type: 'list_instrument'
  readonly at: Micros
  readonly spec: InstrumentSpec
}

export interface OpenAccountCommand {
  readonly type: 'open_account'
  readonly at: Micros
  /** Chosen by the sandbox; unique forever. */
  readonly accountId: string
  /** The name shown to the customer. */
  readonly number: string
  readonly accountType: AccountType
  readonly currency: string
  /** First deposit, zero or more. */
  readonly deposit: string
  /**
   * Kinds it may trade. Null: shares and options for margin and cash accounts, crypto for crypto accounts, futures for futures accounts.
   */
  readonly permitted: readonly InstrumentKind[] | null
}

/** Permits an account to trade these kinds as well. */
export interface PermitCommand {
  readonly type: 'permit'
  readonly at: Micros
  readonly accountId: string
  readonly kinds: readonly InstrumentKind[]
}

/** Exactly one of `quantity` and `notional`. Prices that the type does not take must be null. Notional is for MKT and LMT. */
export interface SubmitCommand {
  readonly type: 'submit'
  readonly at: Micros
  readonly accountId: string
  /** 1 to 64 printable characters, unique in the account forever (also after the order has been forgotten). */
  readonly clientOrderId: string
  readonly symbol: string
  /** BUY and SELL; for options the four sides that open or close. A SELL beyond the position opens a short (margin accounts, futures). */
  readonly side: Side
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  readonly quantity: string | null
  readonly notional: string | null
  readonly limitPrice: string | null
  readonly stopPrice: string | null
}

/**
 * Several option legs that fill together or not at all. `limitPrice` is the signed net price of one spread per unit of the underlying: for
 * BUY the most to pay, for SELL the least to receive. The legs keep their own sides, whatever `side` is.
 */
export interface SubmitMultiLegCommand {
  readonly type: 'submit_package'
  readonly at: Micros
  readonly accountId: string
  readonly clientOrderId: string
  /** 2 to 4 different contracts of one underlying. Sides are the four option sides; ratios are whole numbers from 1. */
  readonly legs: readonly { readonly symbol: string; readonly side: Side; readonly ratio: string }[]
  readonly side: 'BUY' | 'SELL'
  readonly orderType: 'MKT' | 'LMT'
  readonly timeInForce: TimeInForce
  /** In spreads. */
  readonly quantity: string
  readonly limitPrice: string | null
}

/** An order to preview. It is never carried out, and is not a command. */
export type PreviewCommand = Omit<SubmitCommand, 'type' | 'clientOrderId'> | Omit<SubmitMultiLegCommand, 'type' | 'clientOrderId'>

/** The holder of a long American option exercises it before expiration. */
export interface ExerciseCommand {
  readonly type: 'exercise'
  readonly at: Micros
  readonly accountId: string
  readonly symbol: string
  /** Contracts. */
  readonly quantity: string
}

/**
 * A contract ends. Options that are in the money by a cent or more at `price` of the underlying are exercised and assigned; the others
 * expire. A futures month gets its final settlement at `price`. Orders for the contract end first.
 */
export interface ExpireCommand {
  readonly type: 'expire'
  readonly at: Micros
  readonly symbol: string
  /** Settlement price: of the underlying for an option, of the future itself for a future. */
  readonly price: string
}

/** The day's settlement price of a futures month: gains and losses since the previous one are paid in cash. */
export interface SettleCommand {
  readonly type: 'settle'
  readonly at: Micros
  readonly symbol: string
  readonly price: string
}

/** An order, by the internal id or by the customer's. */
export type OrderRef = { readonly orderId: string } | { readonly clientOrderId: string }

export interface CancelCommand {
  readonly type: 'cancel'
  readonly at: Micros
  readonly accountId: string
  readonly order: OrderRef
}

/**
 * Replaces a live order; null keeps the old figure. `quantity` is the total including earlier fills, and must be above those. The new order
 * keeps its queue position if its limit (before the trigger: its stop) is unchanged and the open quantity does not grow; otherwise it goes
 * to the end of its price. A notional order takes `notional`, any other `quantity`. A triggered stop stays triggered.
 */
export interface ReplaceCommand {
  readonly type: 'replace'
  readonly at: Micros
  readonly accountId: string
  readonly order: OrderRef
  readonly newClientOrderId: string
  readonly quantity: string | null
  readonly notional: string | null
  readonly limitPrice: string | null
  readonly stopPrice: string | null
}

/** Price and size of a level; lists begin with the best. */
export type QuoteLevel = readonly [price: string, size: string]

/**
 * The external market's whole displayed book of a symbol, best level first. It replaces the previous one, so liquidity taken before
 * returns.
 */
export interface QuoteCommand {
  readonly type: 'quote'
  readonly at: Micros
  readonly symbol: string
  readonly bids: readonly QuoteLevel[]
  readonly asks: readonly QuoteLevel[]
}

/** A trade of the external market. */
export interface TradeCommand {
  readonly type: 'trade'
  readonly at: Micros
  readonly symbol: string
  readonly price: string
  readonly size: string
  /**
   * Marks the print of the opening or closing auction. Optional: without marks, the first print after the market opens is the opening one,
   * and the last one before it closes is the closing one.
   */
  readonly auction: 'open' | 'close' | null
}

/**
 * Moves a session group to a phase of a trading day. Leaving `open` ends DAY orders, and OPEN and CLOSE orders whose auction is over;
 * reaching `closed` ends DAY+ orders. A new `tradingDate` first ends what is left of the old day, so a market that never closes sends
 * `open` once a day with the new date. A group's first session command must come before its first order can trade.
 */
export interface SessionCommand {
  readonly type: 'session'
  readonly at: Micros
  readonly market: string
  readonly phase: Phase
  /** `YYYY-MM-DD`; never earlier than the previous one. */
  readonly tradingDate: string
}

/** While a symbol is halted it does not trade: orders wait, IOC and FOK are refused, and prints are not auction prints. */
export interface HaltCommand {
  readonly type: 'halt'
  readonly at: Micros
  readonly symbol: string
  readonly halted: boolean
}

/**
 * The operator fills part of a live limit order with the external market at its limit, whatever the quotes; never more than its open
 * quantity.
 */
export interface ExecuteCommand {
  readonly type: 'execute'
  readonly at: Micros
  readonly accountId: string
  readonly order: OrderRef
  readonly quantity: string
}

/** Sets the price at which positions are valued until the next trade print. */
export interface MarkCommand {
  readonly type: 'mark'
  readonly at: Micros
  readonly symbol: string
  readonly price: string
}

/** Time passes: orders past their lifetime (GTC, GTC+: 90 days) expire. */
export interface TickCommand {
  readonly type: 'tick'
  readonly at: Micros
}

/** Longs receive and shorts pay, immediately. */
export interface DividendCommand {
  readonly type: 'dividend'
  readonly at: Micros
  readonly symbol: string
  readonly amountPerUnit: string
}

/** Positive: paid to the customer. Negative: charged, which may leave a debit. */
export interface InterestCommand {
  readonly type: 'interest'
  readonly at: Micros
  readonly accountId: string
  readonly amount: string
  readonly description: string | null
}

/** A positive amount. A withdrawal beyond the free cash is refused. */
export interface CashCommand {
  readonly type: 'deposit' | 'withdrawal'
  readonly at: Micros
  readonly accountId: string
  readonly amount: string
}

/**
 * `numerator` new units for `denominator` old ones (4 and 1: four for one). Cancels live orders of the symbol and empties the external
 * book.
 */
export interface SplitCommand {
  readonly type: 'split'
  readonly at: Micros
  readonly symbol: string
  readonly numerator: number
  readonly denominator: number
}

export type Command =
  | ListInstrumentCommand
  | OpenAccountCommand
  | PermitCommand
  | SubmitCommand
  | CancelCommand
  | ReplaceCommand
  | ExecuteCommand
  | QuoteCommand
  | TradeCommand
  | SessionCommand
  | HaltCommand
  | MarkCommand
  | TickCommand
  | DividendCommand
  | InterestCommand
  | CashCommand
  | SplitCommand
  | SubmitMultiLegCommand
  | ExerciseCommand
  | ExpireCommand
  | SettleCommand

/** The commands that a market feed sends. */
export type MarketCommand =
  | QuoteCommand
  | TradeCommand
  | SessionCommand
  | HaltCommand
  | ExpireCommand
  | SettleCommand
  | ListInstrumentCommand
