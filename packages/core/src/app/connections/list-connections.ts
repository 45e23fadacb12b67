import type { Account, Connection } from '../../domain/account.ts'
import type { ConnectionStatus } from '../../domain/vocabulary.ts'
import type { Page, PageRequest } from '../../ports/store.ts'
import type { PlatformCaller, UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'

export interface ConnectionWithAccounts {
  readonly connection: Connection
  readonly accounts: readonly Account[]
}

/** The user's connections, newest first. */
export async function listConnections(
  { store }: Pick<Deps, 'store'>,
  caller: UserCaller,
  status: ConnectionStatus | null
): Promise<readonly ConnectionWithAccounts[]> {
  return withAccounts({ store }, await store.connections.listByUser(caller.user.userKey, status))
}

/** Connections of all the platform's users, newest first, paged. */
export async function listPlatformConnections(
  { store }: Pick<Deps, 'store'>,
  caller: PlatformCaller,
  status: ConnectionStatus | null,
  request: PageRequest
): Promise<Page<ConnectionWithAccounts>> {
  const page = await store.connections.listByPlatform(caller.platform.platformId, status, request)
  return { ...page, rows: await withAccounts({ store }, page.rows) }
}

async function withAccounts(
  { store }: Pick<Deps, 'store'>,
  connections: readonly Connection[]
): Promise<readonly ConnectionWithAccounts[]> {
  const accounts = await store.accounts.listByConnections(connections.map(({ connectionId }) => connectionId))
  const byConnection = Map.groupBy(accounts, ({ connectionId }) => connectionId)
  return connections.map(connection => ({ connection, accounts: byConnection.get(connection.connectionId) ?? [] }))
}
