import { authenticatePlatform, authenticateUser, demandScope } from '@trunkline/core/app/authenticate'
import type { PlatformCaller, UserCaller } from '@trunkline/core/app/caller'
import type { AppDeps } from '@trunkline/core/app/deps'
import { type ErrorCode, ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformKey, Scope } from '@trunkline/core/domain/platform-key'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressGroup } from '../auth/address.ts'
import { type Allowance, RateLimiter } from '../auth/rate-limit.ts'
import { credentialsOf, missingCredentials } from './credentials.ts'
import type { HttpLimits } from './options.ts'

const REMEMBERED_MAX = 10_000
/** What somebody with good credentials may not have: not theirs, or not within their rights. */
const DENIED: ReadonlySet<ErrorCode> = new Set([
  'scope_missing',
  'entitlement_missing',
  'account_not_found',
  'connection_not_found',
  'claim_refused',
  'order_not_found'
])

type GuardDeps = Pick<AppDeps, 'hasher' | 'lookup' | 'clock' | 'accessAudit'>

/** Who may come in, and how often. Stands before everything else a request does. */
export class Guard {
  readonly #deps: GuardDeps
  readonly #platforms: RateLimiter
  readonly #users: RateLimiter
  readonly #failures: RateLimiter
  /** Addresses and client ids that went well together lately; newest last, bounded. */
  readonly #good = new Set<string>()

  constructor(deps: GuardDeps, limits: Pick<HttpLimits, 'platform' | 'user' | 'failedAuthentication'>) {
    this.#deps = deps
    this.#platforms = new RateLimiter(limits.platform)
    this.#users = new RateLimiter(limits.user)
    this.#failures = new RateLimiter(limits.failedAuthentication)
  }

  /** @throws ServiceError credentials_invalid, scope_missing, rate_limited. */
  async platform(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<PlatformCaller> {
    const { clientId, clientSecret } = credentialsOf(request.headers)
    const { ip } = request
    this.#demandCalm(ip, clientId, reply)
    try {
      demandHeaders(request, 'platform')
      const { platform, key } = await authenticatePlatform(this.#deps, this.#deps.lookup, { clientId, clientSecret, address: ip })
      this.#demandScope({ platform, key, ip, requestId: request.id }, key, scope)
      this.#remember(ip, clientId)
      tell(reply, this.#platforms.take(platform.platformId, this.#deps.clock.monotonicMs()))
      return { platform, key, ip, requestId: request.id }
    } catch (error) {
      throw this.#failed(error, request, reply)
    }
  }

  /** @throws ServiceError credentials_invalid, scope_missing, rate_limited. */
  async user(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<UserCaller> {
    const { clientId, clientSecret, userId, userSecret } = credentialsOf(request.headers)
    const { ip } = request
    this.#demandCalm(ip, clientId, reply)
    try {
      demandHeaders(request, 'user')
      const { platform, key } = await authenticatePlatform(this.#deps, this.#deps.lookup, { clientId, clientSecret, address: ip })
      this.#demandScope({ platform, key, ip, requestId: request.id }, key, scope)
      const { user, secretHash } = await authenticateUser(this.#deps, this.#deps.lookup, platform, userId, userSecret)
      this.#remember(ip, clientId)
      this.#takeBoth(platform.platformId, user.userKey, reply)
      return { platform, key, user, secretHash, ip, requestId: request.id }
    } catch (error) {
      throw this.#failed(error, request, reply)
    }
  }

  /** The bucket nearer to its end is the one a client needs to hear of. */
  #takeBoth(platformId: string, userKey: string, reply: FastifyReply): void {
    const now = this.#deps.clock.monotonicMs()
    const user = this.#users.take(userKey, now)
    // A user over its limit must not use up what the platform's other users share.
    if (user.retryAfterSeconds !== null) tell(reply, user)
    const platform = this.#platforms.take(platformId, now)
    tell(reply, platform.retryAfterSeconds !== null || platform.remaining < user.remaining ? platform : user)
  }

  // A platform's back end is one address for many users: one of them with a wrong secret must not lock out the rest. So the limit stops
  // strangers before any look-up, and from a known caller only the failures themselves.
  #demandCalm(ip: string, clientId: string | undefined, reply: FastifyReply): void {
    const failures = this.#failures.peek(addressGroup(ip), this.#deps.clock.monotonicMs())
    if (failures.retryAfterSeconds !== null && !this.#good.has(`${ip} ${clientId}`)) tell(reply, failures, TOO_MANY_FAILURES)
  }

  /** Notes what somebody who is known asked for and may not have. */
  denied(error: unknown, caller: PlatformCaller | UserCaller): void {
    if (!(error instanceof ServiceError) || !DENIED.has(error.code)) return
    const actor = 'user' in caller ? `user:${caller.user.userKey}` : `platform:${caller.platform.platformId}`
    const { ip, requestId } = caller
    this.#deps.accessAudit.note({
      action: 'access.denied',
      actor,
      target: 'rest',
      reason: error.code,
      ip,
      group: addressGroup(ip ?? ''),
      requestId
    })
  }

  #demandScope(caller: PlatformCaller, key: PlatformKey, scope: Scope): void {
    try {
      demandScope(key, scope)
    } catch (error) {
      this.denied(error, caller)
      throw error
    }
  }

  #failed(error: unknown, { ip, id }: FastifyRequest, reply: FastifyReply): unknown {
    if (error instanceof ServiceError && error.code === 'credentials_invalid') {
      const group = addressGroup(ip)
      this.#deps.accessAudit.note({ ...FAILED, target: 'rest', ip, group, requestId: id })
      const failures = this.#failures.take(group, this.#deps.clock.monotonicMs())
      if (failures.retryAfterSeconds !== null) tell(reply, failures, TOO_MANY_FAILURES)
    }
    return error
  }

  #remember(ip: string, clientId: string | undefined): void {
    const pair = `${ip} ${clientId}`
    if (this.#good.has(pair)) return
    const [oldest] = this.#good.size >= REMEMBERED_MAX ? this.#good : []
    if (oldest !== undefined) this.#good.delete(oldest)
    this.#good.add(pair)
  }
}

const FAILED = { action: 'access.failed', actor: 'anonymous', reason: 'credentials_invalid' } as const

/** Which header is missing is no secret; which value is wrong is one. @throws ServiceError credentials_invalid */
function demandHeaders({ headers }: FastifyRequest, kind: 'platform' | 'user'): void {
  const missing = missingCredentials(headers, kind)
  if (missing.length === 0) return
  const message = `The credentials are incomplete: the request has no header ${missing.join(', ')}.`
  throw new ServiceError('credentials_invalid', message, { details: missing.map(path => ({ path, message: 'is missing' })) })
}

const TOO_MANY = 'Too many requests. Wait as long as the retry-after header says, then go slower.'
const TOO_MANY_FAILURES = 'Too many failed authentications from this address. Wait as long as the retry-after header says.'

/** Tells the client what is left to it. @throws ServiceError rate_limited when nothing is. */
function tell(reply: FastifyReply, allowance: Allowance, complaint = TOO_MANY): void {
  reply
    .header('ratelimit-limit', allowance.limit)
    .header('ratelimit-remaining', allowance.remaining)
    .header('ratelimit-reset', allowance.resetSeconds)
  if (allowance.retryAfterSeconds !== null) {
    throw new ServiceError('rate_limited', complaint, { retryAfterSeconds: allowance.retryAfterSeconds })
  }
}
