/** What an account stream says: five kinds of messages about orders, which a broker may mix, and its positions and balances. */

import type { AccountEvent, OrderReport, PositionReport } from '@trunkline/core/ports/broker'
import type { Wire } from '../parse.ts'
import type { StreamMessage } from '../stream-protocol.ts'
import type { WholeOrder } from './order-totals.ts'
import type { OrderUpdate } from './sent-orders.ts'

export type AccountMessage =
  /** `live`: what was sent before is not published, because it is read. */
  | StreamMessage<AccountEvent>
  /** The whole order. One that was cancelling or being replaced and works again was refused that: the report releases it. */
  | { readonly type: 'order'; readonly report: OrderReport }
  /** The whole order with totals: a gap if it is older than what was sent before; skipped if it is the same. */
  | { readonly type: 'order_totals'; readonly order: WholeOrder }
  /** The order as it was when this was sent: what is older than what was sent before adds only its execution. */
  | ({ readonly type: 'order_update' } & OrderUpdate)
  | { readonly type: 'order_event'; readonly account: string; readonly brokerOrderId: string; readonly event: Wire }
  /** `releases`: a cancel or a replacement was refused, so the order is released if it works. */
  | { readonly type: 'order_hint'; readonly account: string; readonly brokerOrderId: string; readonly releases?: true }
  /** One position as it is now; null: it was closed. The runtime makes the lists. */
  | { readonly type: 'position'; readonly brokerPositionId: string; readonly position: PositionReport | null }
  /** One position, sent in a form that cannot be read: the positions of its account are read. */
  | { readonly type: 'position_left_out'; readonly account: string; readonly brokerPositionId: string }
  /** The balances as they are now. Of many, the newest are published now and then. */
  | { readonly type: 'balances'; readonly balances: BalancesEvent }
  /** Positions, balances, or both. */
  | { readonly type: 'changed'; readonly account: string; readonly what: 'positions' | 'balances' | 'both' }
  | { readonly type: 'heartbeat' }

export type BalancesEvent = Extract<AccountEvent, { readonly type: 'balances' }>
