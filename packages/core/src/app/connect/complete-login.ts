import type { ConnectionAttempt } from '../../domain/account.ts'
import type { BrokerId } from '../../domain/ids.ts'
import { epochMs } from '../../domain/timestamp.ts'
import type { Environment } from '../../domain/vocabulary.ts'
import { type BrokerDefinition, BrokerFault, LoginDeclined } from '../../ports/broker.ts'
import { SealBroken } from '../../ports/vault.ts'
import { EndpointChanged, endpointOf } from '../broker-access/endpoints.ts'
import { fail } from './decide.ts'
import { establish } from './establish.ts'
import { ended, type PortalOutcome } from './portal-outcome.ts'
import { openVerifier } from './verifier.ts'
import { type BrowserSession, type PortalDeps, portalAudit, problemOf } from './visit.ts'

const LOGIN_MS = 20_000
/** How long a login at the broker's page may take; shorter than the life of the link, so that it can be started again. */
export const STATE_MINUTES = 10

export interface Callback {
  /** The broker whose callback address was used, and its environment there. */
  readonly broker: BrokerId
  readonly environment: Environment
  readonly state: string
  /** The full callback URL, and the redirect URI that was sent to the broker. */
  readonly callbackUrl: string
  readonly redirectUri: string
}

/**
 * Handles the browser's return from the broker. The state is valid once, in the browser it was made for, and at its broker's callback
 * address. Then the code is exchanged and the connection established.
 */
export async function completeLogin(deps: PortalDeps, callback: Callback, browserSession: BrowserSession): Promise<PortalOutcome> {
  const known = await deps.store.attempts.findByStateHash(deps.hasher.hash(callback.state))
  const definition = deps.brokers.get(callback.broker)
  if (known === null || definition?.login.kind !== 'oauth' || !isItsOwn(callback, known.attempt, definition))
    return ended(null, 'bad_callback')
  const { attempt } = known
  if (attempt.browserHash === null || browserSession.browser === null) return ended(null, 'bad_callback')
  const problem = problemOf(deps, attempt, browserSession)
  if (problem !== null) return problem
  const { stateMadeAt } = known
  const isLate = stateMadeAt === null || epochMs(deps.clock.now()) - epochMs(stateMadeAt) >= STATE_MINUTES * 60_000
  if (!(await deps.store.attempts.consumeState(attempt.attemptId, deps.hasher.hash(callback.state)))) return ended(attempt, 'used')
  if (isLate) return ended(attempt, 'expired')
  try {
    const verifier = openVerifier(deps.vault, attempt, known.verifier, endpointOf(definition))
    const signal = AbortSignal.timeout(LOGIN_MS)
    const credentials = await definition.login.complete({ ...callback, verifier }, signal)
    return await establish(deps, attempt, definition, credentials, browserSession)
  } catch (cause) {
    if (cause instanceof LoginDeclined) {
      const entry = portalAudit(deps, attempt, browserSession, 'connection.decline', 'refused')
      return ended(attempt, (await deps.store.attempts.end(attempt.attemptId, 'declined', entry)) ? 'declined' : 'used')
    }
    if (cause instanceof BrokerFault) return fail(deps, attempt, browserSession, cause)
    if (cause instanceof SealBroken || cause instanceof EndpointChanged)
      return fail(deps, attempt, browserSession, new BrokerFault('refused', 'the verifier of the login cannot be opened', { cause }))
    throw cause
  }
}

/** Whether the callback arrived at the address of the broker and environment that the attempt was sent to. */
function isItsOwn(callback: Callback, attempt: ConnectionAttempt, { environment }: BrokerDefinition): boolean {
  return attempt.chosenBroker === callback.broker && environment === callback.environment
}
