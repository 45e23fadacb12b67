import type { AppDeps } from '@trunkline/core/app/application'
import type { PlatformCaller, UserCaller } from '@trunkline/core/app/caller'
import type { ErrorCode } from '@trunkline/core/domain/errors'
import type { Scope } from '@trunkline/core/domain/platform-key'
import type { WebhookPorts } from '@trunkline/core/ports/webhook-requests'
import type { Static, TSchema } from 'typebox'
import { bodyReader } from './body-reader.ts'
import type { Cursors } from './cursor.ts'
import type { Deprecation } from './deprecation.ts'
import type { WithHeaders } from './headed.ts'
import { type Params, type PathValues, type QueryValues, readPath, readQuery } from './params.ts'
import type { StatusOverrides } from './problems.ts'
import type { QueryTexts } from './query-text.ts'
import type { Rendered } from './rendered.ts'

/** What every handler receives besides the request. */
export interface Service {
  readonly deps: AppDeps & { readonly webhooks: WebhookPorts }
  readonly cursors: Cursors
  readonly publicUrl: () => string
}

/** The documentation of an endpoint. */
export interface EndpointDoc {
  readonly operationId: string
  readonly tag: 'Users' | 'Connections' | 'Accounts' | 'Orders' | 'Events' | 'Webhooks' | 'Brokers' | 'Market data'
  readonly summary: string
  readonly description?: string
  /** Error codes specific to this endpoint, beyond those that follow from its method, parameters and body. */
  readonly failures?: readonly ErrorCode[]
  /** Set when it is to go. */
  readonly deprecation?: Deprecation
}

interface Shape extends EndpointDoc {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `:name` for parameters. Served at the root and under `/v1`. */
  readonly path: string
  /** The scope that a key needs. */
  readonly scope: Scope
  readonly statusOverrides?: StatusOverrides
  /** A GET that creates something, and so has no HEAD. */
  readonly makes?: true
  /** Neither stores nor sends anything although it is no GET, so it may be executed again. */
  readonly changesNothing?: true
  /** With platform credentials only, about the user whom this path parameter names: executed by the user's owner. */
  readonly atOwnerOf?: 'user_id'
}

interface Success {
  readonly status: 200 | 201
  readonly description: string
  /** Additional headers, beyond those that every response has. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: TSchema }>>
}

/** An endpoint as its module defines it. */
interface Definition<Caller, P extends Params, Q extends Params, B extends TSchema, R extends TSchema> extends Shape {
  readonly params?: P
  readonly query?: Q
  /** If absent, the endpoint takes no body or an empty object. */
  readonly body?: B
  /** An example of the body, for the reference. */
  readonly bodyExample?: Static<B>
  readonly success: Success & { readonly schema: R }
  handle(call: Call<Caller, P, Q, B>, service: Service): Promise<Static<R> | Rendered | WithHeaders<Static<R> | Rendered>>
  /** The result of a request that the user's owner may have executed without answering; null: unknown. */
  resultOf?(call: Call<Caller, P, Q, B>, service: Service): Promise<Static<R> | null>
}

/** One authenticated request with parsed parameters. */
export interface Call<Caller, P extends Params, Q extends Params, B extends TSchema> {
  readonly caller: Caller
  readonly path: PathValues<P>
  readonly query: QueryValues<Q>
  readonly body: Static<B>
}

/** The remaining work once path and query are parsed: reads the body and runs the handler. */
export type Prepared<Caller> = (caller: Caller, body: unknown, service: Service) => Promise<unknown>

/** An endpoint as it is served. `prepare` hides the types of parameters and body; the schemas stay visible for the reference. */
interface Served<Caller> extends Shape {
  readonly params: Params
  readonly query: Params
  readonly body: TSchema | null
  readonly bodyExample: unknown
  readonly success: Success & { readonly schema: TSchema }
  /** @throws ServiceError path_invalid, query_invalid. */
  prepare(path: Readonly<Record<string, unknown>>, query: QueryTexts): Prepared<Caller>
  /** The same for `resultOf`; null where the result cannot be found out. */
  readonly prepareResult: Served<Caller>['prepare'] | null
}

export type PlatformEndpoint = Served<PlatformCaller> & { readonly auth: 'platform' }
export type UserEndpoint = Served<UserCaller> & { readonly auth: 'user' }
export type Endpoint = PlatformEndpoint | UserEndpoint

/** An endpoint that needs platform credentials only. */
export function platformEndpoint<P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<PlatformCaller, P, Q, B, R>
): PlatformEndpoint {
  return { ...served(definition), auth: 'platform' }
}

/** An endpoint that needs platform and user credentials. */
export function userEndpoint<P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<UserCaller, P, Q, B, R>
): UserEndpoint {
  return { ...served(definition), auth: 'user' }
}

function served<Caller, P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<Caller, P, Q, B, R>
): Served<Caller> {
  const { params = {} as P, query = {} as Q, body = null, bodyExample, handle, resultOf, ...shape } = definition
  const reader = bodyReader<Static<B>>(body ?? NOTHING)
  const readsPath = Object.keys(params).length > 0
  const noPath = readPath({} as P, {})
  const preparing =
    (run: (call: Call<Caller, P, Q, B>, service: Service) => Promise<unknown>): Served<Caller>['prepare'] =>
    (givenPath, givenQuery) => {
      const path = readsPath ? readPath(params, givenPath) : noPath
      const requested = readQuery(query, givenQuery)
      return (caller, given, service) =>
        run({ caller, path, query: requested, body: reader.read(given === undefined && body === null ? {} : given) }, service)
    }
  const prepareResult = resultOf === undefined ? null : preparing(resultOf)
  return { ...shape, params, query, body, bodyExample, prepare: preparing(handle), prepareResult }
}

// Many clients send `{}` with a POST that takes no body. Fields in it are reported as an error.
const NOTHING: TSchema = { type: 'object', properties: {}, additionalProperties: false }
