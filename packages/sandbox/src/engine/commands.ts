/** The commands of the engine: by customers, by the sandbox, and by the market. */
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { AccountType, InstrumentKind, InstrumentSpec, Micros, Phase } from './enums.ts'

/** Adds an instrument or replaces the row of one (a row's kind, currency, market and multiplier cannot change). */
export interface ListInstrumentCommand {
  readonly type: 'list_instrument'
  readonly at: Micros
  readonly spec: InstrumentSpec
}

export interface OpenAccountCommand {
  readonly type: 'open_account'
  readonly at: Micros
  /** Chosen by the sandbox, unique for ever. */
  readonly accountId: string
  /** What the customer sees. */
  readonly number: string
  readonly accountType: AccountType
  readonly currency: string
  /** First deposit, zero or more. */
  readonly deposit: string
  /** Kinds it may trade; null: shares and options for margin and cash accounts, crypto for crypto accounts, futures for futures accounts. */
  readonly permitted: readonly InstrumentKind[] | null
}

/** Lets an account trade these kinds from now on, besides those it may already. */
export interface PermitCommand {
  readonly type: 'permit'
  readonly at: Micros
  readonly accountId: string
  readonly kinds: readonly InstrumentKind[]
}

/** Exactly one of `quantity` and `notional`. Prices a type does not take must be null. Notional is for MKT and LMT. */
export interface SubmitCommand {
  readonly type: 'submit'
  readonly at: Micros
  readonly accountId: string
  /** 1 to 64 printable characters, unique in the account for ever (also after the order has been forgotten). */
  readonly clientOrderId: string
  readonly symbol: string
  /** BUY and SELL, for options the four that open or close a position. A SELL beyond the position opens a short (margin accounts, futures). */
  readonly side: Side
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  readonly quantity: string | null
  readonly notional: string | null
  readonly limitPrice: string | null
  readonly stopPrice: string | null
}

/**
 * Several option legs that fill together or not at all. `limitPrice` is the net price of one spread per unit of the underlying, signed: for
 * BUY the most that is paid, for SELL the least that is received. Legs are taken as listed, whatever `side` says.
 */
export interface SubmitMultiLegCommand {
  readonly type: 'submit_package'
  readonly at: Micros
  readonly accountId: string
  readonly clientOrderId: string
  /** 2 to 4 different contracts of one underlying. Sides are the four option sides; ratios whole numbers from 1. */
  readonly legs: readonly { readonly symbol: string; readonly side: Side; readonly ratio: string }[]
  readonly side: 'BUY' | 'SELL'
  readonly orderType: 'MKT' | 'LMT'
  readonly timeInForce: TimeInForce
  /** In spreads. */
  readonly quantity: string
  readonly limitPrice: string | null
}

/** An order to preview: it is never carried out, and is no command. */
export type PreviewCommand = Omit<SubmitCommand, 'type' | 'clientOrderId'> | Omit<SubmitMultiLegCommand, 'type' | 'clientOrderId'>

/** A holder of a long American option uses its right before the end. */
export interface ExerciseCommand {
  readonly type: 'exercise'
  readonly at: Micros
  readonly accountId: string
  readonly symbol: string
  /** Contracts. */
  readonly quantity: string
}

/**
 * An option contract is over: what is in the money at `price` of its underlying by a cent or more is exercised and assigned, the rest expires;
 * or a futures month is over: it is settled at `price`, finally. Orders of it end first.
 */
export interface ExpireCommand {
  readonly type: 'expire'
  readonly at: Micros
  readonly symbol: string
  /** Settlement price: of the underlying for an option, of the future itself for a future. */
  readonly price: string
}

/** The day's settlement price of a futures month: gains and losses since the last one are paid in cash. */
export interface SettleCommand {
  readonly type: 'settle'
  readonly at: Micros
  readonly symbol: string
  readonly price: string
}

/** An order by the internal id or by the customer's. */
export type OrderRef = { readonly orderId: string } | { readonly clientOrderId: string }

export interface CancelCommand {
  readonly type: 'cancel'
  readonly at: Micros
  readonly accountId: string
  readonly order: OrderRef
}

/**
 * Makes a new order in place of a live one; null keeps the old figure. `quantity` is the total, what was filled before included, and must be
 * above it. The new order keeps the old one's place in line when its limit (or, before the trigger, its stop) is unchanged and what is left does not grow; otherwise it goes
 * to the end of its price. A notional order takes `notional`, another one `quantity`. A triggered stop stays triggered.
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

/** Price and size of a level, best first in a list. */
export type QuoteLevel = readonly [price: string, size: string]

/** The external market's whole displayed book of a symbol, best level first. It replaces the one before, and so replenishes what was taken. */
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
   * Marks the opening or closing auction's print. Not needed: without marks the first print after the market opens is the opening one, and
   * the last one before it closes is the closing one.
   */
  readonly auction: 'open' | 'close' | null
}

/**
 * Moves a session group to a phase of a trading day. Leaving `open` ends DAY orders (and OPEN and CLOSE ones whose auction is over), reaching
 * `closed` ends DAY+ ones. A new `tradingDate` first ends whatever is left of the old day, so a market that never closes sends
 * `open` once a day with the new date. The first session command of a group must come before its first order can trade.
 */
export interface SessionCommand {
  readonly type: 'session'
  readonly at: Micros
  readonly market: string
  readonly phase: Phase
  /** `YYYY-MM-DD`; never earlier than the one before. */
  readonly tradingDate: string
}

/** While halted nothing of the symbol trades; orders wait, IOC and FOK are refused, and prints are no auction prints. */
export interface HaltCommand {
  readonly type: 'halt'
  readonly at: Micros
  readonly symbol: string
  readonly halted: boolean
}

/** The operator has so much of a live order with a limit done in the street, at that limit, whatever the market is; never more than is left. */
export interface ExecuteCommand {
  readonly type: 'execute'
  readonly at: Micros
  readonly accountId: string
  readonly order: OrderRef
  readonly quantity: string
}

/** Sets the price positions are valued at until the next trade print. */
export interface MarkCommand {
  readonly type: 'mark'
  readonly at: Micros
  readonly symbol: string
  readonly price: string
}

/** Time passes: orders that have outlived their time (GTC, GTC+: 90 days) expire. */
export interface TickCommand {
  readonly type: 'tick'
  readonly at: Micros
}

/** Longs receive, shorts pay, at once. */
export interface DividendCommand {
  readonly type: 'dividend'
  readonly at: Micros
  readonly symbol: string
  readonly amountPerUnit: string
}

/** Positive is paid to the customer, negative is charged; charging may leave a debit. */
export interface InterestCommand {
  readonly type: 'interest'
  readonly at: Micros
  readonly accountId: string
  readonly amount: string
  readonly description: string | null
}

/** Positive amount; a withdrawal beyond what is free is refused. */
export interface CashCommand {
  readonly type: 'deposit' | 'withdrawal'
  readonly at: Micros
  readonly accountId: string
  readonly amount: string
}

/** `numerator` new units for `denominator` old ones (4 and 1: four for one). Live orders of the symbol are canceled, the external book is emptied. */
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

/** The commands a market feed gives. */
export type MarketCommand =
  | QuoteCommand
  | TradeCommand
  | SessionCommand
  | HaltCommand
  | ExpireCommand
  | SettleCommand
  | ListInstrumentCommand
