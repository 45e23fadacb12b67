import { TrunklineError } from './errors.ts'
import { type Answer, begin, type Exchange } from './exchange.ts'
import type { ErrorCode } from './generated/openapi.ts'
import { metaOf } from './meta.ts'
import type { Operation, OperationShape, Params } from './operation.ts'
import { type Pages, pagesOf } from './pages.ts'
import { type CallOptions, type Clock, checkedBase, headersOf, pause, type TrunklineOptions, type UserCredentials } from './settings.ts'

/** The record that a call answers; `withMeta` gives what came with it too. */
export interface Call<T> extends Promise<T> {
  withMeta(): Promise<Answer<T>>
}

/** The parameters of a call, which may be left out if none is required. */
export type Given<P> = object extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions]

/** A method that makes requests of an operation. */
export type Calls<O> = O extends Operation<infer S> ? (...given: Given<Params<S>>) => Call<S['answer']> : never

/** A method that reads the pages of an operation. */
export type Lists<O> = O extends Operation<infer S> ? (...given: Given<Params<S>>) => Pages<S['answer']> : never

/** What a request that is sent again after a lost answer may meet: the trace of the first one. Undefined: something else. */
export type AfterLoss<A> = (error: TrunklineError, exchange: Exchange) => Promise<Answer<A>> | Answer<A> | undefined

/** Sends requests with the credentials of a platform, and of a user if it has one. Nothing shows them when it is printed. */
export interface Transport {
  readonly base: string
  readonly clock: Clock
  /** The credentials as they are sent. */
  credentials(): Readonly<Record<string, string>>
  /** The same, for requests of this user. @throws TrunklineError setting_invalid */
  asUser(user: UserCredentials): Transport
  begin(options?: CallOptions): Exchange
}

/** @throws TrunklineError setting_invalid */
export function transportOf(options: TrunklineOptions, user: UserCredentials | null = null): Transport {
  const { now = Date.now, random = Math.random, sleep = pause } = options
  return transportWith(options, user, { now, random, sleep, skewMs: 0 })
}

/** @param clock shared with the transports of other users: what one learns of the service's clock is true for all */
function transportWith(options: TrunklineOptions, user: UserCredentials | null, clock: Clock): Transport {
  const { hooks = {} } = options
  const base = checkedBase(options)
  const headers = headersOf(options, user)
  // A browser's fetch must not be called as a method.
  const send = () => options.fetch ?? fetch
  return {
    base,
    clock,
    credentials: () => headers,
    asUser: other => transportWith(options, other, clock),
    begin: more => begin({ base, headers, send, clock, hooks, limits: options }, more)
  }
}

/**
 * Sends a request until it is answered, within the limits of the exchange.
 * @param isRepeatable the same request again does nothing twice; otherwise it is sent again only if nothing was done
 */
export async function repeated<S extends OperationShape>(
  exchange: Exchange,
  operation: Operation<S>,
  params: Params<S>,
  afterLoss: AfterLoss<S['answer']> = () => undefined,
  isRepeatable = true
): Promise<Answer<S['answer']>> {
  let wasLost = false
  for (;;) {
    try {
      return await exchange.attempt(operation, params, isRepeatable)
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error
      const found = wasLost && afterLoss(error, exchange)
      if (found) return found
      if (!error.retrySafe) throw error
      wasLost ||= !error.nothingDone
      await exchange.pause(error)
    }
  }
}

export function callOf<T>(answer: Promise<Answer<T>>): Call<T> {
  const data = answer.then(each => each.data)
  return Object.assign(data, {
    withMeta: () => {
      // Only one of the two is awaited.
      data.catch(() => undefined)
      return answer
    }
  })
}

/** The method that makes requests of an operation. */
export function calling<S extends OperationShape>(
  transport: Transport,
  operation: Operation<S>,
  afterLoss?: (params: Params<S>) => AfterLoss<S['answer']>,
  isRepeatable?: boolean
): (...given: Given<Params<S>>) => Call<S['answer']> {
  return (...given) => {
    const [params = Object(), options]: readonly [Params<S>?, CallOptions?] = given
    return callOf(repeated(transport.begin(options), operation, params, afterLoss?.(params), isRepeatable))
  }
}

/** The same for an operation that is not repeated after a lost answer. */
export function callingOnce<S extends OperationShape>(transport: Transport, operation: Operation<S>): ReturnType<typeof calling<S>> {
  return calling(transport, operation, undefined, false)
}

/** The method that reads an operation's pages. `check` sees each answer first, and what was asked for on that page. */
export function listing<S extends OperationShape>(
  transport: Transport,
  operation: Operation<S>,
  check?: (params: Params<S>, answer: S['answer']) => void
): (...given: Given<Params<S>>) => Pages<S['answer']> {
  return (...given) => {
    const [params = Object(), options]: readonly [Params<S>?, CallOptions?] = given
    return pagesOf(String(operation.split(' ')[3]), Object(params), async query => {
      const answer = await repeated(transport.begin(options), operation, Object(query))
      check?.(Object(query), answer.data)
      return answer
    })
  }
}

/** With this code, an error says that what was asked for is done. */
export function doneIf<T>(doneCode: ErrorCode, data: T): AfterLoss<T> {
  return ({ code, status, requestId }) =>
    code === doneCode ? { data, meta: { ...metaOf(status ?? 0, new Headers()), requestId } } : undefined
}
