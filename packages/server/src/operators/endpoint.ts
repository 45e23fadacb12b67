// An operation of the API for operators, as its module defines it and as it is served.
import type { OperatorCaller } from '@trunkline/core/app/operators/access'
import type { ErrorCode } from '@trunkline/core/domain/errors'
import type { OperatorScope } from '@trunkline/core/domain/operator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { bodyReader } from '../http/body-reader.ts'
import { type Params, type PathValues, type QueryValues, readPath, readQuery } from '../http/params.ts'
import type { StatusOverrides } from '../http/problems.ts'
import type { QueryTexts } from '../http/query-text.ts'
import type { Rendered } from '../http/rendered.ts'
import type { OperatorDeps } from './deps.ts'

export const OPERATOR_TAGS = {
  Sessions: 'Logging in and out.',
  Service: 'The running service: its health, its traffic and its errors.',
  Platforms: 'Platforms, their users and the users’ connections.',
  Orders: 'Orders, what became of each, step by step, and those of unknown outcome.',
  Webhooks: 'Webhook endpoints of platforms, and what was sent to them.',
  Records: 'Events, the audit log and requests.',
  Sandbox: 'The sandbox that this service started itself: faults, clock, prices and practice users.',
  Trading: 'Trading in the sandbox for a user, as the platform could.'
} as const

/** Here a platform is named in the path; elsewhere it is the caller. */
export const STATUSES: StatusOverrides = { platform_not_found: 404 }

/** `none`: no credentials are needed; only the exchange of a code. */
type Needs = OperatorScope | 'none'

interface Shape {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/admin/v1`, with `:name` for parameters. */
  readonly path: string
  /** The scope that it needs. Required, so that no operation is without one. */
  readonly scope: Needs
  /** It runs outside the 16 places of operators' requests, because it may wait; it bounds by itself what takes the database. */
  readonly outsidePlaces?: true
  /** Any operator may do it, whatever their scopes: to look at the own session, and to end it. */
  readonly anyScope?: true
  readonly operationId: string
  readonly tag: keyof typeof OPERATOR_TAGS
  readonly summary: string
  readonly description?: string
  /** Error codes beyond those that follow from method, parameters and body. */
  readonly failures?: readonly ErrorCode[]
}

interface Success {
  readonly status: 200 | 201
  readonly description: string
}

/** One request with parsed parameters. `caller` is null only where no credentials are needed. */
export interface OperatorCall<Caller, P extends Params, Q extends Params, B extends TSchema> {
  readonly caller: Caller
  readonly path: PathValues<P>
  readonly query: QueryValues<Q>
  readonly body: Static<B>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

interface Definition<Caller, P extends Params, Q extends Params, B extends TSchema, R extends TSchema> extends Shape {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly bodyExample?: Static<B>
  readonly success: Success & { readonly schema: R }
  handle(call: OperatorCall<Caller, P, Q, B>, deps: OperatorDeps): Promise<Static<R> | Rendered>
}

/** What runs once credentials, path and query are fine. */
export type RunOperation<Caller> = (caller: Caller, request: FastifyRequest, reply: FastifyReply, deps: OperatorDeps) => Promise<unknown>

interface Served<Caller> extends Shape {
  readonly params: Params
  readonly query: Params
  readonly body: TSchema | null
  readonly bodyExample: unknown
  readonly success: Success & { readonly schema: TSchema }
  /** @throws ServiceError path_invalid, query_invalid */
  prepare(path: Readonly<Record<string, unknown>>, query: QueryTexts): RunOperation<Caller>
}

export type OpenOperation = Served<null> & { readonly access: 'open' }
export type ProvenOperation = Served<OperatorCaller> & { readonly access: 'operator' }
export type Operation = OpenOperation | ProvenOperation

/** An operation for operators who are logged in, or their programs. */
export function operation<P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<OperatorCaller, P, Q, B, R> & { readonly scope: OperatorScope }
): ProvenOperation {
  return { ...served(definition), access: 'operator' }
}

/** The operation that makes an operator of somebody unknown. */
export function openOperation<P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<null, P, Q, B, R> & { readonly scope: 'none' }
): OpenOperation {
  return { ...served(definition), access: 'open' }
}

function served<Caller, P extends Params, Q extends Params, B extends TSchema, R extends TSchema>(
  definition: Definition<Caller, P, Q, B, R>
): Served<Caller> {
  const { params = {} as P, query = {} as Q, body = null, bodyExample, handle, ...shape } = definition
  const reader = bodyReader<Static<B>>(body ?? NOTHING)
  return {
    ...shape,
    params,
    query,
    body,
    bodyExample,
    prepare(givenPath, givenQuery) {
      const path = readPath(params, givenPath)
      const requested = readQuery(query, givenQuery)
      return (caller, request, reply, deps) => {
        const given = reader.read(request.body === undefined && body === null ? {} : request.body)
        return handle({ caller, path, query: requested, body: given, request, reply }, deps)
      }
    }
  }
}

const NOTHING: TSchema = { type: 'object', properties: {}, additionalProperties: false }
