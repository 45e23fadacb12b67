import type { AccountScope } from '@trunkline/core/app/accounts/freshened'
import { CANCELS_MAX, cancelOrders } from '@trunkline/core/app/orders/cancel-orders'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseUuid } from '@trunkline/core/domain/ids'
import type { Static } from 'typebox'
import { cancelResults, cancelTicket, presentCancelled } from '../../../wire/cancel.ts'
import { userEndpoint } from '../../endpoint.ts'
import { withFreshness } from '../../freshness.ts'
import { FRESHNESS } from '../accounts/freshness.ts'

export const postCancel = userEndpoint({
  method: 'POST',
  path: '/orders/cancel',
  scope: 'trade',
  operationId: 'cancelOrders',
  tag: 'Orders',
  summary: 'Cancel all open orders',
  description: `Cancels the open orders of an account, of a connection, or of the user: send exactly one of \`account_id\`, \`connection_id\` and \`all\`. One request cancels at most ${CANCELS_MAX} orders. Each is cancelled separately and has its own result; an order whose cancel is only requested is not reported as cancelled. If you send the request again, it cancels the orders that are still open and repeats no cancel.`,
  failures: ['account_not_found', 'connection_not_found'],
  body: cancelTicket,
  bodyExample: { account_id: '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71' },
  success: { status: 200, headers: FRESHNESS, description: 'The result for each order.', schema: cancelResults },
  async handle({ caller, body }, { deps }) {
    const cancelled = await cancelOrders(deps, caller, scopeOf(body))
    return withFreshness(presentCancelled(cancelled), cancelled.freshness)
  }
})

function scopeOf({ account_id: accountId, connection_id: connectionId, all }: Static<typeof cancelTicket>): AccountScope {
  if ([accountId, connectionId, all].filter(given => given !== undefined).length !== 1) {
    const message = 'exactly one of account_id, connection_id and all must be given'
    throw new ServiceError('field_invalid', `Say which orders to cancel: ${message}.`, { details: [{ path: 'account_id', message }] })
  }
  return {
    ...(accountId !== undefined && { accountId: parseUuid(accountId, 'account_id') }),
    ...(connectionId !== undefined && { connectionId: parseUuid(connectionId, 'connection_id') })
  }
}
