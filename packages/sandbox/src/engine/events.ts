/** The engine's events, in order of occurrence. */

import type { Command } from './commands.ts'
import type { Micros, RefusalCode } from './enums.ts'
import type { AccountView, FillView, OrderView, TransactionView } from './records.ts'

/** What happened to an order. `order` in the event is the order after it. */
export type OrderChange =
  /** Taken in: `held` or `open`. Always the first event of a new order that is not rejected, replacements included. */
  | 'accepted'
  /** Refused; `order.reason` says why. The client order id is used up. */
  | 'rejected'
  /** A stop was reached: now a market or limit order. */
  | 'triggered'
  /** One execution; `fill` is it. `order.state` says whether it was the last (`partial` or `filled`). */
  | 'fill'
  /** By request, or by the engine: IOC and FOK remainders, a split. `order.reason` says which. */
  | 'canceled'
  | 'expired'
  /** Its place was taken by `order.replacedBy`. */
  | 'replaced'

export interface OrderEvent {
  readonly type: 'order'
  /** Counts every event of this engine from 1, without gaps. */
  readonly seq: number
  readonly at: Micros
  readonly accountId: string
  readonly change: OrderChange
  readonly order: OrderView
  /** With `fill` only. */
  readonly fill: FillView | null
}

/**
 * A command that changed nothing; a refused submit leaves its client order id unused. `refers` says to what: for `duplicate_client_order_id` the order that has the id (null when it was
 * forgotten), for cancel and replace the order meant, when there is one.
 */
export interface RefusedEvent {
  readonly type: 'refused'
  readonly seq: number
  readonly at: Micros
  readonly command: Command['type']
  readonly accountId: string | null
  readonly code: RefusalCode
  readonly message: string
  readonly refers: OrderView | null
}

export interface AccountOpenedEvent {
  readonly type: 'account_opened'
  readonly seq: number
  readonly at: Micros
  readonly account: AccountView
}

export interface TransactionEvent {
  readonly type: 'transaction'
  readonly seq: number
  readonly at: Micros
  readonly accountId: string
  readonly transaction: TransactionView
}

/** Balances (and the positions named) of an account are others than before this command, by something other than a price. Last in its command, once an account. */
export interface AccountChangedEvent {
  readonly type: 'account_changed'
  readonly seq: number
  readonly at: Micros
  readonly accountId: string
  readonly symbols: readonly string[]
}

/** The engine forgets a closed order to stay within `closedOrdersMax`; a client that needs it stores `order`. Its client order id stays used. */
export interface OrderForgottenEvent {
  readonly type: 'order_forgotten'
  readonly seq: number
  readonly at: Micros
  readonly accountId: string
  readonly order: OrderView
}

/**
 * Events of one command come in the order they happened. The first one is the answer to the command: for `submit` the order's `accepted` or
 * `rejected`, or `refused`; for `replace` the new order's `accepted`, or `refused`; for `cancel` `canceled`, or `refused`. A command that
 * answers nothing and changes nothing returns no events.
 */
export type EngineEvent = OrderEvent | RefusedEvent | AccountOpenedEvent | TransactionEvent | AccountChangedEvent | OrderForgottenEvent
