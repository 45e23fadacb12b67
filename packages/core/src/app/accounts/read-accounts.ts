import type { Account, ConnectionHealth } from '../../domain/account.ts'
import type { Freshness, Read } from '../../domain/freshness.ts'
import type { UserCaller } from '../caller.ts'
import type { Directory } from '../directory.ts'
import { NOT_STORED } from '../mirror/health-reasons.ts'
import type { Mirrors } from '../mirror/mirrors.ts'
import { type AccountScope, accountsInScope } from './freshened.ts'

interface ListingDeps {
  readonly directory: Directory
  readonly mirrors: Mirrors
}

/** The user's accounts, as listed by their brokers at login. @throws ServiceError account_not_found, connection_not_found. */
export async function listAccounts(deps: ListingDeps, caller: UserCaller, scope: AccountScope): Promise<Read<Account>> {
  const rows = await accountsInScope(deps, caller, scope)
  const connections = await deps.directory.connections(caller.user.userKey)
  const byId = new Map(connections.map(connection => [connection.connectionId, connection]))
  const freshness = rows.flatMap(({ accountId, connectionId }): readonly Freshness[] => {
    const connection = byId.get(connectionId)
    return connection === undefined ? [] : [{ accountId, confirmed: connection.createdAt, ...worth(deps.mirrors.health(connection)) }]
  })
  return { rows, freshness }
}

function worth({ state, reason }: ConnectionHealth): Pick<Freshness, 'state' | 'reason'> {
  return reason === NOT_STORED ? { state: 'stale', reason: 'not_stored' } : WORTH[state]
}

const WORTH: { readonly [state in ConnectionHealth['state']]: Pick<Freshness, 'state' | 'reason'> } = {
  live: { state: 'live', reason: null },
  polling: { state: 'fresh', reason: null },
  stale: { state: 'stale', reason: 'broker_unavailable' },
  broken: { state: 'stale', reason: 'connection_broken' }
}
