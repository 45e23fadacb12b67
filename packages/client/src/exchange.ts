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
/** Refusals of the service that say that nothing was done. */
const NOTHING_DONE: readonly string[] = ['rate_limited', 'store_unavailable', 'shutting_down', 'broker_unavailable']

export function begin({ base, headers, send, clock, hooks, limits }: Surroundings, options: CallOptions = {}): Exchange {
  const { now, random, sleep } = clock
  const { requestId: id = randomId(), signal = new AbortController().signal } = options
  const { timeoutMs = 30_000, totalTimeoutMs = 90_000, retries = 3 } = { ...limits, ...given(options) }
  const deadline = now() + totalTimeoutMs
  let attempt = 0
  let failures = 0
  return {
    clock,
    renew: () => {
      failures = 0
    },
    async attempt(operation, params, isRepeatable) {
      const { method, path, member, body } = requestOf(operation, params)
      const requestId = `${id}.${++attempt}`
      const notice = { method, path, requestId, attempt }
      const fail: Fail = (code, message, known = {}) => {
        const { status, nothingDone = NOTHING_DONE.includes(code) } = known
        // What comes in half, or from a proxy, is no refusal of the service.
        const isFinal = status && status >= 300 && status < (code === 'answer_unreadable' ? 400 : 500) && status !== 408 && status !== 429
        return new TrunklineError(code, message, { requestId, ...known, nothingDone, retrySafe: !isFinal && (isRepeatable || nothingDone) })
      }
      const startedAt = now()
      const leftMs = Math.ceil(Math.max(1, Math.min(timeoutMs, deadline - startedAt, TIMER_MS_MAX)))
      const init = { method, body, headers: { ...headers, 'x-request-id': requestId, ...(body && { 'content-type': 'application/json' }) } }
      void notify(hooks.onRequest, notice)
      const raw = await request(send(), base + path, init, leftMs, signal, fail)
      const meta = metaOf(raw.status, raw.headers)
      const date = Date.parse(raw.headers.get('date') ?? '')
      if (date) clock.skewMs = date - now()
      void notify(hooks.onResponse, { ...notice, meta, ms: now() - startedAt })
      return { data: dataOf(member, raw, headers, fail), meta }
    },
    async pause(error, most = retries) {
      const waitMs = random() * Math.min(8_000, 250 * 2 ** failures++) + (error.retryAfterMs ?? 0)
      if (failures > most || now() + waitMs >= deadline) throw error
      void notify(hooks.onRetry, { attempt, waitMs, error })
      await sleep(waitMs, signal)
      if (signal.aborted) throw new TrunklineError('aborted', ABORTED, { requestId: error.requestId })
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
}

/** @throws TrunklineError what the service says, or answer_unreadable */
function dataOf(member: string, { status, headers, text }: RawAnswer, sent: Readonly<Record<string, string>>, fail: Fail): unknown {
  const isGood = status >= 200 && status < 300
  // A refusal may quote what it was sent.
  const secrets = isGood ? [] : [sent['client-secret'], sent['user-secret']]
  const body = parsed(secrets.reduce<string>((left, secret) => left.replaceAll(secret || '\0', '[secret]'), text))
  if (isGood && (member === '[]' ? Array.isArray(body) : member in body)) return body
  const { code, message, details, order_id: orderId } = body
  const known = { status, requestId: headers.get('x-request-id') }
  // A redirect is not followed: the credentials would go with it.
  if (status < 400 || typeof code !== 'string') throw fail('answer_unreadable', `The answer ${status} is not the service’s.`, known)
  const retryAfterMs = Number(headers.get('retry-after')) * 1_000 || null
  throw fail(code, String(message).slice(0, 2_000), {
    ...known,
    details: Array.isArray(details) ? details : [],
    orderId: orderId ?? null,
    retryAfterMs
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
