import type { ConnectionAttempt } from '../../domain/account.ts'
import type { BrokerAccount, BrokerDefinition, Credentials, CredentialsHolder } from '../../ports/broker.ts'
import { demandAccounts } from '../connections/record-check.ts'
import { mayEndAnother } from '../connections/shared-login.ts'
import type { PortalDeps } from './visit.ts'

const READ_MS = 20_000
const REVOKE_MS = 5_000

/** Credentials of a login that is not stored yet. A broker may rotate them on first use, so the newest are what gets sealed. */
export class FreshCredentials implements CredentialsHolder {
  newest: Credentials

  constructor(credentials: Credentials) {
    this.newest = credentials
  }

  async read(): Promise<Credentials> {
    return this.newest
  }

  async renew(
    used: Credentials,
    refresh: (current: Credentials, signal: AbortSignal) => Promise<Credentials>,
    signal: AbortSignal
  ): Promise<Credentials> {
    if (used === this.newest) this.newest = await refresh(this.newest, signal)
    return this.newest
  }
}

/** @throws BrokerFault when the broker does not tell the accounts. */
export async function readAccounts(definition: BrokerDefinition, holder: CredentialsHolder): Promise<readonly BrokerAccount[]> {
  await using session = definition.open(holder)
  return demandAccounts(await session.accounts(AbortSignal.timeout(READ_MS)))
}

/** A login that has just been made, and the accounts it reaches. */
export interface ReadLogin {
  readonly credentials: Credentials
  readonly found: readonly BrokerAccount[]
}

/**
 * Revokes what the broker granted and nobody will use, once: a grant that is left over does no more than wait for its end. A login is left alone
 * when its end may be another connection's. One whose accounts the broker did not tell may be that too, and must not come here.
 */
export async function giveBack(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  definition: BrokerDefinition,
  { found, credentials }: ReadLogin
): Promise<void> {
  const ids = found.map(({ brokerAccountId }) => brokerAccountId)
  if (await mayEndAnother(deps.store, definition, ids)) return
  const { attemptId, broker } = attempt
  await definition.login.revoke(credentials, AbortSignal.timeout(REVOKE_MS)).catch(cause => {
    deps.log.warn('a broker’s grant that led to no connection could not be revoked', { attemptId, broker, cause })
  })
}
