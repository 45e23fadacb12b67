/** Reads that are one list, as it is or completed by something else. */

import type { PositionReport } from '@trunkline/core/ports/broker'
import type { Login, Read } from './definition.ts'
import type { AccountQuery, ListRead } from './read-definitions.ts'

/** Positions that are read as rows first, and then completed by something else. */
export function completed<Resource extends string, Row>(
  list: ListRead<Resource, AccountQuery, Row>,
  complete: (rows: readonly Row[], account: string, login: Login<Resource>, signal: AbortSignal) => Promise<readonly PositionReport[]>
): Read<Resource, AccountQuery, PositionReport> {
  return async (login, query, signal) => {
    const { known, ...rest } = await login.reads.list(list, query, signal)
    return { ...rest, known: await complete(known, query.account, login, signal) }
  }
}

/** A read that is one list. The broker's clock is not reported: what is dated by it is compared with nothing. */
export function listed<Resource extends string, Query, T>(list: ListRead<Resource, Query, T>): Read<Resource, Query, T> {
  return async ({ reads }, query, signal) => {
    const { known, leftOut, asOf } = await reads.list(list, query, signal)
    return { known, leftOut, asOf }
  }
}
