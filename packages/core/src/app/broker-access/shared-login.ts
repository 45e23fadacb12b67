import type { BrokerDefinition } from '../../ports/broker.ts'
import type { Store } from '../../ports/store.ts'

/**
 * Whether revoking a login with these accounts may end another login, of a connection or of one that can still be claimed. Null accounts:
 * unknown. Two customers may share accounts; then a login stays valid that could have been revoked.
 */
export async function mayEndAnother(
  store: Pick<Store, 'connections'>,
  { capabilities: { id, revocation } }: Pick<BrokerDefinition, 'capabilities'>,
  brokerAccountIds: readonly string[] | null
): Promise<boolean> {
  if (revocation !== 'customer') return false
  return brokerAccountIds === null || (await store.connections.reaches(id, brokerAccountIds))
}
