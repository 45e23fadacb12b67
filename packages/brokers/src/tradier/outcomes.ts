/** Which answers of Tradier prove that it took a command and which that it refused. Everything else is unknown. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Outcome } from '@trunkline/core/ports/broker'
import { NOTHING_ESTIMATED, type OrderEstimate } from '@trunkline/core/ports/preview'
import type { HttpReply } from '../kit/http.ts'
import { field, member, nested, nestedOrNull, text, type Wire } from '../kit/parse.ts'
import { demandNoOrder, signedCost } from '../kit/preview.ts'
import { CURRENCY } from './accounts.ts'
import { type Complaint, complaintOf, errorMessageOf, errorsOf, isRateLimited, isTokenRefused, isUnknownOrder, joined } from './errors.ts'
import { rejectCodeOf } from './reject-codes.ts'
import { amountOrNull, readAnswer } from './wire.ts'

/** Messages of a failure behind the API, `OmsInternalError` and `OmsUnavailable` among them: whether the order got through before it is unknown. */
const INTERNAL_FAILURE = /time[ds]?[ -]?out|unavailable|internal|server error|try again|no response|communicat/i
/** What Tradier answers to a command that it took: nothing is decided by it about the order. */
const TAKEN = { ok: true } as const

/** The id of the order that was taken. */
export function interpretPlace(reply: HttpReply): Outcome<string> {
  return interpreted(reply, null)
}

/** Of a change or a cancel; the id must be the order's own. */
export function interpretCommand(reply: HttpReply, order: string): Outcome<string> {
  return isUnknownOrder(reply) ? refusedWith(errorMessageOf(reply), null) : interpreted(reply, order)
}

/** What the order would come to. @throws PreviewPlaced for an answer that names an order */
export function interpretPreview(reply: HttpReply, requested: OrderTicket): Outcome<OrderEstimate> {
  if (reply.status !== 200 && reply.status !== 201) return refusalOf(reply)
  const answer = readAnswer(reply.body)
  const seen = nestedOrNull(answer, 'order')
  for (const key of ['id', 'partner_id']) if (seen !== null) demandNoOrder(seen, key)
  const errors = errorsOf(answer)
  if (errors !== null) return rejected(errors)
  if (seen === null) throw new Malformed('order', 'what would be ordered', answer)
  member(seen, 'status', TAKEN)
  if (field(seen, 'result') !== true) throw new Malformed('result', 'true', field(seen, 'result'))
  return { kind: 'accepted', value: estimateOf(seen, requested) }
}

/** Whether money is paid or received follows from the order. With commission and fees a sale may be either: then only a sign decides. */
function estimateOf(seen: Wire, requested: OrderTicket): OrderEstimate {
  const cost = signedCost(requested, amountOrNull(seen, 'order_cost'))
  const total = amountOrNull(seen, 'cost')
  const isPaid = cost === null ? null : !cost.startsWith('-')
  return {
    ...NOTHING_ESTIMATED,
    currency: CURRENCY,
    cost,
    total: total !== null && isPaid !== null && isPaid !== total.startsWith('-') ? total : null,
    commission: amountOrNull(seen, 'commission'),
    fees: amountOrNull(seen, 'fees'),
    marginChange: amountOrNull(seen, 'margin_change')
  }
}

function interpreted(reply: HttpReply, order: string | null): Outcome<string> {
  if (reply.status !== 200 && reply.status !== 201) return refusalOf(reply)
  const answer = readAnswer(reply.body)
  const errors = errorsOf(answer)
  if (errors !== null) return rejected(errors)
  const taken = nested(answer, 'order')
  member(taken, 'status', TAKEN)
  const id = text(taken, 'id', 64)
  if (order !== null && id !== order) throw new Malformed('id', `the order's, ${order}`, id)
  return { kind: 'accepted', value: id }
}

/**
 * 400 with the API's own message: it could not read the order, or the order is over. 401, 403 and 429 of the gateway: nothing behind it was reached. A
 * 404 can be a passing error here, and a 401 that does not mention the token proves nothing.
 */
function refusalOf(reply: HttpReply): Outcome<never> {
  const complaint = complaintOf(reply)
  if (reply.status === 400 && complaint.form === 'text')
    return INTERNAL_FAILURE.test(complaint.text) ? unknownBecause([complaint.text]) : refused(complaint.text, complaint)
  if (reply.status === 400 && complaint.form === 'errors') return rejected(complaint.errors)
  if (isTokenRefused(reply)) return refused('Tradier did not accept the login, and nothing was placed', complaint)
  if (isRateLimited(reply)) return refused('Tradier takes no more orders at the moment: too many were sent within a minute', complaint)
  return { kind: 'unknown', cause: new Error(`Tradier answered ${reply.status} ${errorMessageOf(reply)}`.trim()) }
}

function rejected(errors: readonly string[]): Outcome<never> {
  if (errors.some(error => INTERNAL_FAILURE.test(error))) return unknownBecause(errors)
  return refusedWith(joined(errors), errors.find(error => /^[A-Z][A-Za-z]+$/.test(error)) ?? null)
}

function unknownBecause(errors: readonly string[]): Outcome<never> {
  return { kind: 'unknown', cause: new Error(`Tradier answered ${joined(errors)}`) }
}

function refused(message: string, complaint: Complaint): Outcome<never> {
  return refusedWith(message, complaint.form === 'fault' && complaint.code !== '' ? complaint.code : null)
}

/** The code of a refusal is in its message. */
function refusedWith(message: string, brokerStatus: string | null): Outcome<never> {
  return { kind: 'refused', message, rejectCode: rejectCodeOf(message), brokerStatus }
}
