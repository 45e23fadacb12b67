// What an answer says, if it is the service's.
import type { Fail, RawAnswer } from './request.ts'

/** What was asked for: of the order that is named, the answer must be; empty if there is none. */
export type Asked = readonly [member: string, order: string, requestId: string, ...secrets: (string | undefined)[]]

/**
 * Status and code of the refusals that say that nothing was done. Not those that a request meets which a proxy sent twice: the first of the
 * two may have been carried out. Those that ask to wait count only with a code of the service: a gateway answers with the same statuses.
 */
const NOTHING_DONE = /^(4(?!0[89]|29).. (?!order_not_open)|429 rate_limited$|503 (store_unavailable|shutting_down)$)/

/** @throws TrunklineError what the service says, or answer_unreadable */
export function dataOf([status, headers, text]: RawAnswer, [member, order, sentId, ...secrets]: Asked, fail: Fail): unknown {
  const body = parsed(text)
  if (status >= 200 && status < 300 && hasMember(body, member, order)) return body
  const { code, message, details, order_id: orderId, request_id: named } = body
  const requestId = headers.get('x-request-id') ?? sentId
  // Of another's answer nothing is believed: the service names the request in header and body. A proxy may have changed the id before the
  // service, or the header after it. A redirect is not followed: the credentials would go with it.
  const isOurs = status >= 400 && [requestId, sentId].includes(named) && /^application\/json\b/.test(headers.get('content-type') ?? '')
  if (!isOurs || typeof code !== 'string')
    throw fail('answer_unreadable', `The answer ${status} is not the service’s: check baseUrl, and what is in between.`, {
      status,
      requestId
    })
  // A refusal may quote what it was sent.
  const shown = (value: unknown) => secrets.reduce<string>((left, secret) => left.replaceAll(secret || '\0', '[secret]'), String(value))
  throw fail(shown(code), shown(message).slice(0, 2_000), {
    ...{ status, requestId },
    details: isRecords(details) ? details.map(({ path, message: what }) => ({ path: shown(path), message: shown(what) })) : [],
    orderId: typeof orderId === 'string' ? orderId : null,
    retryAfterMs: Math.max(0, Number(headers.get('retry-after')) * 1_000) || null,
    nothingDone: NOTHING_DONE.test(`${status} ${code}`)
  })
}

/** An object or a list; empty if the text is neither. */
function parsed(text: string) {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function hasMember(body: Readonly<Record<string, unknown>>, member: string, order: string): boolean {
  const name = member.replace('[]', '')
  const value = name ? body[name] : body
  return name === member ? typeof value === 'string' && (order || value) === value : isRecords(value)
}

function isRecords(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(each => Object(each) === each)
}
