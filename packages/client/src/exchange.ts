import { dataOf } from './answer.ts'
import { given, requestOf } from './composition.ts'
import { TrunklineError } from './errors.ts'
import { type Meta, metaOf } from './meta.ts'
import type { Operation, OperationShape, Params } from './operation.ts'
import { ABORTED, type Fail, request } from './request.ts'
import { type CallOptions, type Clock, invalid, notify, randomId, type TrunklineOptions } from './settings.ts'

export interface Answer<T> {
  readonly data: T
  readonly meta: Meta
}

/** What all calls of a client share. */
export interface Surroundings {
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly options: TrunklineOptions
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

export function begin({ base, headers, clock, options }: Surroundings, more: CallOptions = {}): Exchange {
  const { now, random, sleep } = clock
  const { requestId: id = randomId(), signal = new AbortController().signal } = more
  const { timeoutMs = 30_000, totalTimeoutMs = 90_000, retries = 3, hooks = {} } = { ...options, ...given(more) }
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
      for (const [name, value] of Object.entries({ timeoutMs, totalTimeoutMs, retries }))
        if (!(value > 0 || (value === 0 && name === 'retries'))) throw invalid(`${name} must be a positive number, and was ${value}`)
      if (!/^[a-z\d][\w.:-]{0,59}$/i.test(id))
        throw invalid(`requestId must be at most 60 of A–Z a–z 0–9 . _ : -, and was "${String(id).slice(0, 61)}"`)
      const [method, path, body, member, order] = requestOf(operation, params)
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
      const raw = await request(options.fetch ?? fetch, base + path, init, leftMs, signal, fail)
      const meta = metaOf(raw[0], raw[1])
      const date = Date.parse(meta.headers.get('date') ?? '')
      // Of an answer to this request: one that a proxy kept is as old as its date.
      if (date && meta.requestId === requestId) clock.skewMs = date - now()
      void notify(hooks.onResponse, { ...notice, meta, ms: now() - startedAt })
      const data = dataOf(raw, [member, order, requestId, headers['client-secret'], headers['user-secret']], fail)
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
