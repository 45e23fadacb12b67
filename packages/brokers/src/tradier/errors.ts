/** The four forms of a refusal by Tradier: a gateway's fault, `errors`, plain text, and HTML of a proxy in front of it. Pure. */

import type { HttpReply } from '../kit/http.ts'
import { header } from '../kit/http.ts'
import { displayTextOrNull, field, object, type Wire } from '../kit/parse.ts'
import { collapsed, readAnswer } from './wire.ts'

export type Complaint =
  /** Of the gateway in front of the API: nothing behind it was reached, unless it says that this failed. */
  | { readonly form: 'fault'; readonly text: string; readonly code: string }
  /** Of the API or of what is behind it: each a sentence or a code. */
  | { readonly form: 'errors'; readonly errors: readonly string[] }
  | { readonly form: 'text'; readonly text: string }
  /** HTML, nothing, or JSON of an unknown form. */
  | { readonly form: 'other' }

const TEXT_MAX = 500

export function complaintOf(reply: HttpReply): Complaint {
  const body = reply.body.trim()
  if (body.startsWith('{')) return inJson(body)
  if (body === '' || body.startsWith('<') || body.length > TEXT_MAX || hasControlCharacters(body)) return { form: 'other' }
  return { form: 'text', text: body }
}

function inJson(body: string): Complaint {
  let answer: Wire
  try {
    answer = readAnswer(body)
  } catch {
    return { form: 'other' }
  }
  const errors = errorsOf(answer)
  if (errors !== null) return { form: 'errors', errors }
  const fault = field(answer, 'fault')
  if (typeof fault !== 'object' || fault === null || Array.isArray(fault)) return { form: 'other' }
  const wire = object(fault, 'fault')
  const detail = field(wire, 'detail')
  const code = typeof detail === 'object' && detail !== null ? displayTextOrNull(object(detail, 'detail'), 'errorcode') : null
  return { form: 'fault', text: displayTextOrNull(wire, 'faultstring') ?? '', code: code ?? '' }
}

/** What an answer has under `errors`, which may be a success otherwise; null when it has none. */
export function errorsOf(answer: Wire): readonly string[] | null {
  const errors = field(answer, 'errors')
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors)) return null
  const found = collapsed(object(errors, 'errors'), 'error').filter(error => typeof error === 'string')
  return found.length === 0 ? null : found.map(error => error.slice(0, TEXT_MAX))
}

/** Sentences and codes as one text. */
export function joined(errors: readonly string[]): string {
  return errors.length === 1
    ? (errors[0] ?? '')
    : errors
        .map(error => error.replace(/\.$/, ''))
        .join('; ')
        .slice(0, TEXT_MAX)
}

/** The message to show; empty when there is none fit for it. */
export function errorMessageOf(reply: HttpReply): string {
  const complaint = complaintOf(reply)
  switch (complaint.form) {
    case 'errors':
      return joined(complaint.errors)
    case 'other':
      return ''
    default:
      return complaint.text
  }
}

/** The gateway's answer that the access token itself is expired, revoked or of another environment. Any other 401 may be a passing one. */
export function isTokenRefused(reply: HttpReply): boolean {
  if (reply.status !== 401 && reply.status !== 403) return false
  const complaint = complaintOf(reply)
  return complaint.form === 'fault' && (/access token/i.test(complaint.text) || /access_token/.test(complaint.code))
}

/** Whether it was refused for coming too often, which the gateway decides before anything behind it is reached. */
export function isRateLimited(reply: HttpReply): boolean {
  return reply.status === 429 && (complaintOf(reply).form === 'fault' || header(reply, 'x-ratelimit-available') === '0')
}

/** Whether the API's own message is that there is no such order. */
export function isUnknownOrder(reply: HttpReply): boolean {
  return reply.status >= 400 && reply.status < 500 && /order/i.test(errorMessageOf(reply)) && NO_ORDER.test(errorMessageOf(reply))
}

const NO_ORDER = /not found|does not exist|no such|unknown order|invalid order/i

function hasControlCharacters(body: string): boolean {
  for (let index = 0; index < body.length; index += 1) if (body.charCodeAt(index) < 9) return true
  return false
}
