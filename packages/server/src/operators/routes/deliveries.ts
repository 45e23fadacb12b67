import { ServiceError } from '@trunkline/core/domain/errors'
import type { UserKey, WebhookEndpointId } from '@trunkline/core/domain/ids'
import { uuidInPath } from '../../http/params.ts'
import { type Operation, operation } from '../endpoint.ts'
import { LIMIT, onlyPage, pageOf, paging } from '../paging.ts'
import { deliveryPage, presentDeliveryRow } from '../records.ts'

export const DELIVERIES: readonly Operation[] = [
  operation({
    scope: 'read',
    tag: 'Webhooks',
    method: 'GET',
    path: '/webhook-deliveries',
    operationId: 'listOperatorWebhookDeliveries',
    summary: 'List attempts to send webhooks',
    description: 'To an endpoint, or of the events of a user: one of the two is required. Of a user without an endpoint there is one page.',
    query: {
      endpoint: uuidInPath<WebhookEndpointId>('Only attempts to this endpoint.'),
      user: uuidInPath<UserKey>('Only attempts to send this user’s events, by the `user_key`.'),
      ...paging
    },
    success: { status: 200, description: 'One page of attempts, the newest first.', schema: deliveryPage },
    async handle({ query: requested }, { app: { store }, reads, cursors }) {
      const { endpoint, user, limit = LIMIT.fallback } = requested
      if (endpoint === undefined) {
        if (user === undefined) throw oneOfBoth()
        return onlyPage(await reads.newestDeliveries(user, limit), presentDeliveryRow)
      }
      const scope = ['operator-deliveries', endpoint, user]
      const request = cursors.forward(requested, scope, LIMIT.fallback)
      const filter = user === undefined ? {} : { userKey: user }
      return pageOf(cursors, await store.webhooks.deliveries.list(endpoint, filter, request), scope, presentDeliveryRow)
    }
  })
]

function oneOfBoth(): ServiceError {
  const message = 'is required, or user'
  return new ServiceError('query_invalid', `endpoint ${message}.`, { details: [{ path: 'endpoint', message }] })
}
