import type { PlatformCaller, UserCaller } from '@trunkline/core/app/caller'
import type { AppDeps } from '@trunkline/core/app/deps'
import type { ErrorCode } from '@trunkline/core/domain/errors'
import type { Scope } from '@trunkline/core/domain/platform-key'
import type { Static, TSchema } from 'typebox'
import { bodyReader } from './body-reader.ts'
import type { Cursors } from './cursor.ts'
import type { WithHeaders } from './headed.ts'
import { type Params, type PathValues, type QueryValues, readPath, readQuery } from './params.ts'
import type { StatusOverrides } from './problems.ts'
import type { QueryTexts } from './query-text.ts'
import type { Rendered } from './rendered.ts'

/** What handlers have at hand besides the request. */
export interface Service {
  readonly deps: AppDeps
  readonly cursors: Cursors
  readonly publicUrl: () => string
}

/** The documentation of an endpoint. */
export interface EndpointDoc {
  readonly operationId: string
  readonly tag: 'Users' | 'Connections' | 'Accounts' | 'Orders' | 'Events' | 'Brokers' | 'Market data'
  readonly summary: string
  readonly description?: string
  /** Failures of its own, beyond those every endpoint of its shape has. */
  readonly failures?: readonly ErrorCode[]
}

interface Shape extends EndpointDoc {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `:name` for parameters. Served at the root and under `/v1`. */
  readonly path: string
  /** What a key must be allowed for it. */
  readonly scope: Scope
  readonly statusOverrides?: StatusOverrides
  /** A GET that makes something: there is no HEAD of it. */
  readonly makes?: true
}

interface Success {
  readonly status: 200 | 201
  readonly description: string
  /** Headers of its own, beyond those that every answer has. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: TSchema }>>
}

/** An endpoint as written. */
interface Definition<Caller, P extends Params, Q extends Params, B extends TSchema, R extends TSchema> extends Shape {
  readonly params?: P
  readonly query?: Q
  /** Left out: the endpoint takes no body, or an empty object. */
  readonly body?: B
  /** An example of the body, for the reference. */
  readonly bodyExample?: Static<B>
  readonly success: Success & { readonly schema: R }
  handle(call: Call<Caller, P, Q, B>, service: Service): Promise<Static<R> | Rendered | WithHeaders<Static<R> | Rendered>>
}

/** One request, read and proved. */
export interface Call<Caller, P extends Params, Q extends Params, B extends TSchema> {
  readonly caller: Caller
  readonly path: PathValues<P>
  readonly query: QueryValues<Q>
  readonly body: Static<B>
}

/** What is left to do once path and query are read: read the body and act. */
export type Prepared<Caller> = (caller: Caller, body: unknown, service: Service) => Promise<unknown>

/** An endpoint as served: the types of its parts are closed over, the parts themselves are there for the reference. */
interface Served<Caller> extends Shape {
  readonly params: Params
  readonly query: Params
  readonly body: TSchema | null
  readonly bodyExample: unknown
  readonly success: Success & { readonly schema: TSchema }
  /** @throws ServiceError path_invalid, query_invalid. */
  prepare(path: Readonly<Record<string, unknown>>, query: QueryTexts): Prepared<Caller>
}

export type PlatformEndpoint = Served<PlatformCaller> & { readonly auth: 'platform' }
export type UserEndpoint = Served<UserCaller> & { readonly auth: 'user' }
export type Endpoint = PlatformEndpoint | UserEndpoint

/** An endpoint that a platform calls for itself. */
export function platformEndpoint<P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<PlatformCaller, P, Q, B, R>
): PlatformEndpoint {
  return { ...served(definition), auth: 'platform' }
}

/** An endpoint that a platform calls for one of its users. */
export function userEndpoint<P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<UserCaller, P, Q, B, R>
): UserEndpoint {
  return { ...served(definition), auth: 'user' }
}

function served<Caller, P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<Caller, P, Q, B, R>
): Served<Caller> {
  const { params = {} as P, query = {} as Q, body = null, bodyExample, handle, ...shape } = definition
  const reader = bodyReader<Static<B>>(body ?? NOTHING)
  const readsPath = Object.keys(params).length > 0
  const noPath = readPath({} as P, {})
  return {
    ...shape,
    params,
    query,
    body,
    bodyExample,
    prepare(givenPath, givenQuery) {
      const path = readsPath ? readPath(params, givenPath) : noPath
      const requested = readQuery(query, givenQuery)
      return (caller, given, service) =>
        handle({ caller, path, query: requested, body: reader.read(given === undefined && body === null ? {} : given) }, service)
    }
  }
}

// Clients like to send `{}` with a POST that needs nothing; fields would be a mistake worth reporting.
const NOTHING: TSchema = { type: 'object', properties: {}, additionalProperties: false }
