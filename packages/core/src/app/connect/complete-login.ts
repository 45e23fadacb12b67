import type { BrokerId } from '../../domain/ids.ts'
import { BrokerFault, LoginDeclined } from '../../ports/broker.ts'
import { SealBroken } from '../../ports/vault.ts'
import { fail, verifierContext } from './decide.ts'
import { type Ending, ended } from './ending.ts'
import { establish } from './establish.ts'
import { type PortalDeps, portalAudit, troubleOf, type Visitor } from './visit.ts'

const LOGIN_MS = 20_000

export interface Callback {
  /** The broker whose callback address the browser arrived at. */
  readonly broker: BrokerId
  readonly state: string
  /** The full address, and the one the broker was told. */
  readonly callbackUrl: string
  readonly redirectUri: string
}

/**
 * The browser is back from the broker. The state is good once, in the browser it was made for, at its own broker's address; then the code
 * is exchanged, and the connection is established.
 */
export async function completeLogin(deps: PortalDeps, callback: Callback, visitor: Visitor): Promise<Ending> {
  const known = await deps.store.attempts.findByStateHash(deps.hasher.hash(callback.state))
  const definition = deps.brokers.get(callback.broker)
  if (known === null || definition?.login.kind !== 'oauth' || known.attempt.chosenBroker !== callback.broker)
    return ended(null, 'bad_callback')
  const { attempt } = known
  if (attempt.browserHash === null || visitor.browser === null) return ended(null, 'bad_callback')
  const trouble = troubleOf(deps, attempt, visitor)
  if (trouble !== null) return trouble
  if (!(await deps.store.attempts.consumeState(attempt.attemptId, deps.hasher.hash(callback.state)))) return ended(attempt, 'used')
  try {
    const verifier = deps.vault.open(known.verifier.sealed, verifierContext(attempt))
    const signal = AbortSignal.timeout(LOGIN_MS)
    const credentials = await definition.login.complete({ ...callback, verifier }, signal)
    return await establish(deps, attempt, definition, credentials, visitor)
  } catch (cause) {
    if (cause instanceof LoginDeclined) {
      const entry = portalAudit(deps, attempt, visitor, 'connection.decline', 'refused')
      return ended(attempt, (await deps.store.attempts.end(attempt.attemptId, 'declined', entry)) ? 'declined' : 'used')
    }
    if (cause instanceof BrokerFault) return fail(deps, attempt, visitor, cause)
    if (cause instanceof SealBroken)
      return fail(deps, attempt, visitor, new BrokerFault('refused', 'the login’s verifier cannot be opened', { cause }))
    throw cause
  }
}
