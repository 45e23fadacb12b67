/** Calls a broker's token and revocation endpoints through our own client, and interprets their answers. */

import { epochMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import * as client from 'openid-client'
import { faultOf } from './calls.ts'
import { type HttpClient, type HttpReply, header, retryAfterMs, TransportFault } from './http.ts'
import { readJson } from './json.ts'
import { field, object, type Wire } from './parse.ts'

export interface OAuthEndpoints {
  /** For the token and revocation endpoints; only its origin is ever called. */
  readonly http: HttpClient
  readonly clock: Clock
  readonly issuer: string
  /** Whether the redirect carries `iss`; if so, a redirect without it is refused (RFC 9207). */
  readonly issuerInRedirect: boolean
  readonly tokenEndpoint: string
  /** The endpoint for refreshes, if it differs from the one that exchanges codes. */
  readonly refreshEndpoint?: string
  /** Null: the broker cannot revoke. */
  readonly revocationEndpoint: string | null
  /** `form` as RFC 7009 says; `json`: one object with `client_id`, `client_secret` and `token`. */
  readonly revocationBody?: 'form' | 'json'
  readonly clientId: string
  readonly clientSecret: string
  readonly clientAuthentication: 'basic' | 'post'
  /** Code challenge and verifier (PKCE); true unless the broker does not support them. */
  readonly pkce?: boolean
  /** True unless the broker has one fixed callback and takes no `redirect_uri`, neither in the address nor for the code. */
  readonly sendRedirectUri?: boolean
  /**
   * Whether this answer to a refresh (status 400 to 499, not 429) definitively means that the refresh token is invalid. {@link
   * isInvalidGrant} unless the broker expresses it differently. A wrong client secret or a throttled endpoint must not count: they say
   * nothing about the user's consent.
   */
  readonly isGrantRefused?: (status: number, body: string) => boolean
}

/** What the library needs to call `tokenEndpoint`. `onRequest` is called right before anything is sent. */
export function configuration(
  options: OAuthEndpoints,
  tokenEndpoint: string,
  signal: AbortSignal,
  onRequest?: () => void
): client.Configuration {
  const { clientSecret } = options
  const authentication =
    options.clientAuthentication === 'basic' ? client.ClientSecretBasic(clientSecret) : client.ClientSecretPost(clientSecret)
  const made = new client.Configuration(
    {
      issuer: options.issuer,
      token_endpoint: tokenEndpoint,
      ...(options.revocationEndpoint === null ? {} : { revocation_endpoint: options.revocationEndpoint }),
      authorization_response_iss_parameter_supported: options.issuerInRedirect,
      code_challenge_methods_supported: ['S256']
    },
    options.clientId,
    { client_secret: clientSecret },
    authentication
  )
  made[client.customFetch] = (url, init) => {
    onRequest?.()
    return fetched(options, url, init, signal)
  }
  if (options.http.origin.startsWith('http:')) client.allowInsecureRequests(made)
  return made
}

/** Any success is enough: the answer has no body to check. @throws BrokerFault, TransportFault */
export async function revokeByJson(options: OAuthEndpoints, endpoint: string, token: string, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ client_id: options.clientId, client_secret: options.clientSecret, token })
  const reply = await post(options, endpoint, { headers: ['content-type', 'application/json'], body }, signal)
  if (reply.status >= 300 && !isAlreadyRevoked(reply.body)) throw refused(reply.status)
}

