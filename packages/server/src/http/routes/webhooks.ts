import { listDeliveries, type ReplayWanted, readDelivery, replay, sendTest } from '@trunkline/core/app/webhooks/deliveries'
import {
  createEndpoint,
  editEndpoint,
  listEndpoints,
  readEndpoint,
  removeEndpoint,
  rotateEndpointKeys,
  setEndpointEnabled
} from '@trunkline/core/app/webhooks/endpoints'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseUserId, type WebhookDeliveryId, type WebhookEndpointId } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import { TESTS_PER_MINUTE } from '@trunkline/core/ports/webhook-requests'
import type { Static } from 'typebox'
import {
  acceptedReplay,
  deletedEndpoint,
  deliveryDetail,
  deliveryPage,
  editOf,
  endpointChange,
  endpointDetail,
  endpointList,
  endpointTicket,
  endpointWithSecret,
  filterOf,
  presentDelivery,
  presentDeliveryDetail,
  presentEndpoint,
  presentLag,
  presentTest,
  replayTicket,
  rotation,
  testRecord
} from '../../wire/webhook.ts'
import { type Endpoint, platformEndpoint } from '../endpoint.ts'
import { oneOf, plainText, time, userIdParam, uuidInPath } from '../params.ts'
import { fieldInvalid } from '../problems.ts'
import { orderedTimes, PAGE_ROWS, paging } from './parameters.ts'

const shared = { scope: 'users', tag: 'Webhooks' } as const
const reading = { scope: 'read', tag: 'Webhooks' } as const
const params = { endpoint_id: uuidInPath<WebhookEndpointId>('The endpoint.') }
const ofDelivery = { ...params, delivery_id: uuidInPath<WebhookDeliveryId>('The delivery.') }
const failures = ['webhook_endpoint_not_found'] as const
const OVERLAP_HOURS = 24

const query = {
  user_id: { ...userIdParam, description: 'Only deliveries of this user’s updates.' },
  message_id: plainText(256, 'Only attempts of this message.', 'msg_2Lxj1yYb1yD0Qy4hG0c0Zz'),
  outcome: oneOf(['succeeded', 'failed'], 'Only attempts that ended so.'),
  start_time: time('Attempts that began at or after this time.'),
  end_time: time('Attempts that began at or before this time.'),
  ...paging(PAGE_ROWS)
}

