import type { BrokerDefinition } from '../../ports/broker.ts'
import type { Store } from '../../ports/store.ts'

/**
 * Whether revoking a login that reaches these accounts may end what another connection, or one that waits to be claimed, lives on. Null: it is
 * unknown which accounts it reaches. Accounts in common may also belong to two customers; then a login stays that could have been revoked.
 */
export async function mayEndAnother(
  store: Pick<Store, 'connections'>,
  { capabilities: { id, revocation } }: Pick<BrokerDefinition, 'capabilities'>,
  brokerAccountIds: readonly string[] | null
): Promise<boolean> {
  if (revocation !== 'customer') return false
  return brokerAccountIds === null || (await store.connections.reaches(id, brokerAccountIds))
}
