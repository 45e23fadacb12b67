/** The engine's events, in order of occurrence. */

import type { Command } from './commands.ts'
import type { Micros, RefusalCode } from './enums.ts'
import type { AccountView, FillView, OrderView, TransactionView } from './records.ts'

/** What happened to an order. The event's `order` is its state afterwards. */
export type OrderChange =
  /** Accepted as `held` or `open`. Always the first event of a new order that is not rejected, including replacements. */
  | 'accepted'
  /** Refused, for `order.reason`. The client order id is used up. */
  | 'rejected'
  /** A stop was reached: the order is now a market or limit order. */
  | 'triggered'
  /** One execution, in `fill`. `order.state` shows whether it was the last (`partial` or `filled`). */
  | 'fill'
  /** By request, or by the engine (IOC and FOK remainders, a split); `order.reason` says which. */
  | 'canceled'
  | 'expired'
  /** Replaced by `order.replacedBy`. */
  | 'replaced'

export interface OrderEvent {
  readonly type: 'order'
  /** Numbers the events of this engine from 1, without gaps. */
  readonly seq: number
  readonly at: Micros
  readonly accountId: string
  readonly change: OrderChange
  readonly order: OrderView
  /** Only for `fill`. */
  readonly fill: FillView | null
}

/**
 * A command that changed nothing; a refused submit leaves its client order id unused. `refers` is the order concerned: for
 * `duplicate_client_order_id` the one with that id (null if forgotten), for cancel and replace the requested one, if it exists.
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

/**
 * The balances of an account (and the named positions) changed, other than by a price. The last event of a command, at most once per
 * account.
 */
export interface AccountChangedEvent {
  readonly type: 'account_changed'
  readonly seq: number
  readonly at: Micros
  readonly accountId: string
  readonly symbols: readonly string[]
}

/**
 * The engine forgot a closed order to stay within `closedOrdersMax`; a caller that needs it stores `order`. Its client order id stays used.
 */
export interface OrderForgottenEvent {
  readonly type: 'order_forgotten'
  readonly seq: number
  readonly at: Micros
  readonly accountId: string
  readonly order: OrderView
}

/**
 * The events of one command, in order of occurrence. The first one is the answer to the command: for `submit` the order's `accepted` or
 * `rejected`, or `refused`; for `replace` the new order's `accepted`, or `refused`; for `cancel` `canceled`, or `refused`. A command that
 * without an answer that changes nothing returns no events.
 */
export type EngineEvent = OrderEvent | RefusedEvent | AccountOpenedEvent | TransactionEvent | AccountChangedEvent | OrderForgottenEvent
