// The accounts that the query of a read selects.
import type { AccountScope } from '@trunkline/core/app/accounts/freshened'
import type { AccountId, BrokerId, ConnectionId } from '@trunkline/core/domain/ids'

export function scopeOf(requested: {
  readonly account_id?: AccountId | undefined
  readonly connection_id?: ConnectionId | undefined
  readonly broker?: BrokerId | undefined
}): AccountScope {
  return {
    ...(requested.account_id !== undefined && { accountId: requested.account_id }),
    ...(requested.connection_id !== undefined && { connectionId: requested.connection_id }),
    ...(requested.broker !== undefined && { broker: requested.broker })
  }
}
