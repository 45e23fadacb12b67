import type { Log } from '@trunkline/core/ports/log'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RateLimiter } from '../auth/rate-limit.ts'
import type { HttpOptions } from './options.ts'
import { passedOnOf } from './passed-on.ts'

const SLOW_MS = 1_000
/** Rate of log lines for refused requests, so that a flood of such requests does not flood the log. */
const REFUSED = { perSecond: 20, burst: 500 }
/** Statuses that count as refused. Without valid credentials every status from 400 counts, except 500. */
const REFUSED_STATUS: ReadonlySet<number> = new Set([401, 404, 405, 429, 431])

/** Returns the hook that records each response in the log and the metrics. It records route patterns, never URLs or headers. */
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
    // A request that was passed on is counted by the node that the client asked.
    if (passedOnOf(request.raw) === undefined) {
      const { platformId = null, userKey = null } = request.requester ?? {}
      const { id: requestId, errorCode: code, ip: address } = request
      observe({ requestId, method, route, status, code, milliseconds, platformId, userKey, address })
    }
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
