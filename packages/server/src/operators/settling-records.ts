// Orders of unknown outcome, as operators end them.
import type { AbandonedOrder } from '@trunkline/core/app/operators/settling'
import Type, { type Static } from 'typebox'
import { nullable, record, ticket, timestamp, uuid } from '../wire/common.ts'
import { facts, orderRow, page } from './records.ts'

const because = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'How you know that the broker never received it; written to the audit log.',
  examples: ['the broker confirmed it by telephone']
})
const unseen = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'The broker is not asked, because it does not answer and you checked its records by other means.'
  })
)
const setName = Type.String({
  pattern: '^[0-9a-f]{16}$',
  examples: ['5f0c2b9e1d7a4c36'],
  'x-expected': 'the name of a set that a trial answered'
})

export const settlingTicket = ticket('OrderNeverReceived', { because, unseen })

export const setTicket = ticket('OrdersNeverReceived', {
  broker: Type.Optional(
    nullable(
      Type.String({ pattern: '^[A-Z][A-Z0-9_]{1,31}$', 'x-expected': 'a broker such as TRADESTATION' }),
      'Only orders at this broker.'
    )
  ),
  connection_id: Type.Optional(nullable(uuid, 'Only orders of this connection.')),
  older_than_hours: Type.Optional(
    nullable(
      Type.Integer({ minimum: 1, maximum: 9_999, 'x-expected': 'a whole number of hours from 1 to 9999' }),
      'Only orders that were entered before that.'
    )
  ),
  because,
  unseen,
  set: Type.Optional(nullable(setName, 'Of the trial whose orders are ended; absent or null: a trial.'))
})

export const endedSet = record('OrdersEnded', 'Orders that were ended or, in a trial, would be.', {
  is_trial: Type.Boolean({ description: 'Whether nothing was ended.' }),
  fitting: Type.Integer({ description: 'How many unresolved orders match; 1,000 are considered at most.' }),
  set: Type.String({ description: 'The name of the set of `orders`.' }),
  orders: Type.Array(orderRow),
  kept: Type.Array(record('KeptOrder', 'An order that is not ended.', { order_id: uuid, why: Type.String() }))
})

const abandonedRow = record('AbandonedOrder', 'An order of a removed connection, whose outcome nobody knows.', {
  order_id: uuid,
  removed_at: timestamp,
  detail: facts('What is known of it: its ids, its account, its terms.')
})
export const abandonedPage = page('AbandonedOrderPage', abandonedRow)

export function presentAbandoned({ orderId, removedAt, detail }: AbandonedOrder): Static<typeof abandonedRow> {
  return { order_id: orderId, removed_at: removedAt, detail }
}
