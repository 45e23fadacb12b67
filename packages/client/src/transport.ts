import { TrunklineError } from './errors.ts'
import { type Answer, begin, type Exchange } from './exchange.ts'
import type { ErrorCode } from './generated/openapi.ts'
import { metaOf } from './meta.ts'
import type { Operation, OperationShape, Params, Resource } from './operation.ts'
import { type Pages, pagesOf } from './pages.ts'
import { type CallOptions, type Clock, checkedBase, headersOf, pause, type TrunklineOptions, type UserCredentials } from './settings.ts'

/** The record that a call answers; `withMeta` gives what came with it too. */
export interface Call<T> extends Promise<T> {
  withMeta(): Promise<Answer<T>>
}

/** The parameters of a call, which may be left out if none is required. */
export type Given<P> = object extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions]

/** A method that makes requests of an operation. */
export type Calls<S extends OperationShape> = (...given: Given<Params<S>>) => Call<S['answer']>

/** A method that reads the pages of an operation. */
export type Lists<S extends OperationShape> = (...given: Given<Params<S>>) => Pages<S['answer']>

/** What a request that is sent again after a lost answer may meet: the trace of the first one. Undefined: something else. */
export type AfterLoss<S extends OperationShape> = (
  error: TrunklineError,
  exchange: Exchange,
  params: Params<S>
) => Promise<Answer<S['answer']>> | Answer<S['answer']> | undefined

/** The methods of a resource, by name. */
export type Methods<R> = {
  readonly [Name in keyof R]: R[Name] extends OperationShape ? (R[Name]['hasPages'] extends true ? Lists<R[Name]> : Calls<R[Name]>) : never
}

/** Sends requests with the credentials of a platform, and of a user if it has one. Nothing shows them when it is printed. */
export interface Transport {
  /** The same, for requests of this user. @throws TrunklineError setting_invalid */
  asUser(user: UserCredentials): Transport
  begin(options?: CallOptions): Exchange
}

/**
 * @param clock shared with the transports of other users: what one learns of the service's clock is true for all
 * @throws TrunklineError setting_invalid
 */
export function transportOf(
  options: TrunklineOptions = Object(),
  user: UserCredentials | null = null,
  clock: Clock = { now: options.now ?? Date.now, random: options.random ?? Math.random, sleep: options.sleep ?? pause, skewMs: 0 }
): Transport {
  const base = checkedBase(options)
  const headers = headersOf(options, user)
  return {
    asUser: other => transportOf(options, Object(other), clock),
    begin: more => begin({ base, headers, clock, options }, more)
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
  afterLoss: AfterLoss<S> = () => undefined,
  isRepeatable = true
): Promise<Answer<S['answer']>> {
  let wasLost = false
  for (;;) {
    try {
      return await exchange.attempt(operation, params, isRepeatable)
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error
      const found = wasLost && afterLoss(error, exchange, params)
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
  afterLoss?: AfterLoss<S>,
  isRepeatable?: boolean
): Calls<S> {
  return Object((params: Params<S> = Object(), options?: CallOptions) =>
    callOf(repeated(transport.begin(options), operation, params, afterLoss, isRepeatable))
  )
}

/** The method that reads an operation's pages. `check` sees each answer first, and what was asked for on that page. */
export function listing<S extends OperationShape>(
  transport: Transport,
  operation: Operation<S>,
  check?: (params: Params<S>, answer: S['answer']) => void
): Lists<S> {
  return Object((params: object = {}, options?: CallOptions) =>
    pagesOf(operation.split(' ')[2] ?? 'next_cursor', Object(params), async query => {
      const answer = await repeated(transport.begin(options), operation, Object(query))
      check?.(Object(query), answer.data)
      return answer
    })
  )
}

/** The methods of a resource. */
export function resourceOf<R>(
  transport: Transport,
  resource: Resource<R>,
  afterLosses: { readonly [Name in keyof R]?: R[Name] extends OperationShape ? AfterLoss<R[Name]> : never } = {}
): Methods<R> {
  const [base, ...rows] = resource.split('|')
  const after: Readonly<Record<string, AfterLoss<OperationShape> | undefined>> = Object(afterLosses)
  return Object(
    Object.fromEntries(
      rows.map(row => {
        const [, name = '', once, sign, rest] = /(\w+)(!?)([-+~]?)(.*)/.exec(row) ?? []
        const operation = `${sign}${base}${rest}`
        // Pages have a list, and what names the next one.
        return [name, /a\[]|] ./.test(operation) ? listing(transport, operation) : calling(transport, operation, after[name], !once)]
      })
    )
  )
}

/** With this code, an error says that what was asked for is done; the parameter is what the answer would have said. */
export function doneIf<S extends OperationShape>(doneCode: ErrorCode, name: string): AfterLoss<S> {
  return ({ code, status, requestId }, _exchange, params) =>
    code === doneCode
      ? { data: Object({ [name]: Object(params)[name] }), meta: { ...metaOf(status ?? 0, new Headers()), requestId } }
      : undefined
}
