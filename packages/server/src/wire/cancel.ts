import { BROKER_REFUSED, CANCEL_RESULTS, type Cancelled } from '@trunkline/core/app/orders/cancel-orders'
import { ERROR_CODES } from '@trunkline/core/domain/errors'
import { ORDER_STATUSES } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { nullable, oneOf, record, ticket, uuid } from './common.ts'

export const cancelTicket = ticket('CancelOrders', {
  account_id: Type.Optional(uuid),
  connection_id: Type.Optional(uuid),
  all: Type.Optional(Type.Literal(true, { description: 'Every account of the user.', 'x-expected': 'true' }))
})

const cancelResult = record('CancelResult', 'The result for one order.', {
  account_id: uuid,
  order_id: uuid,
  cl_order_id: Type.String(),
  result: oneOf(CANCEL_RESULTS, {
    description:
      '`cancelled`: the broker confirmed the cancel. `requested`: it has not confirmed it yet, and the order can still fill; follow the order. `ended`: the order ended in another way. `refused`: the broker refused, see `message`; the order is still open. `failed`: the broker could not be asked, see `code`. `not_attempted`: the time limit was reached; send the request again.'
  }),
  normalized_status: oneOf(ORDER_STATUSES),
  code: nullable(
    oneOf([...ERROR_CODES, BROKER_REFUSED]),
    'For `failed`: the error code that cancelling only this order would return. For `refused`: `broker_refused`. Null for every other result.'
  ),
  message: nullable(Type.String(), 'For `failed`: the reason. For `refused`: the broker’s message. Null for every other result.')
})

export const cancelResults = record('CancelResults', 'A separate result for each order.', {
  results: Type.Array(cancelResult),
  remaining: Type.Integer({
    description: 'The number of open orders that this request did not cover. If it is above zero, send the request again.'
  })
})

export function presentCancelled({ results, remaining }: Cancelled): Static<typeof cancelResults> {
  return {
    results: results.map(({ result, order, failure }) => ({
      account_id: order.accountId,
      order_id: order.orderId,
      cl_order_id: order.clOrdId,
      result,
      normalized_status: order.status,
      code: failure?.code ?? null,
      message: failure?.message ?? null
    })),
    remaining
  }
}
