import type { Account, Connection } from '../domain/account.ts'
import { ServiceError } from '../domain/errors.ts'
import type { AccountId, ConnectionId } from '../domain/ids.ts'
import type { UserCaller } from './caller.ts'
import type { Directory, Owned } from './directory.ts'

interface OwnedDeps {
  readonly directory: Directory
}

/** The caller's own connection. Another user's is reported as unknown. @throws ServiceError connection_not_found. */
export async function ownedConnection({ directory }: OwnedDeps, caller: UserCaller, connectionId: ConnectionId): Promise<Connection> {
  return connectionOf(await directory.of(caller.user.userKey), connectionId)
}

/** @throws ServiceError connection_not_found. */
export function connectionOf({ connections }: Owned, connectionId: ConnectionId): Connection {
  const connection = connections.find(known => known.connectionId === connectionId)
  if (connection !== undefined) return connection
  throw connectionNotFound()
}

export function connectionNotFound(): ServiceError {
  return new ServiceError('connection_not_found', 'This user has no connection with this connection_id; list them with GET /connections.')
}

/** The caller's own account. @throws ServiceError account_not_found. */
export async function ownedAccount({ directory }: OwnedDeps, caller: UserCaller, accountId: AccountId): Promise<Account> {
  return accountOf(await directory.of(caller.user.userKey), accountId)
}

/** @throws ServiceError account_not_found. */
export function accountOf({ accounts }: Owned, accountId: AccountId): Account {
  const account = accounts.find(known => known.accountId === accountId)
  if (account !== undefined) return account
  throw new ServiceError('account_not_found', 'This user has no account with this account_id; list them with GET /accounts.')
}
