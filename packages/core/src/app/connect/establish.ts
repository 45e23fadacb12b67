import type { Account, Connection, ConnectionAttempt, User } from '../../domain/account.ts'
import type { AccountId, ConnectionId } from '../../domain/ids.ts'
import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import type { BrokerAccount, BrokerDefinition, Credentials } from '../../ports/broker.ts'
import { CommitUnknown, type PendingClaim, type SealedValue } from '../../ports/store.ts'
import { sealCredentials } from '../broker-access/credentials.ts'
import { endpointOf } from '../broker-access/endpoints.ts'
import { abandon, FreshCredentials, giveBack, type ReadLogin, readAccounts, type UnreadLogin } from './fresh-login.ts'
import { connected, ended, type PortalOutcome } from './portal-outcome.ts'
import { renew } from './renew.ts'
import { type BrowserSession, type PortalDeps, portalAudit } from './visit.ts'

/** How long a connection can be claimed. */
export const CLAIM_MINUTES = 10

/**
 * Reads the accounts of a new login and stores it, with sealed credentials, as the attempt's connection, or as the login of the connection
 * that the attempt renews. If it becomes neither, its credentials are revoked, unless a connection may use the same login.
 * @throws BrokerFault if the broker does not return the accounts.
 */
export async function establish(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  definition: BrokerDefinition,
  credentials: Credentials,
  browserSession: BrowserSession
): Promise<PortalOutcome> {
  const { renewConnectionId } = attempt
  if (renewConnectionId !== null) return renew(deps, attempt, renewConnectionId, { definition, credentials }, browserSession)
  const holder = new FreshCredentials(credentials)
  let found: UnreadLogin['found'] = null
  let made: Prepared | null = null
  try {
    found = await readAccounts(definition, holder)
    const ready = await prepared(deps, attempt, definition, { found, credentials: holder.newest })
    made = ready !== null && (await isStored(deps, attempt, ready, browserSession)) ? ready : null
  } catch (cause) {
    // With an unconfirmed commit, the credentials may be stored.
    if (!(cause instanceof CommitUnknown)) await abandon(deps, attempt, definition, { found, credentials: holder.newest })
    throw cause
  }
  if (made === null) {
    await giveBack(deps, attempt, definition, { found, credentials: holder.newest })
    return ended(attempt, (await deps.store.users.findByKey(attempt.userKey)) === null ? 'user_removed' : 'used')
  }
  const { userKey, connectionId } = made.connection
  if (made.claim !== null) return connected(attempt, connectionId, made.claim.code)
  deps.bus.publish({ type: 'connection_changed', userKey, connectionId })
  return connected(attempt, connectionId)
}

interface Prepared {
  readonly connection: Connection
  readonly accounts: readonly Account[]
  readonly sealed: SealedValue
  /** Null: the platform does not claim connections. */
  readonly claim: (PendingClaim & { readonly code: string }) | null
}

/** Everything to be stored; null if the user was deleted meanwhile. */
async function prepared(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  definition: BrokerDefinition,
  { found, credentials }: ReadLogin
): Promise<Prepared | null> {
  const [user, platform] = await Promise.all([deps.store.users.findByKey(attempt.userKey), deps.store.platforms.find(attempt.platformId)])
  if (user === null || platform === null) return null
  const connection = newConnection(deps, attempt, definition, user)
  const sealed = sealCredentials(deps.vault, connection, { credentials, endpoint: endpointOf(definition) }, 1)
  return {
    connection,
    accounts: found.items.map(account => newAccount(deps, connection, account)),
    sealed,
    claim: platform.claims ? newClaim(deps) : null
  }
}

function newClaim({ ids, hasher, clock }: PortalDeps): Prepared['claim'] {
  const code = ids.secret('')
  return { code, codeHash: hasher.hash(code), expiresAt: timestampOfMs(epochMs(clock.now()) + CLAIM_MINUTES * 60_000) }
}

/** False if the attempt has ended meanwhile. */
async function isStored(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  { connection, accounts, sealed, claim }: Prepared,
  browserSession: BrowserSession
): Promise<boolean> {
  const { broker, connectionId } = connection
  const entry = portalAudit(deps, attempt, browserSession, 'connection.create', 'ok', {
    ...{ broker, accounts: accounts.length },
    ...(claim === null ? {} : { pending_claim: true })
  })
  try {
    return await deps.store.connections.create(
      connection,
      accounts,
      sealed,
      attempt.attemptId,
      { ...entry, target: connectionId },
      claim ?? undefined
    )
  } catch (cause) {
    // The user must not see a failure of something that succeeded.
    if (cause instanceof CommitUnknown && (await isKnown(deps, connectionId))) return true
    throw cause
  }
}

async function isKnown({ store: { connections } }: PortalDeps, connectionId: ConnectionId): Promise<boolean> {
  // In this order: a connection claimed between the two reads is found by the second.
  return (await connections.findUnclaimed(connectionId)) !== null || (await connections.find(connectionId)) !== null
}

function newConnection({ ids, clock }: PortalDeps, attempt: ConnectionAttempt, definition: BrokerDefinition, user: User): Connection {
  const at = clock.now()
  return {
    connectionId: ids.uuid<ConnectionId>(),
    platformId: attempt.platformId,
    userKey: user.userKey,
    userId: user.userId,
    broker: definition.capabilities.id,
    connectionType: attempt.connectionType,
    status: 'ACTIVE',
    endpoint: endpointOf(definition),
    brokenCode: null,
    brokenReason: null,
    createdAt: at,
    updatedAt: at
  }
}

function newAccount({ ids }: PortalDeps, { connectionId, userKey, broker }: Connection, account: BrokerAccount): Account {
  return { ...account, accountId: ids.uuid<AccountId>(), connectionId, userKey, broker }
}
