import type { Account, Connection, ConnectionHealth, LeftOut } from '../../domain/account.ts'
import type { ConnectionStatus } from '../../domain/vocabulary.ts'
import type { Page, PageRequest } from '../../ports/store.ts'
import type { PlatformCaller, UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { Mirrors } from '../mirror/mirrors.ts'

export interface ConnectionWithAccounts {
  readonly connection: Connection
  readonly accounts: readonly Account[]
  readonly health: ConnectionHealth
  /** Records that the broker lists and that cannot be read; null: none. */
  readonly leftOut: LeftOut | null
}

interface ListDeps extends Pick<Deps, 'store'> {
  readonly mirrors: Mirrors
}

/** The user's connections, newest first. */
export async function listConnections(
  deps: ListDeps,
  caller: UserCaller,
  status: ConnectionStatus | null
): Promise<readonly ConnectionWithAccounts[]> {
  return completed(deps, await deps.store.connections.listByUser(caller.user.userKey, status))
}

/** Connections of all the platform's users, newest first, paged. */
export async function listPlatformConnections(
  deps: ListDeps,
  caller: PlatformCaller,
  status: ConnectionStatus | null,
  request: PageRequest
): Promise<Page<ConnectionWithAccounts>> {
  const page = await deps.store.connections.listByPlatform(caller.platform.platformId, status, request)
  return { ...page, rows: await completed(deps, page.rows) }
}

async function completed({ store, mirrors }: ListDeps, connections: readonly Connection[]): Promise<readonly ConnectionWithAccounts[]> {
  const accounts = await store.accounts.listByConnections(connections.map(({ connectionId }) => connectionId))
  const byConnection = Map.groupBy(accounts, ({ connectionId }) => connectionId)
  return connections.map(connection => ({
    connection,
    accounts: byConnection.get(connection.connectionId) ?? [],
    health: mirrors.health(connection),
    leftOut: mirrors.leftOut(connection)
  }))
}
