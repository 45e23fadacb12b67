import type { Account, Connection, ConnectionAttempt } from '../../domain/account.ts'
import type { AccountId, ConnectionId } from '../../domain/ids.ts'
import { type BrokerAccount, type BrokerDefinition, BrokerFault, type Credentials, type Listed } from '../../ports/broker.ts'
import { CommitUnknown, type Renewal, type Renewed } from '../../ports/store.ts'
import { sealCredentials } from '../broker-access/credentials.ts'
import { endpointOf } from '../broker-access/endpoints.ts'
import { abandon, FreshCredentials, readAccounts, type UnreadLogin } from './fresh-login.ts'
import { connected, ended, type PortalOutcome } from './portal-outcome.ts'
import { type BrowserSession, type PortalDeps, portalAudit } from './visit.ts'

/** The old credentials may be refreshed between two tries; more than one such refresh is already unlikely. */
const TRIES_MAX = 5

interface FreshLogin {
  readonly definition: BrokerDefinition
  readonly credentials: Credentials
}

/**
 * Replaces the login of a connection by a new one, if it includes every account of the connection. A new login that is not used is revoked
 * unless that might end another login: at some brokers a revocation ends everything granted to the same customer, which the connection may
 * still use. For the same reason the old credentials are never revoked.
 * @throws BrokerFault if the broker does not return the accounts.
 */
export async function renew(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  connectionId: ConnectionId,
  { definition, credentials }: FreshLogin,
  browserSession: BrowserSession
): Promise<PortalOutcome> {
  const holder = new FreshCredentials(credentials)
  let found: UnreadLogin['found'] = null
  let outcome: Connection | Obstacle
  try {
    found = await readAccounts(definition, holder)
    outcome = await replaced(deps, attempt, connectionId, { found, definition, holder, browserSession })
  } catch (cause) {
    // With an unconfirmed commit, the credentials may be stored.
    if (!(cause instanceof CommitUnknown)) await abandon(deps, attempt, definition, { found, credentials: holder.newest })
    throw cause
  }
  if (typeof outcome === 'string') {
    await abandon(deps, attempt, definition, { found, credentials: holder.newest })
    return outcome === 'used' ? ended(attempt, 'used') : refuse(deps, attempt, browserSession, outcome)
  }
  const { userKey, status } = outcome
  deps.bus.publish({ type: 'connection_renewed', userKey, connectionId, wasBroken: status === 'BROKEN' })
  deps.bus.publish({ type: 'connection_changed', userKey, connectionId })
  return connected(attempt, connectionId)
}

/** Why a login did not replace another. */
type Obstacle = 'used' | 'other_login' | 'not_renewable'

interface ReadFresh {
  readonly found: Listed<BrokerAccount>
  readonly definition: BrokerDefinition
  readonly holder: FreshCredentials
  readonly browserSession: BrowserSession
}

/** Returns the connection as it was before its credentials were replaced. */
async function replaced(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  connectionId: ConnectionId,
  { found, definition, holder, browserSession }: ReadFresh
): Promise<Connection | Obstacle> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const known = await stored(deps, attempt, connectionId)
    if (known === null) return 'not_renewable'
    const isKnown = ({ brokerAccountId }: BrokerAccount) => known.accounts.some(account => account.brokerAccountId === brokerAccountId)
    if (!isSameLogin(known.accounts, found)) return 'other_login'
    const added = known.claims ? [] : found.items.filter(account => !isKnown(account))
    const renewal = renewalOf(deps, attempt, known, { added, browserSession, login: { definition, credentials: holder.newest } })
    const outcome = await write(deps, renewal)
    if (outcome === 'renewed') return known.connection
    if (outcome === 'ended') return 'used'
    if (outcome === 'gone') return 'not_renewable'
  }
  throw new BrokerFault('unreachable', 'the old credentials were refreshed repeatedly while they were being replaced')
}

interface Known {
  readonly connection: Connection
  readonly accounts: readonly Account[]
  readonly revision: number
  /** Whether the platform claims its connections. */
  readonly claims: boolean
}

async function stored({ store }: PortalDeps, attempt: ConnectionAttempt, connectionId: ConnectionId): Promise<Known | null> {
  const [connection, accounts, sealed, platform] = await Promise.all([
    store.connections.find(connectionId),
    store.accounts.listByConnections([connectionId]),
    store.connections.credentials(connectionId),
    store.platforms.find(attempt.platformId)
  ])
  if (connection === null || connection.userKey !== attempt.userKey || sealed === null || platform === null) return null
  return { connection, accounts, revision: sealed.revision, claims: platform.claims }
}

/**
 * A connection without accounts cannot be identified. An account that could not be read is there.
 * @throws BrokerFault if accounts that are missing may be among those that could not be read.
 */
function isSameLogin(accounts: readonly Account[], { items, leftOut = [] }: Listed<BrokerAccount>): boolean {
  const ids = new Set([...items.map(({ brokerAccountId }) => brokerAccountId), ...leftOut])
  const missing = accounts.filter(({ brokerAccountId }) => !ids.has(brokerAccountId)).length
  if (missing === 0) return accounts.length > 0
  if (missing > leftOut.filter(id => id === null).length) return false
  throw new BrokerFault('malformed', 'accounts of the login could not be read, so it is not known to be the same')
}

function renewalOf(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  { connection, revision }: Known,
  {
    added,
    browserSession,
    login
  }: { readonly added: readonly BrokerAccount[]; readonly browserSession: BrowserSession; readonly login: FreshLogin }
): Renewal {
  const { connectionId, userKey, broker, status } = connection
  const endpoint = endpointOf(login.definition)
  const entry = portalAudit(deps, attempt, browserSession, 'connection.renew', 'ok', { broker, was: status, added: added.length })
  return {
    ...{ connectionId, userKey, endpoint, revision, at: entry.at, attemptId: attempt.attemptId },
    credentials: sealCredentials(deps.vault, connection, { credentials: login.credentials, endpoint }, revision + 1),
    added: added.map(account => ({ ...account, accountId: deps.ids.uuid<AccountId>(), connectionId, userKey, broker })),
    audit: { ...entry, target: connectionId }
  }
}

async function write({ store }: PortalDeps, renewal: Renewal): Promise<Renewed> {
  try {
    return await store.connections.renew(renewal)
  } catch (cause) {
    // The user must not see a failure of something that succeeded.
    if (!(cause instanceof CommitUnknown)) throw cause
    const sealed = await store.connections.credentials(renewal.connectionId)
    if (sealed !== null && Buffer.compare(sealed.sealed, renewal.credentials.sealed) === 0) return 'renewed'
    throw cause
  }
}

async function refuse(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  browserSession: BrowserSession,
  reason: 'other_login' | 'not_renewable'
): Promise<PortalOutcome> {
  const target = attempt.renewConnectionId ?? attempt.attemptId
  const entry = { ...portalAudit(deps, attempt, browserSession, 'connection.renew', 'refused', { reason }), target }
  return ended(attempt, (await deps.store.attempts.end(attempt.attemptId, 'failed', entry)) ? reason : 'used')
}