/** Sends the library's requests through our own client, so that its bounds and its refusal of redirects apply. */
async function fetched(options: OAuthEndpoints, url: string, init: client.CustomFetchOptions, signal: AbortSignal): Promise<Response> {
  const form = new URLSearchParams(init.body === undefined || init.body === null ? '' : String(init.body))
  if (options.sendRedirectUri === false) form.delete('redirect_uri')
  const reply = await post(options, url, { headers: Object.entries(init.headers).flat(), body: form.toString() }, signal)
  const answer = answerOf(reply.body)
  const isError = reply.status >= 400
  if (isError && form.get('grant_type') === 'refresh_token' && (options.isGrantRefused ?? isInvalidGrant)(reply.status, reply.body))
    throw new BrokerFault('credentials_rejected', 'the broker refused the refresh token')
  // Some brokers have their own field for what RFC 6749 states in `error`.
  if (isError && answer !== null && typeof field(answer, 'error') !== 'string') throw refused(reply.status)
  const body = isError || answer === null ? reply.body : JSON.stringify(granted(answer))
  return new Response(body, { status: reply.status, headers: { 'content-type': header(reply, 'content-type') ?? '' } })
}

async function post(
  options: OAuthEndpoints,
  url: string,
  request: { readonly headers: readonly string[]; readonly body: string },
  signal: AbortSignal
): Promise<HttpReply> {
  const target = new URL(url)
  if (target.origin !== options.http.origin) throw new BrokerFault('refused', `${target.origin} is not this broker's token endpoint`)
  const reply = await options.http.send({ method: 'POST', path: `${target.pathname}${target.search}`, ...request }, signal)
  if (reply.status === 429)
    throw new BrokerFault('rate_limited', 'the broker asked for a pause', {
      retryAfterMs: retryAfterMs(reply, epochMs(options.clock.now())) ?? 1_000
    })
  if (reply.status < 200 || reply.status >= 500 || (reply.status >= 300 && reply.status < 400))
    throw new BrokerFault('unreachable', `the broker's token endpoint answered ${reply.status}`)
  return reply
}

/** The fields of a granted token that concern us: an identity is not used, and a token without a type is a bearer token. */
function granted(answer: Wire): Record<string, unknown> {
  const token: Record<string, unknown> = { token_type: 'Bearer' }
  for (const name of ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope']) {
    const value = field(answer, name)
    if (value !== undefined && value !== null) token[name] = value
  }
  return token
}

/** Whether an answer to a refresh is RFC 6749's refusal of the refresh token, with the statuses that are seen with it. */
export function isInvalidGrant(status: number, body: string): boolean {
  const answer = status >= 400 && status <= 403 ? answerOf(body) : null
  return answer !== null && field(answer, 'error') === 'invalid_grant'
}

/** RFC 7009 answers 200 for a token that is gone already; some brokers answer with an error instead. */
function isAlreadyRevoked(body: string): boolean {
  const answer = answerOf(body)
  return answer !== null && isGone(field(answer, 'error'))
}

export function isGone(error: unknown): boolean {
  return error === 'invalid_grant' || error === 'invalid_token'
}

function answerOf(body: string): Wire | null {
  try {
    return object(readJson(body), 'answer')
  } catch {
    return null
  }
}

function refused(status: number): BrokerFault {
  return new BrokerFault('refused', `the broker refused the login (${status})`)
}

const UNREADABLE = new Set(['OAUTH_INVALID_RESPONSE', 'OAUTH_PARSE_ERROR', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_RESPONSE_IS_NOT_CONFORM'])

/** What went wrong, in the port's terms. The library's own errors hold the code, the state or the answer, so they go no further. */
export function loginFault(error: unknown): BrokerFault {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  for (const candidate of [error, inner]) {
    if (candidate instanceof BrokerFault) return candidate
    if (candidate instanceof TransportFault) return faultOf(candidate)
  }
  if (error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError)
    return new BrokerFault('refused', `the broker refused the login (${error.error.slice(0, 40)})`)
  const code = error instanceof client.ClientError ? error.code : undefined
  if (code !== undefined && UNREADABLE.has(code))
    return new BrokerFault('malformed', `the broker's answer to the login cannot be read (${code})`)
  return new BrokerFault('refused', `the broker's answer to the login was not acceptable${code === undefined ? '' : ` (${code})`}`)
}
