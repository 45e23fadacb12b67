import type { AppDeps } from '@trunkline/core/app/application'
import { authenticatePlatform, authenticateUser, demandScope } from '@trunkline/core/app/authenticate'
import type { PlatformCaller, UserCaller } from '@trunkline/core/app/caller'
import { type ErrorCode, ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformKey, Scope } from '@trunkline/core/domain/platform-key'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressGroup } from '../auth/address.ts'
import { FailedAttempts, sharedFailures, TooManyFailures } from '../auth/failed-attempts.ts'
import { type Allowance, RateLimiter, type SharedLimits } from '../auth/rate-limit.ts'
import { SharedRate } from '../auth/shared-rate.ts'
import { type Credentials, credentialsOf, missingCredentials } from './credentials.ts'
import type { HttpLimits } from './options.ts'
import { BETWEEN_NODES, passedOnOf } from './passed-on.ts'

/** Codes that refuse a caller with valid credentials: the resource is another's, or a permission is missing. */
const DENIED: ReadonlySet<ErrorCode> = new Set([
  'scope_missing',
  'entitlement_missing',
  'account_not_found',
  'connection_not_found',
  'claim_refused',
  'order_not_found'
])

/** An authenticated caller, and what is left for its platform. */
export interface Proven<Caller extends PlatformCaller> {
  readonly caller: Caller & { readonly key: PlatformKey }
  readonly left: Allowance
}

type GuardDeps = Pick<AppDeps, 'hasher' | 'lookup' | 'clock' | 'accessAudit'>

/** Authenticates requests and limits their rate, before anything else is done for them. */
export class Guard {
  readonly #deps: GuardDeps
  readonly #platforms: SharedRate
  readonly #users: RateLimiter
  readonly #attempts: FailedAttempts

  /** @param shared the limits that the nodes of a cluster share; null where there is one node */
  constructor(deps: GuardDeps, limits: Pick<HttpLimits, 'platform' | 'user' | 'failedAuthentication'>, shared: SharedLimits | null = null) {
    this.#deps = deps
    this.#platforms = new SharedRate(limits.platform, shared && { owners: shared('platform'), keys: shared('platform_key') })
    // Counted by the user's owner only.
    this.#users = new RateLimiter(limits.user)
    const failures = sharedFailures(shared, 'rest')
    this.#attempts = new FailedAttempts(limits.failedAuthentication, () => deps.clock.monotonicMs(), undefined, undefined, failures)
  }

  /** Subscribes to secrets that are issued while the service runs. */
  listenTo(bus: Pick<AppDeps['bus'], 'subscribe'>): void {
    this.#attempts.listenTo(bus)
  }

