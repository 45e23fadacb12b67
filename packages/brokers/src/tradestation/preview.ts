/** The broker's estimate of an order. Pure. */

import { type Decimal, isDecimal, negated } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Outcome } from '@trunkline/core/ports/broker'
import { NOTHING_ESTIMATED, type OrderEstimate, type PreviewOrder } from '@trunkline/core/ports/preview'
import type { HttpReply } from '../kit/http.ts'
import { displayTextOrNull, field, textOrNull, type Wire } from '../kit/parse.ts'
import { demandNoOrder, signedCost } from '../kit/preview.ts'
import { amount, readAnswer, records } from './answers.ts'
import { failuresIn, isError, refusal } from './outcomes.ts'

/** @throws PreviewPlaced for an answer that names an order */
export function interpretPreview(reply: HttpReply, requested: PreviewOrder): Outcome<OrderEstimate> {
  const answer = readAnswer(reply.body)
  const found = listed(answer, 'Confirmations')
  for (const wire of [answer, ...found, ...listed(answer, 'Orders'), ...listed(answer, 'Errors')]) demandNoOrder(wire, 'OrderID')
  const failed = failuresIn(answer, found)
  const [one] = found
  if (reply.status !== 200 || found.length !== 1 || one === undefined || failed.length > 0) {
    if (found.some(wire => !isError(wire)))
      return { kind: 'unknown', cause: new Error('the broker’s answer confirms an order and names a failure') }
    return refusal(reply.status, failed)
  }
  const account = textOrNull(one, 'AccountID')
  if (account !== null && account !== requested.brokerAccountId)
    throw new Malformed('AccountID', `our own, ${requested.brokerAccountId}`, account)
  return { kind: 'accepted', value: estimateOf(one, requested) }
}

/** The broker writes costs without a sign, and what it writes with one has been recorded of short sales only. */
function estimateOf(wire: Wire, requested: OrderTicket): OrderEstimate {
  const currency = displayTextOrNull(wire, 'Currency', 8)
  const price = amount(wire, 'EstimatedPrice')
  return {
    ...NOTHING_ESTIMATED,
    currency,
    price: price !== null && requested.legs !== null && requested.side === 'SELL' ? negated(price) : price,
    // Of a future it is the margin: nothing is paid for the contract.
    cost: requested.instrument === 'FUT' ? null : signedCost(requested, amount(wire, 'EstimatedCost')),
    commission: amount(wire, 'EstimatedCommission'),
    initialMargin: displayed(displayTextOrNull(wire, 'InitialMarginDisplay', 64), currency)
  }
}

const DISPLAY = /^(-?[\d,]+(?:\.\d+)?)(?: ([A-Z]{3}))?$/

/** `10,315.00 USD`, a display text; null for any other form, or is in another currency. */
function displayed(text: string | null, currency: string | null): Decimal | null {
  const [, digits = '', of = currency] = DISPLAY.exec(text ?? '') ?? []
  const plain = digits.replaceAll(',', '')
  return of === currency && isDecimal(plain) ? plain : null
}

function listed(answer: Wire, key: string): readonly Wire[] {
  return field(answer, key) === undefined || field(answer, key) === null ? [] : records(answer, key)
}
