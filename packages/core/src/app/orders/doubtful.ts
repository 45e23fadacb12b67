import { CommitUnknown } from '../../ports/store.ts'
import type { AppDeps } from '../deps.ts'
import type { Placed } from './order-gateway.ts'

/**
 * Writes an intent. When nobody can say whether it was written, it is not sent, and its orders are watched: one that turns out to be there
 * then ends like any other whose sending nobody knows of. It may turn up late, so its connection is followed for a while as well. Throws what
 * `write` throws.
 */
export async function resolvedIfDoubtful<T>(
  { resolver, mirrors }: Pick<AppDeps, 'resolver' | 'mirrors'>,
  orders: readonly Placed[],
  write: () => Promise<T>
): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (!(cause instanceof CommitUnknown)) throw cause
    for (const placed of orders) {
      mirrors.want(placed.connection)
      resolver.watch(placed)
    }
    throw cause
  }
}
