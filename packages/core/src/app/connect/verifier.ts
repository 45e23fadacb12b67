import type { BrokerEndpoint, ConnectionAttempt } from '../../domain/account.ts'
import type { SealedValue } from '../../ports/store.ts'
import type { SealContext, Vault } from '../../ports/vault.ts'
import { EndpointChanged, isSameEndpoint } from '../connections/endpoints.ts'

/** Seals what must be kept until the browser comes back from the broker, with the endpoint whose login it is part of. */
export function sealVerifier(vault: Vault, attempt: ConnectionAttempt, verifier: string, endpoint: BrokerEndpoint): SealedValue {
  const { environment, host } = endpoint
  return { sealed: vault.seal(JSON.stringify({ environment, host, verifier }), contextOf(attempt)), revision: REVISION }
}

/** @throws SealBroken; EndpointChanged when the login was begun elsewhere than at `present`, where its code must not go. */
export function openVerifier(vault: Vault, attempt: ConnectionAttempt, { sealed }: SealedValue, present: BrokerEndpoint): string {
  const { environment, host, verifier } = JSON.parse(vault.open(sealed, contextOf(attempt)))
  const begun: BrokerEndpoint = { environment, host }
  if (!isSameEndpoint(begun, present)) throw new EndpointChanged(begun, present)
  return verifier
}

/** An attempt has one verifier at a time, so its revision never moves. */
const REVISION = 1

function contextOf({ attemptId, userKey }: ConnectionAttempt): SealContext {
  return { table: 'connection_attempts', column: 'verifier', rowId: attemptId, ownerId: userKey, revision: REVISION }
}
