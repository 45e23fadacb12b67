import type { PreviewRequest } from '@trunkline/core/app/orders/preview-order'
import { type Decimal, parseDecimal, placesOf, trimmed } from '@trunkline/core/domain/decimal'
import { type AccountId, parseBrokerId, parseUuid } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Static } from 'typebox'
import type { previewTicket } from '../../wire/order.ts'

/** Records show nine decimal places, so the broker is never sent more. */
const PLACES_MAX = 9
/** Money and prices keep two decimal places ("187.50"). Other trailing zeros are removed: some brokers count them as decimal places. */
const MONEY_ZEROS = 2

/** A number of shares, contracts or units. Null means absent. @throws Malformed naming the field. */
export function quantityOrNull(text: string | null | undefined, name: string): Decimal | null {
  return numberOrNull(text, name, 0)
}

/** A price or an amount of money. Null means absent. @throws Malformed naming the field. */
export function moneyOrNull(text: string | null | undefined, name: string): Decimal | null {
  return numberOrNull(text, name, MONEY_ZEROS)
}

function numberOrNull(text: string | null | undefined, name: string, zeros: number): Decimal | null {
  if (text === undefined || text === null) return null
  const number = trimmed(parseDecimal(text, name), zeros)
  if (placesOf(number) > PLACES_MAX) throw new Malformed(name, `a number with at most ${PLACES_MAX} decimal places`, text)
  return number
}

/** The fields that a new order and a preview share. @throws Malformed naming the field. */
export function ticketOf(body: Static<typeof previewTicket>): PreviewRequest {
  return {
    accountId: parseUuid<AccountId>(body.account_id, 'account_id'),
    broker: parseBrokerId(body.broker),
    side: body.side,
    type: body.order_type,
    tif: body.order_tif,
    symbol: body.symbol ?? null,
    instrument: body.instrument ?? null,
    quantity: quantityOrNull(body.order_qty, 'order_qty'),
    notional: moneyOrNull(body.order_notional, 'order_notional'),
    limitPrice: moneyOrNull(body.order_limit_price, 'order_limit_price'),
    stopPrice: moneyOrNull(body.stop_price, 'stop_price'),
    legs:
      body.legs?.map((leg, at) => ({ symbol: leg.symbol, side: leg.action, ratio: parseDecimal(leg.ratio, `legs.${at}.ratio`) })) ?? null
  }
}
