import type { ConnectionAttempt } from '../../domain/account.ts'
import type { BrokerAccount, BrokerDefinition, Credentials, CredentialsHolder, Listed } from '../../ports/broker.ts'
import { demandAccounts } from '../broker-access/record-check.ts'
import { mayEndAnother } from '../broker-access/shared-login.ts'
import type { PortalDeps } from './visit.ts'

const READ_MS = 20_000
const REVOKE_MS = 5_000

/** Credentials of a login that is not stored yet. A broker may rotate them on first use, so the newest ones are sealed. */
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

/** @throws BrokerFault if the broker does not return the accounts. */
export async function readAccounts(definition: BrokerDefinition, holder: CredentialsHolder): Promise<Listed<BrokerAccount>> {
  await using session = definition.open(holder)
  return demandAccounts(await session.accounts(AbortSignal.timeout(READ_MS)))
}

/** A new login, and its accounts. */
export interface ReadLogin extends UnreadLogin {
  readonly found: Listed<BrokerAccount>
}

/** The same; `found` is null until its accounts are read. */
export interface UnreadLogin {
  readonly credentials: Credentials
  readonly found: Listed<BrokerAccount> | null
}

/**
 * Revokes a grant that will not be used, with one try: a grant left over only expires later. A login is not revoked if that might end
 * another connection's login, or if its accounts are unknown.
 */
export async function giveBack(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  definition: BrokerDefinition,
  { found, credentials }: UnreadLogin
): Promise<void> {
  const isKnown = found !== null && found.leftOut === undefined
  const ids = isKnown ? found.items.map(({ brokerAccountId }) => brokerAccountId) : null
  if (await mayEndAnother(deps.store, definition, ids)) return
  const { attemptId, broker } = attempt
  await definition.login.revoke(credentials, AbortSignal.timeout(REVOKE_MS)).catch(cause => {
    deps.log.warn('a broker’s grant that led to no connection could not be revoked', { attemptId, broker, cause })
  })
}

/** Revokes the grant of a failed login. The failure itself is reported separately. */
export async function abandon(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  definition: BrokerDefinition,
  login: UnreadLogin
): Promise<void> {
  const { attemptId, broker } = attempt
  await giveBack(deps, attempt, definition, login).catch(cause => {
    deps.log.warn('a broker’s grant that led to no connection is left over: whether others live on it could not be read', {
      attemptId,
      broker,
      cause
    })
  })
}
