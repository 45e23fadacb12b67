/** Checks whether a broker accepts an access token, with a read that every login may make. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import { faultOf, isSuccess } from './calls.ts'
import type { HttpClient, HttpReply, HttpRequest } from './http.ts'
import type { RateLimiter } from './rate-limiter.ts'

export interface ConfirmOptions {
  readonly http: HttpClient
  /** As in `Calls`. */
  readonly base?: string
  /** A small read that every login may make. */
  readonly request: HttpRequest
  readonly authorize: (token: string) => readonly string[]
  /** Whether an answer means that the token is invalid. */
  readonly unauthorized: (reply: HttpReply) => boolean
  /** As in `Calls`: a confirmation counts like any other read. */
  readonly limiters?: readonly RateLimiter[]
}

/** For `TokenSource`: true when the broker answers with a success, false when it refuses the token. @throws BrokerFault otherwise. */
export function confirming(options: ConfirmOptions): (token: string, signal: AbortSignal) => Promise<boolean> {
  const { http, base = '', request, authorize, unauthorized, limiters = [] } = options
  return async (token, signal) => {
    let reply: HttpReply
    try {
      for (const limiter of limiters) await limiter.take('read', signal)
      reply = await http.send({ ...request, path: base + request.path, headers: [...authorize(token), ...request.headers] }, signal)
    } catch (cause) {
      throw faultOf(cause)
    }
    if (unauthorized(reply)) return false
    if (isSuccess(reply.status)) return true
    throw new BrokerFault('unreachable', `the broker answered ${reply.status} when asked whether it accepts the access token`)
  }
}
