import type { Log } from '@trunkline/core/ports/log'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpOptions } from './options.ts'

const SLOW_MS = 1_000

/** Makes the recorder of answered requests: a line in the log and a call to the metrics. Patterns only, never addresses or headers. */
export function accessRecorder(
  log: Log,
  { accessLog, observe }: Pick<HttpOptions, 'accessLog' | 'observe'>
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  return (request, reply, done) => {
    const milliseconds = reply.elapsedTime
    const status = reply.statusCode
    const { method } = request
    const route = request.routeOptions.url ?? 'none'
    observe({ method, route, status, milliseconds })
    if (accessLog === 'all' || (accessLog === 'problems' && (status >= 400 || milliseconds > SLOW_MS))) {
      log.info('request', { requestId: request.id, method, route, status, ms: Math.round(milliseconds * 100) / 100 })
    }
    done()
  }
}
