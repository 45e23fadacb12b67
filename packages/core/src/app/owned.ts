import type { Account, Connection } from '../domain/account.ts'
import { ServiceError } from '../domain/errors.ts'
import type { AccountId, ConnectionId } from '../domain/ids.ts'
import type { UserCaller } from './caller.ts'
import type { Directory } from './directory.ts'

/** The caller's own connection. Another user's is reported as unknown. @throws ServiceError connection_not_found. */
export async function ownedConnection(
  { directory }: { readonly directory: Directory },
  caller: UserCaller,
  connectionId: ConnectionId
): Promise<Connection> {
  const connection = (await directory.connections(caller.user.userKey)).find(known => known.connectionId === connectionId)
  if (connection !== undefined) return connection
  throw connectionNotFound()
}

export function connectionNotFound(): ServiceError {
  return new ServiceError('connection_not_found', 'This user has no connection with this connection_id; list them with GET /connections.')
}

/** The caller's own account. @throws ServiceError account_not_found. */
export async function ownedAccount(
  { directory }: { readonly directory: Directory },
  caller: UserCaller,
  accountId: AccountId
): Promise<Account> {
  const account = (await directory.accounts(caller.user.userKey)).find(known => known.accountId === accountId)
  if (account !== undefined) return account
  throw new ServiceError('account_not_found', 'This user has no account with this account_id; list them with GET /accounts.')
}
