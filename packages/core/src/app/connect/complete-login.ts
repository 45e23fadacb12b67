import type { Account, Connection, ConnectionAttempt, User } from '../../domain/account.ts'
import type { AccountId, BrokerId, ConnectionId } from '../../domain/ids.ts'
import {
  type BrokerAccount,
  type BrokerDefinition,
  BrokerFault,
  type Credentials,
  type CredentialsHolder,
  LoginDeclined
} from '../../ports/broker.ts'
import { CommitUnknown, type SealedValue } from '../../ports/store.ts'
import { SealBroken } from '../../ports/vault.ts'
import { sealCredentials } from '../connections/credentials.ts'
import { fail, verifierContext } from './decide.ts'
import { connected, type Ending, ended } from './ending.ts'
import { type PortalDeps, portalAudit, troubleOf, type Visitor } from './visit.ts'

const LOGIN_MS = 20_000
const REVOKE_MS = 5_000

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
 * is exchanged, the accounts are read, and the connection exists with its sealed credentials.
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
    return await connect(deps, attempt, definition, credentials, visitor)
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

async function connect(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  definition: BrokerDefinition,
  credentials: Credentials,
  visitor: Visitor
): Promise<Ending> {
  const holder = new FreshCredentials(credentials)
  const made = await prepared(deps, attempt, definition, holder).catch(async cause => {
    await giveBack(deps, attempt, definition, holder.newest)
    throw cause
  })
  if (made === null || !(await isStored(deps, attempt, made, visitor))) {
    await giveBack(deps, attempt, definition, holder.newest)
    return ended(attempt, 'used')
  }
  const { userKey, connectionId } = made.connection
  deps.bus.publish({ type: 'connection_changed', userKey, connectionId })
  return connected(attempt, connectionId)
}

interface Prepared {
  readonly connection: Connection
  readonly accounts: readonly Account[]
  readonly sealed: SealedValue
}

/** Everything there is to store; null when the user has been deleted meanwhile. */
async function prepared(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  definition: BrokerDefinition,
  holder: FreshCredentials
): Promise<Prepared | null> {
  const user = await deps.store.users.findByKey(attempt.userKey)
  if (user === null) return null
  const accounts = await readAccounts(definition, holder)
  const connection = newConnection(deps, attempt, definition, user)
  const sealed = sealCredentials(deps.vault, connection, holder.newest, 1)
  return { connection, accounts: accounts.map(account => newAccount(deps, connection, account)), sealed }
}

/** False when the attempt has ended meanwhile. */
async function isStored(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  { connection, accounts, sealed }: Prepared,
  visitor: Visitor
): Promise<boolean> {
  const { broker, connectionId } = connection
  const entry = portalAudit(deps, attempt, visitor, 'connection.create', 'ok', { broker, accounts: accounts.length })
  try {
    return await deps.store.connections.create(connection, accounts, sealed, attempt.attemptId, { ...entry, target: connectionId })
  } catch (cause) {
    // The user must not be told that it failed when it did not.
    if (cause instanceof CommitUnknown && (await deps.store.connections.find(connectionId)) !== null) return true
    throw cause
  }
}

/** Revokes what the broker granted and nobody will use, once: a grant that is left over does no more than wait for its end. */
async function giveBack(
  deps: PortalDeps,
  attempt: ConnectionAttempt,
  { login }: BrokerDefinition,
  credentials: Credentials
): Promise<void> {
  const { attemptId, broker } = attempt
  await login.revoke(credentials, AbortSignal.timeout(REVOKE_MS)).catch(cause => {
    deps.log.warn('a broker’s grant that led to no connection could not be revoked', { attemptId, broker, cause })
  })
}

async function readAccounts(definition: BrokerDefinition, holder: CredentialsHolder): Promise<readonly BrokerAccount[]> {
  await using session = definition.open(holder)
  return await session.accounts(AbortSignal.timeout(LOGIN_MS))
}

function newConnection({ ids, clock }: PortalDeps, attempt: ConnectionAttempt, { capabilities }: BrokerDefinition, user: User): Connection {
  const at = clock.now()
  return {
    connectionId: ids.uuid<ConnectionId>(),
    platformId: attempt.platformId,
    userKey: user.userKey,
    userId: user.userId,
    broker: capabilities.id,
    connectionType: attempt.connectionType,
    status: 'ACTIVE',
    brokenReason: null,
    createdAt: at,
    updatedAt: at
  }
}

function newAccount({ ids }: PortalDeps, { connectionId, userKey, broker }: Connection, account: BrokerAccount): Account {
  return { ...account, accountId: ids.uuid<AccountId>(), connectionId, userKey, broker }
}

/** Credentials of a login that is not stored yet. A broker may rotate them on first use, so the newest are what gets sealed. */
class FreshCredentials implements CredentialsHolder {
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
