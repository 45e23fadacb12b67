// Serves the operations for operators under `/admin/v1`.
import { Malformed } from '@trunkline/core/domain/malformed'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fieldInvalid } from '../http/problems.ts'
import type { QueryTexts } from '../http/query-text.ts'
import { Rendered } from '../http/rendered.ts'
import type { OperatorDeps } from './deps.ts'
import { type Operation, STATUSES } from './endpoint.ts'
import type { ReadCounts } from './read-counts.ts'

export const PREFIX = '/admin/v1'

interface Route {
  readonly Params: Readonly<Record<string, unknown>>
  readonly Querystring: QueryTexts
}

export function serveOperations(app: FastifyInstance, operations: readonly Operation[], deps: OperatorDeps, counts: ReadCounts): void {
  for (const served of operations) {
    const { method, path, success } = served
    app.route<Route>({
      method,
      url: `${PREFIX}${path}`,
      exposeHeadRoute: method === 'GET',
      config: { statusOverrides: STATUSES },
      onRequest: async (request, reply) => {
        reply.header('cache-control', 'no-store')
        const run = await authorized(served, request, reply, deps, counts)
        request.execute = () => run(request, reply)
      },
      async handler(request, reply) {
        const work = async () => await request.execute?.(request.body)
        try {
          reply.statusCode = success.status
          const body = await (served.outsidePlaces === true ? work() : deps.places.run(work))
          if (!(body instanceof Rendered)) return body
          return reply.header('content-type', 'application/json; charset=utf-8').send(body.bytes)
        } catch (error) {
          throw error instanceof Malformed ? fieldInvalid(error) : error
        }
      }
    })
  }
}

/** Checks credentials, path and query, in this order, before the body is read. */
async function authorized(
  served: Operation,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  deps: OperatorDeps,
  counts: ReadCounts
): Promise<(request: FastifyRequest, reply: FastifyReply) => Promise<unknown>> {
  if (served.access === 'open') {
    const run = served.prepare(request.params, request.query)
    return (given, reply) => run(null, given, reply, deps)
  }
  const caller = await deps.access.operator(request, reply, served.scope === 'none' ? 'read' : served.scope, served.anyScope === true)
  request.isProven = true
  const run = served.prepare(request.params, request.query)
  if (served.method === 'GET') counts.count(caller.operator, served.operationId)
  return (given, reply) => run(caller, given, reply, deps)
}
