import type { BrokerEndpoint, ConnectionAttempt } from '../../domain/account.ts'
import type { SealedValue } from '../../ports/store.ts'
import type { SealContext, Vault } from '../../ports/vault.ts'
import { EndpointChanged, isSameEndpoint } from '../broker-access/endpoints.ts'

/** Seals the verifier until the browser returns from the broker, together with the endpoint of the login. */
export function sealVerifier(vault: Vault, attempt: ConnectionAttempt, verifier: string, endpoint: BrokerEndpoint): SealedValue {
  const { environment, host } = endpoint
  return { sealed: vault.seal(JSON.stringify({ environment, host, verifier }), contextOf(attempt)), revision: REVISION }
}

/** @throws SealBroken; EndpointChanged if the login was started at an endpoint other than `present`: its code must not be sent there. */
export function openVerifier(vault: Vault, attempt: ConnectionAttempt, { sealed }: SealedValue, present: BrokerEndpoint): string {
  const { environment, host, verifier } = JSON.parse(vault.open(sealed, contextOf(attempt)))
  const begun: BrokerEndpoint = { environment, host }
  if (!isSameEndpoint(begun, present)) throw new EndpointChanged(begun, present)
  return verifier
}

/** An attempt has one verifier at a time, so its revision is constant. */
const REVISION = 1

function contextOf({ attemptId, userKey }: ConnectionAttempt): SealContext {
  return { table: 'connection_attempts', column: 'verifier', rowId: attemptId, ownerId: userKey, revision: REVISION }
}
