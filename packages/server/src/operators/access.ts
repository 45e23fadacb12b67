// Who calls the API for operators: an operator's browser by its cookie, or a program by its key. Never by address.

import type { AppDeps } from '@trunkline/core/app/application'
import {
  demandOperatorScope,
  exchangeCode,
  type OperatorAccessDeps,
  type OperatorCaller,
  operatorOfKey,
  operatorOfSession,
  operatorUnknown
} from '@trunkline/core/app/operators/access'
import { enterProven, type ProvenIdentity } from '@trunkline/core/app/operators/provider-login'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { OperatorGrant, OperatorScope, OperatorSession } from '@trunkline/core/domain/operator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { addressGroup } from '../auth/address.ts'
import { TooManyFailures } from '../auth/failed-attempts.ts'
import type { OperatorCookie } from './cookie.ts'

const BEARER = /^Bearer ([\w-]{1,128})$/i
/** At the bound the one that was refused longest ago is forgotten, and looked up again if it comes. */
const ENDED_MAX = 10_000
/** A form of another site cannot send it, and a script of another site only with a permission that is never given. */
const OWN_HEADER = 'x-trunkline-operator'

export interface AccessOptions {
  readonly publicUrl: () => string
  readonly cookie: OperatorCookie
  readonly accessAudit: Pick<AppDeps['accessAudit'], 'note'>
}

export class OperatorAccess {
  readonly #deps: OperatorAccessDeps
  readonly #options: AccessOptions
  /** Hashes of sessions' secrets that were refused: a session that has ended never lives again. */
  readonly #ended = new LRUCache<string, true>({ max: ENDED_MAX })

  constructor(deps: OperatorAccessDeps, options: AccessOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** @throws ServiceError credentials_invalid, header_invalid, scope_missing, rate_limited */
  async operator(request: FastifyRequest, reply: FastifyReply, scope: OperatorScope, anyScope: boolean): Promise<OperatorCaller> {
    // Somebody who is not logged in yet, as every visitor of the console is at first, is no failed attempt.
    if (request.headers.authorization === undefined && this.#secretsOf(request).length === 0) throw operatorUnknown()
    const caller = await this.noted(request, () => this.#caller(request, reply))
    if (anyScope) return caller
    try {
      demandOperatorScope(caller, scope)
    } catch (error) {
      this.noteDenied(request)
      throw error
    }
    return caller
  }

  /**
   * Does nothing where this browser has no session; a cookie of one that has ended is cleared.
   * @throws ServiceError session_exists, rate_limited
   */
  async demandNoSession(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (this.#secretsOf(request).length === 0) return
    const caller = await this.noted(request, () => this.#ofSession(request, reply)).catch((error: unknown) => {
      if (!isUnknown(error)) throw error
      return null
    })
    if (caller !== null)
      throw new ServiceError(
        'session_exists',
        `This browser is logged in as ${caller.operator} already; sign out first to log in as somebody else.`
      )
  }

  /** Makes a session of a person whom the provider has proven, and sets its cookie. @throws ServiceError scope_missing */
  async enterProven(
    request: FastifyRequest,
    reply: FastifyReply,
    identity: ProvenIdentity,
    grants: readonly OperatorGrant[]
  ): Promise<OperatorSession> {
    const { session, secret } = await enterProven(this.#deps, identity, grants, originOf(request))
    this.#remember(reply, session, secret)
    return session
  }

  /** Makes a session of the code, and sets its cookie. @throws ServiceError credentials_invalid, header_invalid, rate_limited */
  async enter(request: FastifyRequest, reply: FastifyReply, code: string): Promise<OperatorSession> {
    this.demandOwnPage(request)
    const { session, secret } = await this.noted(request, () => exchangeCode(this.#deps, code, originOf(request)))
    this.#remember(reply, session, secret)
    return session
  }

  /** Clears the cookie. */
  leave(reply: FastifyReply): void {
    this.#options.cookie.clear(reply)
  }

  async #caller(request: FastifyRequest, reply: FastifyReply): Promise<OperatorCaller> {
    const { authorization } = request.headers
    // Which of the two was meant would decide what is audited.
    if (authorization !== undefined && this.#options.cookie.read(request).length > 0)
      throw new ServiceError('header_invalid', 'The request has a key and the cookie of a session; send one of them.')
    if (authorization !== undefined) {
      const [, key] = BEARER.exec(authorization) ?? []
      if (key === undefined) throw operatorUnknown()
      return operatorOfKey(this.#deps, key, originOf(request))
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') this.demandOwnPage(request)
    return this.#ofSession(request, reply)
  }

  /** The secrets of the request's cookies, but for those of sessions that are known to have ended: each counts as one failed attempt. */
  #secretsOf(request: FastifyRequest): readonly string[] {
    return this.#options.cookie.read(request).filter(secret => !this.#ended.has(this.#deps.hasher.hash(secret)))
  }

  /** Without a session that lives, its cookie is cleared: each request that sends it would fail. */
  async #ofSession(request: FastifyRequest, reply: FastifyReply): Promise<OperatorCaller> {
    for (const secret of this.#secretsOf(request)) {
      try {
        return await operatorOfSession(this.#deps, secret, originOf(request))
      } catch (error) {
        if (!isUnknown(error)) throw error
        this.#ended.set(this.#deps.hasher.hash(secret), true)
      }
    }
    this.#options.cookie.clear(reply)
    throw operatorUnknown()
  }

  /** Browsers send `Origin` with such requests; one without is refused and not trusted. @throws ServiceError header_invalid */
  demandOwnPage({ headers }: FastifyRequest): void {
    const publicUrl = this.#options.publicUrl()
    if (headers.origin === publicUrl && headers[OWN_HEADER] === '1') return
    throw new ServiceError('header_invalid', `The request needs the headers origin: ${publicUrl} and ${OWN_HEADER}: 1.`)
  }

  /** Notes a refusal of the work in the audit log. */
  async noted<Result>(request: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      const isFailure =
        error instanceof TooManyFailures ? error.isFailure : error instanceof ServiceError && error.code === 'credentials_invalid'
      if (isFailure) this.#note(request, 'access.failed', 'credentials_invalid', 'anonymous')
      throw error
    }
  }

  /** Notes in the audit log that somebody known lacks a scope. */
  noteDenied(request: FastifyRequest): void {
    this.#note(request, 'access.denied', 'scope_missing', 'operator')
  }

  #remember(reply: FastifyReply, { expiresAt, createdAt }: OperatorSession, secret: string): void {
    this.#options.cookie.set(reply, secret, Math.floor((Date.parse(expiresAt) - Date.parse(createdAt)) / 1_000))
  }

  #note({ ip, id }: FastifyRequest, action: 'access.failed' | 'access.denied', reason: string, actor: string): void {
    this.#options.accessAudit.note({ action, actor, target: 'admin', reason, ip, group: addressGroup(ip), requestId: id })
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'credentials_invalid'
}

function originOf({ ip, id }: FastifyRequest): { readonly ip: string; readonly requestId: string } {
  return { ip, requestId: id }
}
