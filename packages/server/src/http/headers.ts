import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'

/** More header lines than any client needs. Node would silently drop the rest. */
export const HEADER_LINES_MAX = 100

const SANE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/

/** Makes ids for requests without one: a random prefix and a counter, because a random id for each request costs too much. */
export function requestIds(seed: string): () => string {
  const prefix = seed.slice(-12)
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}

/** The client's own request id if it is safe for headers and logs, else a new one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>, makeId: () => string): string {
  const own = request.headers['x-request-id']
  return typeof own === 'string' && SANE_ID.test(own) ? own : makeId()
}

/** Sets the headers of every response. Modules that serve pages override the content security policy. */
export function setBaseHeaders(reply: FastifyReply, requestId: string, isHttps: boolean): void {
  reply
    .header('x-request-id', requestId)
    .header('cache-control', 'no-store')
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-resource-policy', 'same-origin')
  if (isHttps) reply.header('strict-transport-security', 'max-age=31536000; includeSubDomains')
}
