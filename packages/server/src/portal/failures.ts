import { ServiceError } from '@trunkline/core/domain/errors'
import type { Log } from '@trunkline/core/ports/log'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import type { FastifyInstance } from 'fastify'
import { page } from './answer.ts'
import { troublePage } from './render.ts'

/** Whatever goes wrong, a person reads a page: the API's form of an error is not for them. */
export function answerFailures(scope: FastifyInstance, log: Log): void {
  scope.setErrorHandler((error, request, reply) => {
    const status = statusOf(error)
    if (status >= 500 && status !== 503) {
      log.error('a page failed unexpectedly', { requestId: request.id, route: request.routeOptions.url ?? 'none', error })
    }
    if (status === 503) reply.header('retry-after', 1)
    page(reply, status, troublePage())
  })
}

function statusOf(error: unknown): number {
  if (error instanceof StoreUnavailable) return 503
  if (error instanceof ServiceError) return error.code === 'shutting_down' ? 503 : 400
  // What the server itself refuses: a form that is too long, or is none.
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : 500
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}
