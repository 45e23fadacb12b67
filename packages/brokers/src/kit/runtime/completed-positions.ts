/** Positions of brokers whose list lacks something, such as prices. */

import type { PositionReport } from '@trunkline/core/ports/broker'
import type { ReadDefinitions } from './definition.ts'
import type { AccountQuery, ListRead } from './read-definitions.ts'

/** Positions that are read as rows first, and then completed by something else, such as quotes. */
export function completed<Resource extends string, Row>(
  list: ListRead<Resource, AccountQuery, Row>,
  complete: (
    rows: readonly Row[],
    query: AccountQuery,
    ...more: Parameters<ReadDefinitions<Resource>['positions']>
  ) => Promise<readonly PositionReport[]>
): ReadDefinitions<Resource>['positions'] {
  return async (login, query, signal) => {
    const { known, leftOut } = await login.reads.list(list, query, signal)
    return { known: await complete(known, query, login, query, signal), leftOut }
  }
}
