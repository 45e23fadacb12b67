/** Order events as the account stream sends them: one at a time, and each once. */

import type { OrderEvent, OrderView } from '../frame/brokerage.ts'
import type { CustomerView } from './customer-view.ts'
import type { Holdings } from './holdings.ts'
import { executionIdOf, uuidFor } from './ids.ts'
import { debitOf, orderWire } from './order-wire.ts'
import { nanosOf } from './times.ts'

/** One event; `data` of the frame. */
export interface Update {
  readonly event: string
  readonly at: number
  readonly order: object
  readonly more?: object
}

export interface UpdateDeps {
  readonly customerView: CustomerView
  readonly holdings: Holdings
}

/** The updates that an order's change causes, in order; none for changes that Alpaca does not report. */
export function updatesOf(event: OrderEvent, { customerView, holdings }: UpdateDeps): readonly Update[] {
  const { change, order, at } = event
  const wire = customerView.wire(order)
  switch (change) {
    case 'accepted': {
      const pending = { event: 'pending_new', at, order: { ...wire, status: 'pending_new' } }
      // It may carry an execution id, and is no fill all the same.
      const more = { execution_id: uuidFor(`${order.orderId} new`) }
      return [pending, { event: wire.status === 'accepted' ? 'accepted' : 'new', at, order: wire, more }]
    }
    case 'fill':
      return [{ event: order.state === 'filled' ? 'fill' : 'partial_fill', at, order: wire, more: fillOf(event, holdings) }]
    case 'canceled':
      return [{ event: wire.status === 'rejected' ? 'rejected' : 'canceled', at, order: wire }]
    case 'expired':
    case 'replaced':
      return [{ event: change, at, order: wire }]
    case 'triggered':
    // Anyone who sent it is answered with a refusal.
    case 'rejected':
      return []
  }
}

function fillOf(event: OrderEvent, holdings: Holdings): object {
  const { fill, order } = event
  if (fill === null) return {}
  const packaged = order.legs !== null
  return {
    execution_id: executionIdOf(fill.execId),
    price: packaged ? debitOf(fill.price, order) : fill.price,
    qty: fill.quantity,
    position_qty: holdings.after(event)
  }
}

/** The sandbox began to cancel or replace an order, or gave that up; `before`: what was under way. */
export function busyUpdateOf(order: OrderView, before: 'cancelling' | 'amending' | null, customerView: CustomerView): Update | null {
  const showing = customerView.showing(order)
  const now = showing.overlay?.busy ?? null
  const wire = orderWire(order, showing)
  const at = customerView.now()
  if (now !== null) return { event: now === 'cancelling' ? 'pending_cancel' : 'pending_replace', at, order: wire }
  if (before === null) return null
  return { event: before === 'cancelling' ? 'order_cancel_rejected' : 'order_replace_rejected', at, order: wire }
}

export function frameOf({ event, at, order, more }: Update, eventId: string): string {
  const time = nanosOf(at)
  return JSON.stringify({ stream: 'trade_updates', data: { event, event_id: eventId, at: time, timestamp: time, ...more, order } })
}
