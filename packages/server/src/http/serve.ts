import type { AppDeps } from '@trunkline/core/app/application'
import type { PlatformCaller, UserCaller } from '@trunkline/core/app/caller'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseUserId, type UserKey } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Log } from '@trunkline/core/ports/log'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readJson } from './body.ts'
import type { ConnectionGate } from './connection-gate.ts'
import { deprecationHeaders } from './deprecation.ts'
import type { Endpoint, Service } from './endpoint.ts'
import type { FairQueue } from './fair-queue.ts'
import { type Foreign, notExecuted, passingOn } from './foreign.ts'
import { type Forwarder, moving } from './forwarder.ts'
import type { Guard } from './guard.ts'
import { WithHeaders } from './headed.ts'
import { NOT_FOUND_PAGE, wantsPage } from './not-found-page.ts'
import { fieldInvalid, problemBody, problemOf, type StatusOverrides } from './problems.ts'
import type { QueryTexts } from './query-text.ts'
import type { RefusalPace } from './refusal-pace.ts'
import { Rendered } from './rendered.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether its credentials were verified. */
    isProven: boolean
    /** Runs the request once the body has been read; set by the endpoint's guard. */
    execute: ((body: unknown) => Promise<unknown>) | null
    /** Whose credentials were proved; null: no platform's. */
    requester: { readonly platformId: string; readonly userKey: string | null } | null
    /** The code of the error that is the answer; null: it is none. */
    errorCode: string | null
    /** Set by the guard if another node is to execute the request. */
    foreign: Foreign | null
  }
  interface FastifyContextConfig {
    readonly statusOverrides?: StatusOverrides
    /** The route is not disclosed by 405 responses. */
    readonly isHidden?: boolean
    /** Which limit per address applies; `page` if absent. Endpoints with credentials have their own limits. */
    readonly limit?: 'probe' | 'page' | 'credentials'
  }
}

/** Registers the endpoints under `prefix`. */
export function serveEndpoints(app: FastifyInstance, endpoints: readonly Endpoint[], deps: EndpointDeps, prefix: string): void {
  for (const endpoint of endpoints) {
    const { method, path, success, statusOverrides } = endpoint
    app.route<ApiRoute>({
      method,
      url: `${prefix}${path}`,
      // A HEAD on such a GET would create a token and not return it.
      exposeHeadRoute: method === 'GET' && endpoint.makes !== true,
      config: { limit: 'credentials', ...(statusOverrides !== undefined && { statusOverrides }) },
      // Checks credentials, path and query, in this order, before the body is read.
      onRequest: [...announcing(endpoint, deps), guarded(endpoint, deps)],
      ...((endpoint.auth === 'user' || endpoint.atOwnerOf !== undefined) &&
        deps.forwarder !== undefined && { preParsing: passingOn({ ...deps, forwarder: deps.forwarder }) }),
      async handler(request, reply) {
        reply.statusCode = success.status
        const answer = await request.execute?.(request.body)
        if (method !== 'GET') await otherWork()
        if (answer instanceof WithHeaders) reply.headers(answer.headers)
        const body = answer instanceof WithHeaders ? answer.body : answer
        if (!(body instanceof Rendered)) return body
        return reply.header('content-type', 'application/json; charset=utf-8').send(body.bytes)
      }
    })
  }
}

/** Before anything is refused: every caller of an operation that is to go learns it. */
function announcing(
  { deprecation, operationId }: Endpoint,
  { service }: EndpointDeps
): readonly ((request: FastifyRequest, reply: FastifyReply) => Promise<void>)[] {
  if (deprecation === undefined) return []
  return [async (_request, reply) => void reply.headers(deprecationHeaders(deprecation, operationId, service.publicUrl()))]
}

/**
 * Waits for the end of this turn of the event loop, when the streams publish the updates of a write. So the updates are sent before the
 * response, and no older update follows a newer response.
 */
