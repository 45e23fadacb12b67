/** Positions of brokers whose list lacks something, such as prices. */

import type { PositionReport } from '@trunkline/core/ports/broker'
import type { Login, ReadDefinitions } from './definition.ts'
import type { AccountQuery, ListRead } from './read-definitions.ts'

/** Positions that are read as rows first, and then completed by something else. */
export function completed<Resource extends string, Row>(
  list: ListRead<Resource, AccountQuery, Row>,
  complete: (rows: readonly Row[], account: string, login: Login<Resource>, signal: AbortSignal) => Promise<readonly PositionReport[]>
): ReadDefinitions<Resource>['positions'] {
  return async (login, query, signal) => {
    const { known, ...rest } = await login.reads.list(list, query, signal)
    return { ...rest, known: await complete(known, query.account, login, signal) }
  }
}