  /** @throws ServiceError credentials_invalid, scope_missing, rate_limited. */
  async platform(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<PlatformCaller> {
    return (await this.provenPlatform(request, reply, scope)).caller
  }

  /** The same, with what is left for the platform. @throws as {@link platform} */
  async provenPlatform(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<Proven<PlatformCaller>> {
    try {
      const proven = await this.#platform(request, reply, 'platform', scope, credentialsOf(request.headers))
      setRateLimitHeaders(reply, proven.left)
      return proven
    } catch (error) {
      throw this.#failed(error, request, reply)
    }
  }

  /** @throws ServiceError credentials_invalid, scope_missing, rate_limited. */
  async user(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<UserCaller> {
    const proven = await this.provenUser(request, reply, scope)
    this.countUser(request, reply, proven)
    return proven.caller
  }

  /** Authenticates without counting the request for the user: its owner counts it. @throws as {@link user} */
  async provenUser(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<Proven<UserCaller>> {
    try {
      const credentials = credentialsOf(request.headers)
      const { caller, left } = await this.#platform(request, reply, 'user', scope, credentials)
      const { userId, userSecret } = credentials
      const given = { userId, userSecret, address: request.ip }
      const { user, secretHash } = await authenticateUser(this.#deps, this.#deps.lookup, caller.platform, given, this.#attempts)
      return { caller: { ...caller, user, secretHash }, left }
    } catch (error) {
      throw this.#failed(error, request, reply)
    }
  }

  /** @throws ServiceError rate_limited. */
  countUser({ raw }: FastifyRequest, reply: FastifyReply, { caller, left }: Proven<UserCaller>): void {
    const now = this.#deps.clock.monotonicMs()
    const ofUser = this.#users.take(caller.user.userKey, now)
    // A user over its limit must not use up what the platform's other users share.
    if (ofUser.retryAfterSeconds !== null) {
      if (passedOnOf(raw) === undefined) this.userWasLimited(caller.key)
      else reply.header(BETWEEN_NODES.userLimited, '1')
    }
    // The allowance that is closer to its limit.
    setRateLimitHeaders(reply, ofUser.retryAfterSeconds !== null || ofUser.remaining <= left.remaining ? ofUser : left)
  }

  /**
   * Sets the platform's rate limit headers, for what this node answers by itself to a request that it passes on: only the owner knows what
   * is left for the user.
   */
  showPlatform(reply: FastifyReply, { left }: Proven<UserCaller>): void {
    show(reply, left)
  }

  /** Takes back what the request counted for the platform. */
  userWasLimited({ platformId, keyId }: PlatformKey): void {
    this.#platforms.giveBack(platformId, keyId, this.#deps.clock.monotonicMs())
  }

  /** Authenticates the platform. The request counts against its rate limit from here on, so failed look-ups of users count too. */
  async #platform(
    request: FastifyRequest,
    reply: FastifyReply,
    kind: 'platform' | 'user',
    scope: Scope,
    { clientId, clientSecret }: Credentials
  ): Promise<Proven<PlatformCaller>> {
    const { ip } = request
    this.#requireHeaders(request, kind)
    const given = { clientId, clientSecret, address: ip }
    const keyProof = await authenticatePlatform(this.#deps, this.#deps.lookup, given, this.#attempts)
    const { platform, key } = keyProof
    const left =
      passedOnOf(request.raw)?.platformAllowance ?? this.#platforms.take(platform.platformId, key.keyId, this.#deps.clock.monotonicMs())
    if (left.retryAfterSeconds !== null) setRateLimitHeaders(reply, left)
    const caller = { platform, key, keyProof, ip, requestId: request.id }
    this.#requireScope(caller, key, scope)
    return { caller, left }
  }

  /** Writes an audit entry when an authenticated caller is refused something that it has no access to. */
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

  #requireScope(caller: PlatformCaller, key: PlatformKey, scope: Scope): void {
    try {
      demandScope(key, scope)
    } catch (error) {
      this.denied(error, caller)
      throw error
    }
  }

  #failed(error: unknown, { ip, id }: FastifyRequest, reply: FastifyReply): unknown {
    const isTooMany = error instanceof TooManyFailures
    const isFailure = isTooMany ? error.isFailure : error instanceof ServiceError && error.code === 'credentials_invalid'
    if (isFailure) this.#deps.accessAudit.note({ ...FAILED, target: 'rest', ip, group: addressGroup(ip), requestId: id })
    if (isTooMany) show(reply, error.allowance)
    return error
  }

  /** The error may say which header is missing, but never which value is wrong. @throws ServiceError credentials_invalid, rate_limited. */
  #requireHeaders({ headers, ip }: FastifyRequest, kind: 'platform' | 'user'): void {
    const missing = missingCredentials(headers, kind)
    if (missing.length === 0) return
    this.#attempts.failed({ of: 'key', address: ip, name: null, secretHash: '' })
    const message = `The credentials are incomplete. Missing headers: ${missing.join(', ')}.`
    throw new ServiceError('credentials_invalid', message, { details: missing.map(path => ({ path, message: 'is missing' })) })
  }
}

const FAILED = { action: 'access.failed', actor: 'anonymous', reason: 'credentials_invalid' } as const

const TOO_MANY = 'Too many requests. Wait for the time in the retry-after header, then send fewer.'

/** Sets the rate limit headers. @throws ServiceError rate_limited if nothing is left. */
function setRateLimitHeaders(reply: FastifyReply, allowance: Allowance): void {
  show(reply, allowance)
  const { retryAfterSeconds } = allowance
  if (retryAfterSeconds !== null) throw new ServiceError('rate_limited', TOO_MANY, { retryAfterSeconds })
}

function show(reply: FastifyReply, { limit, remaining, resetSeconds }: Allowance): void {
  reply.header('ratelimit-limit', limit).header('ratelimit-remaining', remaining).header('ratelimit-reset', resetSeconds)
}
