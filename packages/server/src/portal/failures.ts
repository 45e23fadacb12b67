import type { Log } from '@trunkline/core/ports/log'
import type { FastifyInstance } from 'fastify'
import { page } from './answer.ts'
import { errorPage } from './render.ts'
import { retryPathOf } from './retry-path.ts'

/** The HTTP response to a failure. */
export interface Failure {
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  /** An unexpected error: it is logged with its cause. */
  readonly unexpected: boolean
}

/** Answers every error with a page, because the API's error format is not for users. Status and headers are those of the API. */
export function answerFailures(scope: FastifyInstance, log: Log, problemOf: (error: unknown) => Failure): void {
  scope.setErrorHandler((error, request, reply) => {
    // An incomplete form: the client disconnected, or its data is not valid HTTP.
    const isBrokenOff = request.raw.errored !== null && request.raw.errored === error
    const { status, retryAfterSeconds, unexpected } = isBrokenOff ? BROKEN_OFF : failureOf(error, problemOf)
    if (unexpected) log.error('a page failed unexpectedly', { requestId: request.id, route: request.routeOptions.url ?? 'none', error })
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
    page(reply, status, errorPage(status >= 500 ? retryPathOf(request) : null))
  })
}

const BROKEN_OFF: Failure = { status: 400, retryAfterSeconds: undefined, unexpected: false }

function failureOf(error: unknown, problemOf: (error: unknown) => Failure): Failure {
  const failure = problemOf(error)
  // Refused by Fastify itself: the body is too large or not a form.
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null
  const isRefused = typeof status === 'number' && status >= 400 && status < 500
  return isRefused ? { status, retryAfterSeconds: undefined, unexpected: false } : failure
}
