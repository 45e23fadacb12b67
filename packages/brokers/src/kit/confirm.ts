/** Asks a broker whether it takes an access token: one read that every login may make. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import { faultOf, isSuccess } from './calls.ts'
import type { HttpClient, HttpReply, HttpRequest } from './http.ts'
import type { RateLimiter } from './rate-limiter.ts'

export interface ConfirmOptions {
  readonly http: HttpClient
  /** As that of the calls. */
  readonly base?: string
  /** Small, and the same for every login. */
  readonly request: HttpRequest
  readonly authorize: (token: string) => readonly string[]
  /** Whether an answer says that the token is not valid. */
  readonly unauthorized: (reply: HttpReply) => boolean
  /** As those of the calls: a confirmation counts like any other read. */
  readonly limiters?: readonly RateLimiter[]
}

/** For `TokenSource`: true when the broker answered with a success, false when it refused the token. @throws BrokerFault for everything else. */
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
