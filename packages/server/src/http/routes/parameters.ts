// What the parameters of several lists share.
import type { AccountScope } from '@trunkline/core/app/accounts/freshened'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { AccountId, BrokerId, ConnectionId } from '@trunkline/core/domain/ids'
import { cursorParam, integer } from '../params.ts'

/** The accounts that the query of a read selects. */
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

/**
 * Refuses a range that ends before it begins. Both texts must have the same format, which sorts by time.
 * @throws ServiceError query_invalid.
 */
export function orderedTimes(from: string | undefined, to: string | undefined, fromName: string, toName: string): void {
  if (from === undefined || to === undefined || from <= to) return
  const message = `must not be before ${fromName}`
  throw new ServiceError('query_invalid', `${toName} ${message}.`, { details: [{ path: toName, message }] })
}

/** Rows on a page of a list that shows no orders. */
export const PAGE_ROWS = { maximum: 1_000, fallback: 100 }

/** The parameters of every paged list. */
export function paging(limit: { readonly maximum: number; readonly fallback: number }) {
  return {
    limit: integer({ minimum: 1, ...limit }, 'Maximum number of rows on a page.'),
    next_cursor: cursorParam('The `next_cursor` of a page: returns the page after it. Cannot be combined with `prev_cursor`.'),
    prev_cursor: cursorParam('The `prev_cursor` of a page: returns the page before it.')
  }
}
