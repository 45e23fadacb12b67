import type { Log } from '@trunkline/core/ports/log'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RateLimiter } from '../auth/rate-limit.ts'
import type { HttpOptions } from './options.ts'

const SLOW_MS = 1_000
/** Log lines of requests that were refused before authentication: a flood of those must not flood the log. */
const REFUSED = { perSecond: 20, burst: 500 }
/** Statuses of such refusals; a caller that has not proved credentials is counted as refused whatever the status, except for our own faults. */
const REFUSED_STATUS: ReadonlySet<number> = new Set([401, 404, 405, 429, 431])

/** Makes the recorder of answered requests: a line in the log and a call to the metrics. Patterns only, never addresses or headers. */
export function accessRecorder(
  log: Log,
  { accessLog, observe }: Pick<HttpOptions, 'accessLog' | 'observe'>,
  monotonicMs: () => number
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  const refused = new RateLimiter(REFUSED)
  let leftOut = 0
  return (request, reply, done) => {
    const milliseconds = reply.elapsedTime
    const status = reply.statusCode
    const { method } = request
    const route = request.routeOptions.url ?? 'none'
    observe({ method, route, status, milliseconds })
    if (accessLog === 'all' || (accessLog === 'problems' && (status >= 400 || milliseconds > SLOW_MS))) {
      const isRefused = REFUSED_STATUS.has(status) || (!request.isProven && status >= 400 && status !== 500)
      if (isRefused && refused.take('all', monotonicMs()).retryAfterSeconds !== null) leftOut += 1
      else {
        const more = leftOut > 0 ? { leftOut } : {}
        leftOut = 0
        log.info('request', { requestId: request.id, method, route, status, ms: Math.round(milliseconds * 100) / 100, ...more })
      }
    }
    done()
  }
}
