import { STATUS_CODES } from 'node:http'
import { type Problem, problemBody } from './problems.ts'

/** An error response as raw HTTP, for a connection that has no Fastify request and is closed after it. */
export function rawAnswer(problem: Problem, requestId: string): string {
  const body = problemBody(problem, requestId)
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    ...(problem.retryAfterSeconds === undefined ? [] : [`retry-after: ${problem.retryAfterSeconds}`]),
    'cache-control: no-store',
    'connection: close',
    '',
    body
  ].join('\r\n')
}
