import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '@trunkline/core/ports/log'
import type { FastifyHttpOptions } from 'fastify'
import { BODY_BYTES_MAX } from './body.ts'
import { requestIdOf, setBaseHeaders } from './headers.ts'
import type { HttpOptions } from './options.ts'
import type { Problem } from './problems.ts'
import { parseQuery } from './query-text.ts'
import { rawAnswer } from './raw-answer.ts'
import { answer } from './serve.ts'

const WEBSOCKET = /(?:^|,)\s*websocket\s*(?:,|$)/i
const HEADER_BYTES_MAX = 16 * 1024
/** How often Node checks its timeouts, so a timeout is exceeded by at most this. */
const CHECK_MS = 1_000

/** The limits that Fastify and Node enforce themselves. They bound what a client can occupy, in bytes and in time. */
export function serverOptions(
  { limits, trustedProxies, publicUrl }: Pick<HttpOptions, 'limits' | 'trustedProxies' | 'publicUrl'>,
  log: Log,
  makeId: () => string
): FastifyHttpOptions<Server> {
  return {
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    genReqId: request => requestIdOf(request, makeId),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    routerOptions: { maxParamLength: 2_048, querystringParser: parseQuery },
    // A URL that cannot be decoded matches no route, so no hook runs.
    frameworkErrors(error, request, reply) {
      setBaseHeaders(reply, request.id, publicUrl().startsWith('https:'))
      answer(error, request, reply, log)
    },
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: CHECK_MS,
      // A hook of ours refuses it instead, with a body that gives the reason.
      requireHostHeader: false,
      // Other upgrades (h2c, TLS) are ignored, and the request is served over HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) => WEBSOCKET.test(headers.upgrade ?? '')
    },
    clientErrorHandler: (error, socket) => void afterAnswers(socket, () => refuse(error, socket, makeId()))
  }
}

/** Requests that are not answered yet, by socket. */
const unanswered = new WeakMap<Socket, Map<IncomingMessage, ServerResponse>>()

/** Follows which requests of a socket are not answered yet. */
export function followAnswers(server: Server): void {
  server.on('request', (request, response) => {
    const open = unanswered.get(request.socket) ?? new Map()
    unanswered.set(request.socket, open.set(request, response))
    response.once('close', () => open.delete(request))
  })
}

/**
 * What follows a valid request may be no HTTP. The request is carried out all the same, so its answer comes first: an error in its place
 * would say that an order that exists was refused. A request that is not complete is what the error is about.
 */
async function afterAnswers(socket: Socket, refuse: () => void): Promise<void> {
  const open = [...(unanswered.get(socket) ?? [])].filter(([{ complete }]) => complete)
  await Promise.all(open.map(([, response]) => new Promise<void>(resolve => response.once('close', () => resolve()))))
  refuse()
}

/** Answers data that is not valid HTTP, and closes the connection. */
function refuse(error: Error & { readonly code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  socket.end(rawAnswer(problemOfParser(error.code), requestId))
}

function problemOfParser(code: string | undefined): Problem {
  const common = { details: [], retryAfterSeconds: undefined, unexpected: false }
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        ...common,
        status: 431,
        code: 'headers_too_large',
        message: 'The headers are larger than 16 KiB, the maximum.'
      }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { ...common, status: 408, code: 'request_too_slow', message: 'The request did not arrive in time. Send it without pauses.' }
    default:
      return { ...common, status: 400, code: 'body_malformed', message: 'This is not a valid HTTP request.' }
  }
}
