import { ServiceError } from '../../domain/errors.ts'
import type { UserKey } from '../../domain/ids.ts'
import type { Ownership } from '../../ports/ownership.ts'

/**
 * Only the owner asks brokers: it has the user's quotas and mirrors. Another node names it.
 * @throws ServiceError broker_unavailable
 */
export function demandOwned({ ownership }: { readonly ownership: Pick<Ownership, 'ownerOf'> }, userKey: UserKey): void {
  const owner = ownership.ownerOf(userKey)
  if (owner.kind === 'this') return
  const where = owner.kind === 'none' ? 'no node for a moment' : `node ${owner.node.nodeId}, which other nodes reach at ${owner.node.url}`
  throw new ServiceError('broker_unavailable', `The node that answers does not ask brokers for this user: ${where} does. Try again there.`)
}
