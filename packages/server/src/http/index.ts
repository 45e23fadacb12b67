// The REST API over HTTP, and its documentation.

import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import type { AppDeps } from '@trunkline/core/app/application'
import { ServiceError } from '@trunkline/core/domain/errors'
import Fastify, { type FastifyInstance } from 'fastify'
import { repeatedHeader } from '../auth/repeated-header.ts'
import { accessRecorder } from './access.ts'
import { AddressLimits } from './address-limits.ts'
import { ConnectionGate } from './connection-gate.ts'
import { Cursors } from './cursor.ts'
import { serveDocs } from './docs/index.ts'
import { FairQueue } from './fair-queue.ts'
import { notExecuted, takeAddress } from './foreign.ts'
import { Guard } from './guard.ts'
import { HEADER_LINES_MAX, requestIds, setBaseHeaders } from './headers.ts'
import type { HttpOptions } from './options.ts'
import { RefusalPace } from './refusal-pace.ts'
import { ENDPOINTS } from './routes/index.ts'
import { KnownRoutes } from './routing.ts'
import { answerFailures, serveEndpoints, takeJson } from './serve.ts'
import { followAnswers, serverOptions } from './server.ts'

export { DEFAULT_LIMITS, DEFAULT_OPTIONS, type HttpLimits, type HttpOptions, type ObservedRequest } from './options.ts'

/** During shutdown, idle sockets are closed this often. */
const SWEEP_MS = 50

/**
 * Builds the HTTP server, which does not listen yet. Other modules (portal, health) may register routes before it listens. These share the
 * limits, request ids, base headers, error format and access log, and need their own parsers for bodies that are not JSON.
 */
export function buildHttp(deps: AppDeps, options: HttpOptions): FastifyInstance {
  const app = Fastify(serverOptions(options, deps.log, requestIds(deps.ids.uuid())))
  const routes = new KnownRoutes()
  routes.watch(app)
  app.decorateRequest('isProven', false)
  app.decorateRequest('execute', null)
  app.decorateRequest('requester', null)
  app.decorateRequest('errorCode', null)
  app.decorateRequest('foreign', null)
  takeJson(app)
  answerFailures(app, deps, new RefusalPace(deps.clock, options.limits.refusals))
  receive(app, routes, new AddressLimits(deps.clock, options.limits), options)
  app.addHook(
    'onResponse',
    accessRecorder(deps.log, options, () => deps.clock.monotonicMs())
  )
  const gate = new ConnectionGate(deps.clock, options.limits.connections, sharedAddresses(options.trustedProxies))
  const guard = new Guard(deps, options.limits, options.sharedLimits ?? null)
  guard.listenTo(deps.bus)
  const queue = new FairQueue(deps.clock, options.limits.underWay)
  const service = { deps: { ...deps, webhooks: options.webhooks }, cursors: new Cursors(deps.hasher), publicUrl: options.publicUrl }
  const { forwarder } = options
  const endpointDeps = { guard, gate, queue, service, ...(forwarder !== undefined && { forwarder }) }
  for (const prefix of ['', '/v1']) serveEndpoints(app, ENDPOINTS, endpointDeps, prefix)
  if (options.docs) serveDocs(app, options.publicUrl)
  gate.guard(app.server)
  followAnswers(app.server)
  // Node answers an unknown Expect header itself, without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  return app
}

/** Whether an address is that of a trusted proxy, whose connections carry many clients. */
function sharedAddresses(trustedProxies: readonly string[]): (ip: string) => boolean {
  if (trustedProxies.length === 0) return () => false
  const trusts = proxyAddress.compile([...trustedProxies])
  return ip => trusts(ip, 0)
}

/** The first step of every request: sets the base headers, and refuses requests that no route serves before their body is read. */
function receive(app: FastifyInstance, routes: KnownRoutes, addresses: AddressLimits, { publicUrl, isLeaving }: HttpOptions): void {
  let isClosing = false
  app.addHook('preClose', done => {
    isClosing = true
    // Fastify closes only the sockets that are idle now. One that becomes idle later would stay open and delay the shutdown.
    const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS)
    app.server.once('close', () => clearInterval(sweep))
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    setBaseHeaders(reply, request.id, publicUrl().startsWith('https:'))
    const unfit = headersInvalid(request.raw)
    const isPassedOn = takeAddress(request)
    const refusal = isPassedOn ? unfit : (addresses.refusal(request, unfit !== null) ?? unfit)
    const isServedOn = !isPassedOn && isLeaving?.() === true
    // A client that closes a connection itself never sends a request on one that was just closed.
    if (isServedOn) reply.raw.shouldKeepAlive = false
    if (refusal !== null) return done(refusal)
    if (isClosing && !isServedOn) return done(notExecuted(request, reply) ?? shuttingDown())
    if (!request.is404) return done()
    const { error, allow } = routes.miss(request.method, request.raw.url ?? '')
    if (allow !== null) reply.header('allow', allow)
    done(error)
  })
}

function shuttingDown(): ServiceError {
  return new ServiceError('shutting_down', 'The service is shutting down; try again.', { retryAfterSeconds: 1 })
}

function headersInvalid({ rawHeaders, headers, httpVersion }: IncomingMessage): ServiceError | null {
  if (rawHeaders.length > 2 * HEADER_LINES_MAX) {
    return new ServiceError('headers_too_large', `The request has more than ${HEADER_LINES_MAX} headers.`)
  }
  if (headers.host === undefined && httpVersion !== '1.0')
    return new ServiceError('header_invalid', 'The request has no Host header; HTTP/1.1 needs one.')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return new ServiceError('header_invalid', 'The header Expect takes only 100-continue; leave it out.')
  const repeated = repeatedHeader(rawHeaders)
  return repeated === null ? null : new ServiceError('header_invalid', `The header ${repeated} occurs more than once; send it once.`)
}