function otherWork(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

interface ApiRoute {
  readonly Params: Readonly<Record<string, unknown>>
  readonly Querystring: QueryTexts
}

/** What a request passes before its handler. */
export interface EndpointDeps {
  readonly guard: Guard
  readonly gate: Pick<ConnectionGate, 'proved'>
  readonly queue: FairQueue
  readonly service: Service
  /** Absent where there is one node. */
  readonly forwarder?: Forwarder
}

function guarded(
  endpoint: Endpoint,
  { guard, gate, queue, service }: EndpointDeps
): (request: FastifyRequest<ApiRoute>, reply: FastifyReply) => Promise<void> {
  if (endpoint.auth === 'user') {
    return async (request, reply) => {
      const proven = await guard.provenUser(request, reply, endpoint.scope)
      const { caller } = proven
      const requester = { platformId: caller.platform.platformId, userKey: caller.user.userKey }
      request.requester = requester
      const beginHere = () => {
        guard.countUser(request, reply, proven)
        proved(request, gate)
        const prepared = endpoint.prepare(request.params, request.query)
        queue.requireCapacity(requester)
        request.execute = body =>
          queue.run(requester, () => {
            // The user may have moved away while the body was read, or while others were served.
            if (!isOwnedHere(service, userKey)) throw notExecuted(request, reply) ?? moving()
            return executeAs(guard, caller, () => prepared(caller, body, service))
          })
      }
      const { userKey } = caller.user
      if (isOwnedHere(service, userKey)) return beginHere()
      guard.showPlatform(reply, proven)
      const { prepareResult } = endpoint
      const result = prepareResult === null ? null : (body: unknown) => prepareResult(request.params, request.query)(caller, body, service)
      pass(request, reply, { endpoint, userKey, proven, requester, beginHere, result }, { gate, queue })
    }
  }
  return async (request, reply) => {
    const proven = await guard.provenPlatform(request, reply, endpoint.scope)
    const { caller } = proven
    const requester = { platformId: caller.platform.platformId, userKey: null }
    request.requester = requester
    proved(request, gate)
    const prepared = endpoint.prepare(request.params, request.query)
    const beginHere = () => {
      queue.requireCapacity(requester)
      request.execute = body => queue.run(requester, () => executeAs(guard, caller, () => prepared(caller, body, service)))
    }
    const userKey = await userNamed(endpoint, request, caller, service)
    if (userKey === null || isOwnedHere(service, userKey)) return beginHere()
    pass(request, reply, { endpoint, userKey, proven, requester, beginHere, result: null }, { gate, queue })
  }
}

function isOwnedHere({ deps }: Service, userKey: UserKey): boolean {
  return deps.ownership.ownerOf(userKey).kind === 'this'
}

/** The user whose owner is to execute the request; null: any node, or there is no such user. */
async function userNamed(
  { atOwnerOf }: Endpoint,
  { params }: FastifyRequest<ApiRoute>,
  { platform }: PlatformCaller,
  { deps }: Service
): Promise<UserKey | null> {
  if (atOwnerOf === undefined) return null
  const known = await deps.lookup.user(platform.platformId, parseUserId(params[atOwnerOf]))
  return known?.user.userKey ?? null
}

/** Marks the request to be passed on, unless another node has passed it on already. */
function pass(
  request: FastifyRequest<ApiRoute>,
  reply: FastifyReply,
  foreign: Foreign,
  { gate, queue }: Pick<EndpointDeps, 'gate' | 'queue'>
): void {
  const refusal = notExecuted(request, reply)
  if (refusal !== null) throw refusal
  proved(request, gate)
  queue.requireCapacity(foreign.requester)
  request.foreign = foreign
}

function proved(request: FastifyRequest<ApiRoute>, gate: EndpointDeps['gate']): void {
  request.isProven = true
  gate.proved(request.raw)
}

async function executeAs(guard: Guard, caller: PlatformCaller | UserCaller, execute: () => Promise<unknown>): Promise<unknown> {
  try {
    return await execute()
  } catch (error) {
    guard.denied(error, caller)
    throw error instanceof Malformed ? fieldInvalid(error) : error
  }
}

/** Accepts strict JSON bodies and nothing else. */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      requirePlainUtf8(request)
      done(null, typeof bytes === 'string' ? readJson(Buffer.from(bytes)) : readJson(bytes))
    } catch (error) {
      done(error instanceof Error ? error : new Error('unreadable body', { cause: error }))
    }
  })
}

function requirePlainUtf8({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ServiceError('body_malformed', 'Compressed bodies are not supported; send the body uncompressed.')
  }
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw new ServiceError('body_malformed', 'The body must be UTF-8.')
}

/** Answers every error in the common format, delays refusals during a flood, and logs unexpected errors. */
export function answerFailures(app: FastifyInstance, { log }: Pick<AppDeps, 'log'>, pace?: RefusalPace): void {
  app.setErrorHandler((error, request, reply) => answer(error, request, reply, log, pace))
  app.addHook('preClose', done => {
    pace?.end()
    done()
  })
}

const BROKEN_OFF = 'The body is incomplete, or one of its chunks is malformed. Send the whole request again.'

/** Whether the request could not be read to its end: the client disconnected, or its data is not valid HTTP. */
function isBrokenOff(failure: unknown, { raw }: FastifyRequest): boolean {
  return failure instanceof Error && raw.errored === failure
}

const REFUSED: ReadonlySet<number> = new Set([401, 429])

/** Answers an error. Must also work where no hook has run, because the URL could not be decoded. */
export function answer(failure: unknown, request: FastifyRequest, reply: FastifyReply, log: Log, pace?: RefusalPace): void {
  const error = isBrokenOff(failure, request) ? new ServiceError('body_malformed', BROKEN_OFF) : failure
  const problem = problemOf(error, request.routeOptions.config?.statusOverrides)
  request.errorCode = problem.code
  if (problem.unexpected) {
    log.error('request failed unexpectedly', { requestId: request.id, route: request.routeOptions.url ?? 'none', error })
  }
  if (problem.retryAfterSeconds !== undefined) reply.header('retry-after', problem.retryAfterSeconds)
  reply.code(problem.status)
  if (problem.code === 'route_not_found' && wantsPage(request)) {
    reply.headers({ 'content-type': 'text/html; charset=utf-8', vary: 'accept' }).send(NOT_FOUND_PAGE)
    return
  }
  reply.header('content-type', 'application/json; charset=utf-8')
  const send = () => void reply.send(problemBody(problem, request.id))
  if (pace !== undefined && REFUSED.has(problem.status)) pace.pace(send)
  else send()
}
