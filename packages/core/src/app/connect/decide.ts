import type { ConnectionAttempt } from '../../domain/account.ts'
import type { BrokerId } from '../../domain/ids.ts'
import type { Environment } from '../../domain/vocabulary.ts'
import { BrokerFault } from '../../ports/broker.ts'
import { endpointOf } from '../broker-access/endpoints.ts'
import { ended, type PortalOutcome } from './portal-outcome.ts'
import { sealVerifier } from './verifier.ts'
import { type BrowserSession, fitting, type PortalDeps, portalAudit, problemOf } from './visit.ts'

/** The user continues at the broker's login page. */
export interface BrokerRedirect {
  readonly kind: 'redirect'
  readonly authorizationUrl: string
}

/** The user continues with a form for their keys, see `enter-keys.ts`. */
export interface KeysWanted {
  readonly kind: 'keys_wanted'
}

/** The choice is not offered in this attempt: the form was altered or is outdated. The page must be shown again. */
export interface StaleForm {
  readonly kind: 'stale_form'
}

/** The user declined. Only the browser that holds the attempt can do so. */
export async function declineAttempt(
  deps: PortalDeps,
  token: string,
  browserSession: BrowserSession & { readonly browser: string }
): Promise<PortalOutcome> {
  const attempt = await claimed(deps, token, browserSession)
  if (attempt.kind === 'outcome') return attempt
  const entry = portalAudit(deps, attempt.attempt, browserSession, 'connection.decline', 'refused')
  return ended(attempt.attempt, (await deps.store.attempts.end(attempt.attempt.attemptId, 'declined', entry)) ? 'declined' : 'used')
}

/** The user approved: binds the attempt to this browser and prepares the broker's login, with a new state if it is at the broker's page. */
export async function approveAttempt(
  deps: PortalDeps,
  token: string,
  browserSession: BrowserSession & { readonly browser: string },
  choice: { readonly broker: BrokerId; readonly callbackUrl: (environment: Environment) => string }
): Promise<BrokerRedirect | KeysWanted | StaleForm | PortalOutcome> {
  const claim = await claimed(deps, token, browserSession)
  if (claim.kind === 'outcome') return claim
  const { attempt } = claim
  const definition = fitting(deps, attempt).find(({ capabilities }) => capabilities.id === choice.broker)
  if (definition === undefined) return { kind: 'stale_form' }
  const { login, environment } = definition
  if (login.kind === 'api_key') return { kind: 'keys_wanted' }
  const state = deps.ids.secret('')
  try {
    const request = { redirectUri: choice.callbackUrl(environment), state, trading: attempt.connectionType === 'trade' }
    const { authorizationUrl, verifier } = await login.begin(request)
    const sealed = sealVerifier(deps.vault, attempt, verifier, endpointOf(definition))
    const step = { broker: choice.broker, stateHash: deps.hasher.hash(state), verifier: sealed, at: deps.clock.now() }
    if (!(await deps.store.attempts.begin(attempt.attemptId, step))) return ended(attempt, 'used')
    return { kind: 'redirect', authorizationUrl }
  } catch (cause) {
    if (!(cause instanceof BrokerFault)) throw cause
    return fail(deps, attempt, browserSession, cause)
  }
}

/** Ends the attempt because its broker failed. */
export async function fail(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  browserSession: BrowserSession,
  cause: BrokerFault
): Promise<PortalOutcome> {
  deps.log.warn('a broker could not complete a login', {
    attemptId: attempt.attemptId,
    broker: attempt.chosenBroker ?? attempt.broker,
    kind: cause.kind,
    cause
  })
  await deps.store.attempts.end(
    attempt.attemptId,
    'failed',
    portalAudit(deps, attempt, browserSession, 'connection.fail', 'failed', { fault: cause.kind })
  )
  return ended(attempt, 'broker_down')
}

async function claimed(
  deps: PortalDeps,
  token: string,
  browserSession: BrowserSession & { readonly browser: string }
): Promise<{ readonly kind: 'claimed'; readonly attempt: ConnectionAttempt } | PortalOutcome> {
  const attempt = await deps.store.attempts.findByTokenHash(deps.hasher.hash(token))
  if (attempt === null) return ended(null, 'unknown_link')
  const problem = problemOf(deps, attempt, browserSession)
  if (problem !== null) return problem
  const bound = await deps.store.attempts.bindBrowser(attempt.attemptId, deps.hasher.hash(browserSession.browser))
  return bound ? { kind: 'claimed', attempt } : ended(null, 'other_browser')
}