export const WEBHOOKS: readonly Endpoint[] = [
  platformEndpoint({
    ...shared,
    method: 'POST',
    path: '/webhook-endpoints',
    operationId: 'createWebhookEndpoint',
    summary: 'Create a webhook endpoint',
    description: `From now on the updates of all users of the platform are posted there, as the broker stream sends them: the updates of one user
in the order of \`seq\`, those of several users side by side. A message is tried again until the endpoint answers with a status from 200 to 299, with
pauses that grow to a day. Messages are signed by Standard Webhooks; the response contains the secret, which is shown only this once.`,
    failures: ['webhook_endpoint_limit'],
    body: endpointTicket,
    bodyExample: { url: 'https://hooks.example.com/trunkline', topics: ['orders'] },
    success: { status: 201, description: 'The endpoint and its secret.', schema: endpointWithSecret },
    async handle({ caller, body }, { deps }) {
      const { url, description = '' } = body
      const { endpoint, publicKeys, secret } = await createEndpoint(deps, caller, { url, description, filter: filterOf(body) })
      return { ...presentEndpoint(endpoint), public_keys: [...publicKeys], secret }
    }
  }),
  platformEndpoint({
    ...reading,
    method: 'GET',
    path: '/webhook-endpoints',
    operationId: 'listWebhookEndpoints',
    summary: 'List webhook endpoints',
    success: { status: 200, description: 'The endpoints, oldest first; there are 16 at most.', schema: endpointList },
    async handle({ caller }, { deps }) {
      return (await listEndpoints(deps, caller)).map(presentEndpoint)
    }
  }),
  platformEndpoint({
    ...reading,
    method: 'GET',
    path: '/webhook-endpoints/:endpoint_id',
    operationId: 'readWebhookEndpoint',
    summary: 'Read a webhook endpoint',
    failures,
    params,
    success: { status: 200, description: 'The endpoint, and how far it is behind.', schema: endpointDetail },
    async handle({ caller, path }, { deps }) {
      const { endpoint, publicKeys, lag } = await readEndpoint(deps, caller, path.endpoint_id)
      return { ...presentEndpoint(endpoint), public_keys: [...publicKeys], lag: presentLag(lag) }
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'PATCH',
    path: '/webhook-endpoints/:endpoint_id',
    operationId: 'changeWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description:
      'Changes what is given. Disabled, an endpoint is sent nothing. Enabled again, it receives what was logged meanwhile, as far as the log reaches back; an update `events_erased` stands for what it does not have any more.',
    failures,
    params,
    body: endpointChange,
    bodyExample: { enabled: true },
    success: { status: 200, description: 'The endpoint, and how far it is behind.', schema: endpointDetail },
    async handle({ caller, path: { endpoint_id: endpointId }, body }, { deps }) {
      const { enabled, ...given } = body
      const fields = editOf(given)
      if (Object.keys(fields).length > 0) await editEndpoint(deps, caller, endpointId, fields)
      if (enabled !== undefined) await setEndpointEnabled(deps, caller, endpointId, enabled)
      const { endpoint, publicKeys, lag } = await readEndpoint(deps, caller, endpointId)
      return { ...presentEndpoint(endpoint), public_keys: [...publicKeys], lag: presentLag(lag) }
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'DELETE',
    path: '/webhook-endpoints/:endpoint_id',
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'Also erases its deliveries, and where it was.',
    failures,
    params,
    success: { status: 200, description: 'The endpoint was deleted.', schema: deletedEndpoint },
    async handle({ caller, path }, { deps }) {
      await removeEndpoint(deps, caller, path.endpoint_id)
      return { endpoint_id: path.endpoint_id }
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'POST',
    path: '/webhook-endpoints/:endpoint_id/rotate-keys',
    operationId: 'rotateWebhookKeys',
    summary: 'Rotate the keys of a webhook endpoint',
    description: 'Messages have signatures by the old keys and by the new ones, until the overlap has ended.',
    failures,
    params,
    body: rotation,
    bodyExample: { overlap_hours: 24 },
    success: { status: 200, description: 'The endpoint and its new secret, which is shown only this once.', schema: endpointWithSecret },
    async handle({ caller, path, body }, { deps }) {
      const hours = body.overlap_hours ?? OVERLAP_HOURS
      const { endpoint, publicKeys, secret } = await rotateEndpointKeys(deps, caller, path.endpoint_id, hours)
      return { ...presentEndpoint(endpoint), public_keys: [...publicKeys], secret }
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'POST',
    path: '/webhook-endpoints/:endpoint_id/test',
    operationId: 'testWebhookEndpoint',
    summary: 'Send a test message',
    description: `Makes one attempt, also to a disabled endpoint, and answers how it ended, within five seconds. An endpoint is sent
${TESTS_PER_MINUTE} of them a minute at most.`,
    failures,
    params,
    success: { status: 200, description: 'The attempt.', schema: testRecord },
    async handle({ caller, path }, { deps }) {
      return presentTest(await sendTest(deps, caller, path.endpoint_id))
    }
  }),
  platformEndpoint({
    ...reading,
    method: 'GET',
    path: '/webhook-endpoints/:endpoint_id/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List what was sent to a webhook endpoint',
    description: 'Every attempt, newest first. The newest 10,000 of an endpoint are kept, for 30 days at most.',
    failures: ['webhook_endpoint_not_found', 'user_not_found'],
    params,
    query,
    success: { status: 200, description: 'One page of attempts.', schema: deliveryPage },
    async handle({ caller, path: { endpoint_id: endpointId }, query: requested }, { deps, cursors }) {
      const { user_id: userId, message_id: messageId, outcome, start_time: from, end_time: to } = requested
      orderedTimes(from, to, 'start_time', 'end_time')
      const filter = { userId, messageId, outcome, from, to }
      const scope = ['webhook-deliveries', caller.platform.platformId, endpointId, filter]
      const request = cursors.request(requested, scope, PAGE_ROWS.fallback, true)
      return cursors.envelope(await listDeliveries(deps, caller, endpointId, filter, request), scope, presentDelivery)
    }
  }),
  platformEndpoint({
    ...reading,
    method: 'GET',
    path: '/webhook-endpoints/:endpoint_id/deliveries/:delivery_id',
    operationId: 'readWebhookDelivery',
    summary: 'Read what was sent and answered',
    failures: ['webhook_endpoint_not_found', 'webhook_delivery_not_found'],
    params: ofDelivery,
    success: { status: 200, description: 'The attempt, with its request and answer.', schema: deliveryDetail },
    async handle({ caller, path }, { deps }) {
      return presentDeliveryDetail(await readDelivery(deps, caller, path.endpoint_id, path.delivery_id))
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'POST',
    path: '/webhook-endpoints/:endpoint_id/replay',
    operationId: 'replayWebhooks',
    summary: 'Send updates again',
    description:
      'Sends a message again by its `message_id`, or a user’s updates from `from_seq` to `to_seq`, beside what is sent by itself. The response comes at once; the deliveries show what becomes of it. Five failures in a row end it.',
    failures: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled', 'webhook_delivery_not_found', 'user_not_found'],
    params,
    body: replayTicket,
    bodyExample: { user_id: 'ada', from_seq: 1, to_seq: 100 },
    success: { status: 200, description: 'The updates are being sent again.', schema: acceptedReplay },
    async handle({ caller, path, body }, { deps }) {
      const { from, to } = await replay(deps, caller, path.endpoint_id, replayWanted(body))
      return { endpoint_id: path.endpoint_id, from_seq: from, to_seq: to }
    }
  })
]

/** What a request wants sent again. @throws ServiceError field_invalid */
export function replayWanted({
  message_id: messageId,
  user_id: userId,
  from_seq: from,
  to_seq: to
}: Static<typeof replayTicket>): ReplayWanted {
  const ofUser = { user_id: userId, from_seq: from, to_seq: to }
  const given = Object.entries(ofUser).filter(([, value]) => value !== undefined)
  if (messageId !== undefined) {
    const [other] = given
    if (other === undefined) return { messageId }
    throw incomplete(other[0], 'must be absent beside message_id')
  }
  const [missing] = Object.entries(ofUser).find(([, value]) => value === undefined) ?? []
  if (userId === undefined || from === undefined || to === undefined)
    throw incomplete(
      missing ?? 'message_id',
      given.length === 0 ? 'is required, with the others or instead of them message_id' : 'is required'
    )
  try {
    return { userId: parseUserId(userId), from, to }
  } catch (cause) {
    throw cause instanceof Malformed ? fieldInvalid(cause) : cause
  }
}

function incomplete(path: string, message: string): ServiceError {
  return new ServiceError('field_invalid', `${path} ${message}.`, { details: [{ path, message }] })
}
