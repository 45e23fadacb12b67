// Which accounts a read is about, as its query says.
import type { AccountScope } from '@trunkline/core/app/accounts/scope'
import type { AccountId, BrokerId, ConnectionId } from '@trunkline/core/domain/ids'

export function scopeOf(asked: {
  readonly account_id?: AccountId | undefined
  readonly connection_id?: ConnectionId | undefined
  readonly broker?: BrokerId | undefined
}): AccountScope {
  return {
    ...(asked.account_id !== undefined && { accountId: asked.account_id }),
    ...(asked.connection_id !== undefined && { connectionId: asked.connection_id }),
    ...(asked.broker !== undefined && { broker: asked.broker })
  }
}
