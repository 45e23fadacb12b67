// Logins of operators by the provider: begun by the console's page, and completed by it once the provider has sent the browser back.
import type { Attempt } from '@trunkline/core/app/authenticate'
import type { OperatorLimits } from '@trunkline/core/app/operators/access'
import { useLoginOnce } from '@trunkline/core/app/operators/provider-login'
import { ServiceError } from '@trunkline/core/domain/errors'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OperatorGrant, OperatorSession } from '@trunkline/core/domain/operator'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { Hasher } from '@trunkline/core/ports/vault'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LoginRefused, ProviderUnavailable } from '../oidc/faults.ts'
import { CALLBACK_PATH } from '../oidc/options.ts'
import type { LoginProvider } from '../oidc/provider.ts'
import type { OperatorAccess } from './access.ts'
import type { PendingLogin, PendingLoginCookie } from './pending-login.ts'
import { Places } from './places.ts'

/** The pages of the console. */
const PAGES = '/console/'
/** Logins that ask the provider at once. Apart from the places of operators' requests: it may be slow. */
const PLACES = 8
const RETRY_SECONDS = 5
const OTHERWISE = 'Log in again, or with a code: npm run cli -- operator link'

export interface ProviderLoginDeps {
  readonly provider: Pick<LoginProvider, 'host' | 'begin' | 'complete'>
  /** As the login page shows it. */
  readonly name: string
  readonly grants: readonly OperatorGrant[]
  readonly publicUrl: () => string
  readonly access: OperatorAccess
  readonly pending: PendingLoginCookie
  readonly attempts: OperatorLimits
  readonly operators: Pick<OperatorStore, 'useLogin'>
  readonly hasher: Hasher
  readonly ids: Pick<Ids, 'secret'>
  readonly log: Log
}

export class ProviderLogins {
  readonly #deps: ProviderLoginDeps
  readonly #places = new Places(PLACES)

  constructor(deps: ProviderLoginDeps) {
    this.#deps = deps
  }

  get name(): string {
    return this.#deps.name
  }

  /**
   * Begins a login in this browser, and returns the provider's address for it. `returnTo`: path and query of the console's page to show
   * afterwards. @throws ServiceError header_invalid, session_exists, rate_limited, login_provider_unavailable; Malformed
   */
  async begin(request: FastifyRequest, reply: FastifyReply, returnTo: string): Promise<string> {
    const { access, provider, ids, pending } = this.#deps
    access.demandOwnPage(request)
    const page = this.#pageOf(returnTo)
    await access.demandNoSession(request, reply)
    const login = { state: ids.secret(''), nonce: ids.secret(''), verifier: ids.secret(''), returnTo: page }
    const url = await this.#places.run(() => this.#asked(() => provider.begin(this.#redirectUri(), login)))
    pending.set(reply, login)
    return url
  }

  /**
   * Completes the login that this browser began, once. `answer`: the query that the provider sent back.
   * @throws ServiceError header_invalid, session_exists, credentials_invalid, scope_missing, rate_limited, login_provider_unavailable
   */
  async complete(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: string
  ): Promise<{ readonly session: OperatorSession; readonly returnTo: string }> {
    const { access, pending, attempts, hasher } = this.#deps
    access.demandOwnPage(request)
    await access.demandNoSession(request, reply)
    const state = hasher.hash(new URLSearchParams(answer).get('state') ?? '')
    const login = pending.read(request).find(begun => hasher.equal(state, hasher.hash(begun.state))) ?? null
    const attempt = { of: 'key', address: request.ip, name: null, secretHash: state } as const
    return access.noted(request, async () => {
      attempts.demandCalm(attempt)
      try {
        // The place comes first: a login that finds none is not used up.
        return await this.#places.run(() => this.#tried(attempt, request, () => this.#completed(request, reply, login, answer)))
      } finally {
        attempts.undecided(attempt)
      }
    })
  }

  /** Whatever goes wrong has cost what a refusal does, and slows its sender down. */
  async #tried<Result>(attempt: Attempt, request: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    const { access, attempts } = this.#deps
    try {
      return await work()
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : null
      if (code === 'scope_missing') access.noteDenied(request)
      if (code === 'scope_missing' || code === 'credentials_invalid') attempts.failed(attempt)
      else attempts.unanswered(attempt)
      throw error
    }
  }

  async #completed(request: FastifyRequest, reply: FastifyReply, login: PendingLogin | null, answer: string) {
    const { access, pending, provider, grants } = this.#deps
    // A state of another login leaves the cookie: a link of somebody else must not end a login that is under way.
    if (login === null) throw refused('This login was not begun in this browser, or more than ten minutes ago.')
    await useLoginOnce(this.#deps, login.state)
    pending.clear(reply)
    const identity = await this.#asked(() => provider.complete(this.#redirectUri(), answer, login))
    const session = await access.enterProven(request, reply, identity, grants)
    return { session, returnTo: login.returnTo }
  }

  /** Asks the provider. Its failures are what the login page shows. */
  async #asked<Result>(work: () => Promise<Result>): Promise<Result> {
    const { provider, log } = this.#deps
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof LoginRefused) {
        log.info('the login provider proved nobody', { provider: provider.host, reason: cause.message })
        throw refused(`${provider.host} ${cause.message}.`)
      }
      if (!(cause instanceof ProviderUnavailable)) throw cause
      log.warn('the login provider cannot be used', { provider: provider.host, reason: cause.message })
      throw new ServiceError(
        'login_provider_unavailable',
        `${provider.host} ${cause.message}. Nobody was logged in. Try again shortly, or log in with a code: npm run cli -- operator link`,
        { retryAfterSeconds: RETRY_SECONDS }
      )
    }
  }

  #redirectUri(): string {
    return `${this.#deps.publicUrl()}${CALLBACK_PATH}`
  }

  /** The path and query of a page of the console, as a browser writes them: what it would read as something else is refused. */
  #pageOf(given: string): string {
    const origin = new URL(this.#deps.publicUrl()).origin
    const url = URL.parse(given, origin)
    const page = url === null ? '' : `${url.pathname}${url.search}`
    const [written] = given.split('#', 1)
    if (url === null || url.origin !== origin || !page.startsWith(PAGES) || page !== written)
      throw new Malformed('return_to', `path and query of a page below ${PAGES}`, given)
    return page
  }
}

function refused(why: string): ServiceError {
  return new ServiceError('credentials_invalid', `${why} ${OTHERWISE}`)
}
