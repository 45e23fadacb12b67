import { TrunklineError } from './errors.ts'
import { type Meta, metaOf } from './meta.ts'
import type { Operation, OperationShape, Params } from './operation.ts'
import { ABORTED, type Fail, type RawAnswer, request } from './request.ts'
import { type CallOptions, type Clock, type Hooks, invalid, notify, randomId } from './settings.ts'

export interface Answer<T> {
  readonly data: T
  readonly meta: Meta
}

/** What all calls of a client share. */
export interface Surroundings {
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  readonly send: () => typeof fetch
  readonly clock: Clock
  readonly hooks: Hooks
  readonly limits: CallOptions
}

/** One call of the caller: its attempts, and the time they share. */
export interface Exchange {
  readonly clock: Clock
  /**
   * Sends a request once.
   * @param isRepeatable the same request again does nothing twice
   * @throws TrunklineError
   */
  attempt<S extends OperationShape>(operation: Operation<S>, params: Params<S>, isRepeatable: boolean): Promise<Answer<S['answer']>>
  /** Waits before the next attempt. @throws `error` if there is none: too many, too late, or the caller ended it */
  pause(error: TrunklineError, retries?: number): Promise<void>
  /** Begins to count attempts and waits again, within the same time. */
  renew(): void
}

/** Timers take no more, and no fractions. */
const TIMER_MS_MAX = 2 ** 31 - 1
/**
 * Status and code of the refusals that say that nothing was done. Not those that a request meets which a proxy sent twice: the first of the
 * two may have been carried out.
 */
const NOTHING_DONE = /^(4(?!0[89])..|503) (?!order_not_open)/

export function begin({ base, headers, send, clock, hooks, limits }: Surroundings, options: CallOptions = {}): Exchange {
  const { now, random, sleep } = clock
  const { requestId: id = randomId(), signal = new AbortController().signal } = options
  const { timeoutMs = 30_000, totalTimeoutMs = 90_000, retries = 3 } = { ...limits, ...given(options) }
  const deadline = now() + totalTimeoutMs
  let attempt = 0
  let failures = 0
  /** Nothing was done by any attempt so far. */
  let isClean = true
  return {
    clock,
    renew: () => {
      failures = 0
    },
    async attempt(operation, params, isRepeatable) {
      if (!(timeoutMs > 0 && totalTimeoutMs > 0 && retries >= 0 && /^[a-z\d][\w.:-]{0,59}$/i.test(id)))
        throw invalid('a time, the retries or the requestId cannot be used')
      const { method, path, member, body } = requestOf(operation, params)
      const requestId = `${id}.${++attempt}`
      const notice = { method, path, requestId, attempt }
      const fail: Fail = (code, message, known = {}) => {
        const { status, nothingDone = false } = known
        isClean &&= nothingDone
        // What comes in half, or from a proxy, is no refusal of the service. A browser gives a redirect the status 0.
        const isRefusal = (code === 'answer_unreadable' ? /^[03]/ : /^4(?!08|29)/).test(String(status))
        return new TrunklineError(code, message, {
          ...{ requestId, ...known },
          nothingDone: isClean,
          retrySafe: !isRefusal && (isRepeatable || nothingDone)
        })
      }
      const startedAt = now()
      const leftMs = Math.ceil(Math.max(1, Math.min(timeoutMs, deadline - startedAt, TIMER_MS_MAX)))
      const init = { method, body, headers: { ...headers, 'x-request-id': requestId, ...(body && { 'content-type': 'application/json' }) } }
      void notify(hooks.onRequest, notice)
      const raw = await request(send(), base + path, init, leftMs, signal, fail)
      const meta = metaOf(raw.status, raw.headers)
      const date = Date.parse(raw.headers.get('date') ?? '')
      // Of an answer to this request: one that a proxy kept is as old as its date.
      if (date && meta.requestId === requestId) clock.skewMs = date - now()
      void notify(hooks.onResponse, { ...notice, meta, ms: now() - startedAt })
      const data = dataOf(member, raw, headers, requestId, fail)
      isClean = false
      return { data, meta }
    },
    async pause(error, most = retries) {
      const waitMs = random() * Math.min(8_000, 250 * 2 ** failures++) + (error.retryAfterMs ?? 0)
      if (failures > most || now() + waitMs >= deadline || error.code === 'aborted') throw error
      void notify(hooks.onRetry, { attempt, waitMs, error })
      await sleep(Math.min(waitMs, TIMER_MS_MAX), signal)
      if (signal.aborted) throw new TrunklineError('aborted', ABORTED, { requestId: error.requestId, nothingDone: isClean })
    }
  }
}

/** Without what is undefined, which would hide a default. */
function given(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Path, query and body, from parameters by name. @throws TrunklineError setting_invalid */
function requestOf<S extends OperationShape>(operation: Operation<S>, params: Params<S>) {
  const [method = '', route = '', member = ''] = operation.split(' ')
  const left = given(params)
  try {
    const path = route.replace(/{(\w+)}/g, (_, name: string) => {
      const value = String(left[name] ?? '')
      delete left[name]
      // An empty step, or one of dots, would make it the path of something else.
      if (/^\.{0,2}$/.test(value)) throw invalid(`${name} must be given`)
      return encodeURIComponent(value)
    })
    if (method[0] === 'P') return { method, member, path, body: JSON.stringify(left) }
    const query = String(new URLSearchParams(Object.entries(left).map(([name, value]) => [name, String(value)])))
    return { method, member, path: query ? `${path}?${query}` : path, body: null }
  } catch (cause) {
    // Half of a character in a path, or a number that JSON does not have.
    throw cause instanceof TrunklineError ? cause : invalid('a parameter cannot be sent')
  }
}

/** @throws TrunklineError what the service says, or answer_unreadable */
function dataOf(
  member: string,
  { status, headers, text }: RawAnswer,
  sent: Readonly<Record<string, string>>,
  sentId: string,
  fail: Fail
): unknown {
  const body = parsed(text)
  if (status >= 200 && status < 300 && hasMember(body, member)) return body
  const { code, message, details, order_id: orderId, request_id: named } = body
  // A browser does not show the header to a page of another origin.
  const requestId = headers.get('x-request-id') ?? sentId
  // Of another's answer nothing is believed: the service names the request twice. A redirect is not followed: the credentials would go
  // with it.
  const isOurs = status >= 400 && named === requestId && /^application\/json\b/.test(headers.get('content-type') ?? '')
  if (!isOurs || typeof code !== 'string')
    throw fail('answer_unreadable', `The answer ${status} is not the service’s.`, { status, requestId })
  // A refusal may quote what it was sent.
  const shown = (value: unknown) =>
    [sent['client-secret'], sent['user-secret']].reduce<string>(
      (left, secret) => left.replaceAll(secret || '\0', '[secret]'),
      String(value)
    )
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

function hasMember(body: Readonly<Record<string, unknown>>, member: string): boolean {
  const name = member.replace('[]', '')
  const value = name ? body[name] : body
  return name === member ? typeof value === 'string' : isRecords(value)
}

function isRecords(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(each => Object(each) === each)
}
