/** Requests of users whom another node owns: on the node that the client asked, and on the owner. */
import { Readable } from 'node:stream'
import type { PlatformCaller } from '@trunkline/core/app/caller'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { UserKey } from '@trunkline/core/domain/ids'
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { BODY_BYTES_MAX, readJson } from './body.ts'
import type { Endpoint, Service } from './endpoint.ts'
import type { FairQueue, Requester } from './fair-queue.ts'
import type { ForeignRequest, Forwarder, OwnersAnswer } from './forwarder.ts'
import type { Guard, Proven } from './guard.ts'
import { BETWEEN_NODES, passedOnOf } from './passed-on.ts'
import { answerOrResult, Found } from './without-answer.ts'

/** A request to pass on once its body is read. */
export interface Foreign {
  readonly endpoint: Endpoint
  readonly userKey: UserKey
  readonly proven: Proven<PlatformCaller>
  readonly requester: Requester
  /** Looks up the result of a request without an answer; null where it cannot be found out. */
  readonly result: ((body: unknown) => Promise<unknown>) | null
  /** What the endpoint's guard does on the owner; for a node that becomes it meanwhile. */
  beginHere(): void
}

interface PassingDeps {
  readonly guard: Guard
  readonly queue: FairQueue
  readonly service: Service
  readonly forwarder: Forwarder
}

const NO_BODY = Buffer.alloc(0)
/** Scheme and host of an absolute URL, as the router ignores them. */
const ABSOLUTE = /^https?:\/\/.*?\//i

/**
 * Gives a request that a node passed on the client's address, so that limits, audit and logs are those of a direct request. False if it
 * came from a client.
 */
export function takeAddress(request: FastifyRequest): boolean {
  const passedOn = passedOnOf(request.raw)
  if (passedOn === undefined) return false
  Object.defineProperty(request, 'ip', { value: passedOn.address })
  return true
}

/** The error for a request that another node must pass on again, because it is not executed here; null if it came from a client. */
export function notExecuted({ raw }: FastifyRequest, reply: FastifyReply): ServiceError | null {
  if (passedOnOf(raw) === undefined) return null
  reply.header(BETWEEN_NODES.notExecuted, '1')
  return new ServiceError('store_unavailable', 'This node does not execute requests of this user.', { retryAfterSeconds: 1 })
}

/** The hook that answers a request of a foreign user with the owner's answer. Other requests, and those of a new own user, go on. */
export function passingOn(
  deps: PassingDeps
): (request: FastifyRequest, reply: FastifyReply, payload: RequestPayload) => Promise<RequestPayload> {
  return async (request, reply, payload) => {
    const { foreign } = request
    // A body that is too large is refused by the parser, unread.
    if (foreign === null || Number(request.headers['content-length'] ?? '0') > BODY_BYTES_MAX) return payload
    const body = foreign.endpoint.method === 'GET' ? NO_BODY : await bodyOf(payload)
    if (body.length > BODY_BYTES_MAX) return again(body)
    const answer = await deps.queue.run(foreign.requester, () => answered(deps, request, foreign, body))
    if (answer === null) {
      foreign.beginHere()
      return foreign.endpoint.method === 'GET' ? payload : again(body)
    }
    if (answer instanceof Found) {
      reply.code(foreign.endpoint.success.status).send(answer.record)
      return payload
    }
    if (answer.isUserLimited) deps.guard.userWasLimited(foreign.proven.caller.key)
    reply.hijack()
    reply.raw.writeHead(answer.status, answer.headers)
    reply.raw.end(answer.body)
    return payload
  }
}

async function answered(
  { forwarder, service }: PassingDeps,
  request: FastifyRequest,
  foreign: Foreign,
  body: Buffer
): Promise<OwnersAnswer | Found<unknown> | null> {
  const { clock, log } = service.deps
  const { result } = foreign
  const lookUp = result === null ? null : async () => await result(readJson(body))
  return await answerOrResult({ forwarder, clock, log }, foreignRequest(request, foreign, body), lookUp)
}

function foreignRequest({ raw, id }: FastifyRequest, { endpoint, userKey, proven, result }: Foreign, body: Buffer): ForeignRequest {
  const { method = endpoint.method, headers } = raw
  // In the absolute form (http://host/path) the scheme's case is free, and a client between nodes would refuse some.
  const url = (raw.url ?? '/').replace(ABSOLUTE, '/')
  const hasEffect = (endpoint.method !== 'GET' || endpoint.makes === true) && endpoint.changesNothing !== true
  // As it was at first: the socket of a client that has left has no address.
  const address = proven.caller.ip ?? ''
  return {
    userKey,
    method,
    url,
    headers,
    address,
    requestId: id,
    platformAllowance: proven.left,
    body,
    hasEffect,
    hasResult: result !== null
  }
}

/** The whole body, or more than the maximum. Does not destroy the stream, whose socket the response needs. */
function bodyOf(payload: RequestPayload): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let length = 0
  const onEnd = () => resolve(Buffer.concat(chunks, length))
  payload.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    if (length > BODY_BYTES_MAX) payload.pause()
    if (length > BODY_BYTES_MAX) onEnd()
  })
  payload.once('end', onEnd)
  payload.once('error', reject)
  return promise
}

/** A body that was read, as a stream for the parser. */
function again(body: Buffer): RequestPayload {
  return Object.assign(Readable.from(body.length === 0 ? [] : [body]), { receivedEncodedLength: body.length })
}
