/** Which answers of Tradier prove that it took a command and which that it refused. Everything else is unknown. Pure. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Outcome } from '@trunkline/core/ports/broker'
import type { HttpReply } from '../kit/http.ts'
import { member, nested, text } from '../kit/parse.ts'
import { type Complaint, complaintOf, errorsOf, joined, saysNoOrder, saysTokenRefused, saysTooMany, wordsFor } from './errors.ts'
import { rejectCodeOf } from './reject-codes.ts'
import { readAnswer } from './wire.ts'

/** Words of trouble behind the API, `OmsInternalError` and `OmsUnavailable` among them: nobody knows whether the order got through before it began. */
const TROUBLE = /time[ds]?[ -]?out|unavailable|internal|try again|no response|communicat/i
/** What Tradier answers to a command that it took: nothing is decided by it about the order. */
const TAKEN = { ok: true } as const

/** The id of the order that was taken. */
export function interpretPlace(reply: HttpReply): Outcome<string> {
  return interpreted(reply, null)
}

/** Of a change or a cancel; the id must be the order's own. */
export function interpretCommand(reply: HttpReply, order: string): Outcome<string> {
  return saysNoOrder(reply) ? refusedWith(wordsFor(reply), null) : interpreted(reply, order)
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
 * 400 in the API's own words: it could not read the order, or the order is over. 401, 403 and 429 of the gateway: nobody behind it was asked. A
 * 404 can be a passing error here, and a 401 without a word about the token a doubtful one.
 */
function refusalOf(reply: HttpReply): Outcome<never> {
  const complaint = complaintOf(reply)
  if (reply.status === 400 && complaint.form === 'text')
    return TROUBLE.test(complaint.words) ? troubled([complaint.words]) : refused(complaint.words, complaint)
  if (reply.status === 400 && complaint.form === 'errors') return rejected(complaint.errors)
  if (saysTokenRefused(reply)) return refused('Tradier did not accept the login, and nothing was placed', complaint)
  if (saysTooMany(reply)) return refused('Tradier takes no more orders at the moment: too many were sent within a minute', complaint)
  return { kind: 'unknown', cause: new Error(`Tradier answered ${reply.status} ${wordsFor(reply)}`.trim()) }
}

function rejected(errors: readonly string[]): Outcome<never> {
  if (errors.some(error => TROUBLE.test(error))) return troubled(errors)
  return refusedWith(joined(errors), errors.find(error => /^[A-Z][A-Za-z]+$/.test(error)) ?? null)
}

function troubled(errors: readonly string[]): Outcome<never> {
  return { kind: 'unknown', cause: new Error(`Tradier answered ${joined(errors)}`) }
}

function refused(message: string, complaint: Complaint): Outcome<never> {
  return refusedWith(message, complaint.form === 'fault' && complaint.code !== '' ? complaint.code : null)
}

/** The code of a refusal is among its words. */
function refusedWith(message: string, brokerStatus: string | null): Outcome<never> {
  return { kind: 'refused', message, rejectCode: rejectCodeOf(message), brokerStatus }
}
