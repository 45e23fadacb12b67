// Reading the fields that order bodies have in common.
import type { TicketRequest } from '@trunkline/core/app/orders/ticket-check'
import { type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'
import type { Static } from 'typebox'
import type { previewTicket } from '../../../wire/order.ts'

/** @throws Malformed naming the field. */
export function decimalField(text: string, name: string): Decimal {
  return parseDecimal(text, name)
}

/** Null is the same as absent. @throws Malformed naming the field. */
export function decimalOrNull(text: string | null | undefined, name: string): Decimal | null {
  return text === undefined || text === null ? null : parseDecimal(text, name)
}

/** What the body of a new order and of a preview have in common. @throws Malformed naming the field. */
export function termsOf(body: Omit<Static<typeof previewTicket>, 'account_id' | 'broker'>): TicketRequest {
  return {
    side: body.side,
    type: body.order_type,
    tif: body.order_tif,
    symbol: body.symbol ?? null,
    instrument: body.instrument ?? null,
    quantity: decimalOrNull(body.order_qty, 'order_qty'),
    notional: decimalOrNull(body.order_notional, 'order_notional'),
    limitPrice: decimalOrNull(body.order_limit_price, 'order_limit_price'),
    stopPrice: decimalOrNull(body.stop_price, 'stop_price'),
    legs:
      body.legs?.map((leg, at) => ({ symbol: leg.symbol, side: leg.action, ratio: decimalField(leg.ratio, `legs.${at}.ratio`) })) ?? null
  }
}
