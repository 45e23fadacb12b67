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

const cancelResult = record('CancelResult', 'What became of one order.', {
  account_id: uuid,
  order_id: uuid,
  cl_order_id: Type.String(),
  result: oneOf(CANCEL_RESULTS, {
    description:
      '`cancelled`: the broker has confirmed it. `requested`: it has not yet, and the order can still fill; follow it. `ended`: the order came to another end. `refused`: the broker refused, see `message`, and the order goes on. `failed`: it could not be asked, see `code`. `not_attempted`: time ran out; ask again.'
  }),
  normalized_status: oneOf(ORDER_STATUSES),
  code: nullable(
    oneOf([...ERROR_CODES, BROKER_REFUSED]),
    'Of `failed`: the code that a request for this order alone would get. Of `refused`: `broker_refused`. Null for every other result.'
  ),
  message: nullable(Type.String(), 'Of `failed` and `refused`: why; of `refused` the broker’s message.')
})

export const cancelResults = record('CancelResults', 'Each order by itself.', {
  results: Type.Array(cancelResult),
  remaining: Type.Integer({ description: 'Open orders beyond these; when above zero, ask again.' })
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
