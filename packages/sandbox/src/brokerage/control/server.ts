/** The control API: a separate port, loopback only, for the user who started the sandbox. Never part of the public server. */

import { Malformed } from '@trunkline/core/domain/malformed'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { UnknownSymbol } from '../../market/types.ts'
import type { Envelope } from '../api/envelope.ts'
import { takeJsonBodies } from '../json-body.ts'
import { Problem } from '../problems.ts'

const HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]'])

export interface ControlCall {
  readonly body: unknown
  readonly query: unknown
  readonly param: string
}

/** An empty answer is sent as `{"ok": true}`. */
export type ControlHandler = (call: ControlCall) => unknown

export interface ControlRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With at most one parameter, named `id`. */
  readonly path: string
  readonly handle: ControlHandler
  readonly status?: number
}

export function controlServer(routes: readonly ControlRoute[], envelope: Envelope, onError: (error: unknown) => void): FastifyInstance {
  const app = fastify({ bodyLimit: 1024 * 1024, forceCloseConnections: true })
  takeJsonBodies(app, { empty: 'refused' })
  app.addHook('onRequest', async (request, reply) => {
    // A web page that resolves its own name to loopback, or posts across origins, must not control the sandbox.
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    if (!HOSTS.has(host) || request.headers.origin !== undefined)
      send(reply, envelope.problem(new Problem('unknown_route', 'not from here')))
  })
  for (const { method, path, handle, status = 200 } of routes) {
    app.route<{ Params: { id?: string } }>({
      method,
      url: path,
      handler: async (request, reply) => {
        const result = await handle({ body: request.body, query: request.query, param: request.params.id ?? '' })
        return send(reply, envelope.wrap(status, typeof result === 'object' && result !== null ? result : { ok: true }))
      }
    })
  }
  app.setErrorHandler((error, _request, reply) => send(reply, envelope.problem(problemOf(error, onError))))
  app.setNotFoundHandler((request: FastifyRequest, reply) =>
    send(
      reply,
      envelope.problem(
        new Problem('unknown_route', `the control API has no ${request.method} ${request.url.slice(0, 100)}; GET / lists what it has`)
      )
    )
  )
  return app
}

function problemOf(error: unknown, onError: (error: unknown) => void): Problem {
  if (error instanceof Problem) return error
  if (error instanceof Malformed) return new Problem('bad_request', error.message)
  if (error instanceof UnknownSymbol) return new Problem('unknown_symbol', error.message, { status: 404 })
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  if (error instanceof Error && typeof status === 'number' && status < 500) return new Problem('bad_request', error.message)
  onError(error)
  return new Problem('internal_error', error instanceof Error ? error.message : 'something went wrong')
}

function send(reply: FastifyReply, { status, headers, text }: ReturnType<Envelope['problem']>): FastifyReply {
  return reply
    .status(status)
    .headers(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])))
    .send(text)
}
