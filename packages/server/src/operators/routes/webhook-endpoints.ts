import { replay, sendTest } from '@trunkline/core/app/webhooks/deliveries'
import {
  createEndpoint,
  type EndpointWithSecret,
  editEndpoint,
  endpointsWithLag,
  readEndpoint,
  removeEndpoint,
  rotateEndpointKeys,
  setEndpointEnabled
} from '@trunkline/core/app/webhooks/endpoints'
import type { PlatformId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import { TESTS_PER_MINUTE } from '@trunkline/core/ports/webhook-requests'
import { required, uuidInPath } from '../../http/params.ts'
import { replayWanted } from '../../http/routes/webhooks.ts'
import {
  acceptedReplay,
  deletedEndpoint,
  editOf,
  endpointDetail,
  endpointEdit,
  endpointTicket,
  endpointWithSecret,
  filterOf,
  presentEndpoint,
  presentLag,
  presentTest,
  replayTicket,
  rotation,
  testRecord
} from '../../wire/webhook.ts'
import { actingFor, endpointDeps } from '../acting.ts'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, operation } from '../endpoint.ts'
import { onlyPage } from '../paging.ts'
import { endpointPage } from '../records.ts'

const shared = { scope: 'manage', tag: 'Webhooks' } as const
const reading = { scope: 'read', tag: 'Webhooks' } as const
const ofPlatform = { platform_id: uuidInPath<PlatformId>('The platform.') }
const params = { ...ofPlatform, endpoint_id: uuidInPath<WebhookEndpointId>('The endpoint, one of this platform.') }
const failures = ['platform_not_found', 'webhook_endpoint_not_found'] as const
const OVERLAP_HOURS = 24
const PATH = '/platforms/:platform_id/webhook-endpoints'
const CHANGED = { status: 200, description: 'The endpoint as it is now, and how far it is behind.', schema: endpointDetail } as const

export const WEBHOOK_ENDPOINTS: readonly Operation[] = [
  operation({
    ...reading,
    method: 'GET',
    path: '/webhook-endpoints',
    operationId: 'listOperatorWebhookEndpoints',
    summary: 'List a platform’s webhook endpoints',
    failures: ['platform_not_found'],
    query: { platform: required(uuidInPath<PlatformId>('The platform, by its `platform_id`.')) },
    success: {
      status: 200,
      description: 'The endpoints, oldest first, each with how far it is behind; there are 16 at most.',
      schema: endpointPage
    },
    async handle({ caller, query: { platform } }, deps) {
      const found = await endpointsWithLag(endpointDeps(deps), await actingFor(deps, platform, caller))
      return onlyPage(found, ({ endpoint, lag }) => ({ platform_id: platform, ...presentEndpoint(endpoint), lag: presentLag(lag) }))
    }
  }),
  operation({
    ...reading,
    method: 'GET',
    path: `${PATH}/:endpoint_id`,
    operationId: 'readOperatorWebhookEndpoint',
    summary: 'Read a webhook endpoint',
    failures,
    params,
    success: CHANGED,
    handle: ({ caller, path }, deps) => readAgain(deps, caller, path)
  }),
  operation({
    ...shared,
    method: 'POST',
    path: PATH,
    operationId: 'createOperatorWebhookEndpoint',
    summary: 'Create a webhook endpoint',
    description: `For the platform, as it does itself. The answer has the secret, which is shown only this once. A repetition creates another endpoint, which is
sent everything as well: after an answer that was lost, list the endpoints, and give the one that was made new keys. Of two at once, both are made, up to 16
endpoints.`,
    failures: ['platform_not_found', 'platform_disabled', 'webhook_endpoint_limit'],
    params: ofPlatform,
    body: endpointTicket,
    bodyExample: { url: 'https://hooks.example.com/trunkline', topics: ['orders'] },
    success: { status: 201, description: 'The endpoint and its secret.', schema: endpointWithSecret },
    async handle({ caller, path, body }, deps) {
      const { url, description = '' } = body
      const operator = await actingFor(deps, path.platform_id, caller)
      return shownOnce(await createEndpoint(endpointDeps(deps), operator, { url, description, filter: filterOf(body) }))
    }
  }),
  operation({
    ...shared,
    method: 'PATCH',
    path: `${PATH}/:endpoint_id`,
    operationId: 'changeOperatorWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description: `Replaces the fields that are given, and ends all waits for retries: what was not received is tried again at once. A repetition replaces them by the
same. Of two at once, each replaces the fields that it has, and the later one of both stands.`,
    failures,
    params,
    body: endpointEdit,
    bodyExample: { url: 'https://hooks.example.com/trunkline-2' },
    success: CHANGED,
    async handle({ caller, path, body }, deps) {
      const operator = await actingFor(deps, path.platform_id, caller)
      await editEndpoint(endpointDeps(deps), operator, path.endpoint_id, editOf(body))
      return readAgain(deps, caller, path)
    }
  }),
  operation({
    ...shared,
    method: 'POST',
    path: `${PATH}/:endpoint_id/enable`,
    operationId: 'enableOperatorWebhookEndpoint',
    summary: 'Enable a webhook endpoint',
    description: `It goes on where it was, as far as the log reaches back. A repetition ends its waits for retries. Of two at once, with \`disable\` too, the later
one stands.`,
    failures,
    params,
    success: CHANGED,
    handle: ({ caller, path }, deps) => setEnabled(deps, caller, path, true)
  }),
  operation({
    ...shared,
    method: 'POST',
    path: `${PATH}/:endpoint_id/disable`,
    operationId: 'disableOperatorWebhookEndpoint',
    summary: 'Disable a webhook endpoint',
    description:
      'It is sent nothing until it is enabled again. An attempt that is under way ends by itself. A repetition changes nothing. Of two at once, with `enable` too, the later one stands.',
    failures,
    params,
    success: CHANGED,
    handle: ({ caller, path }, deps) => setEnabled(deps, caller, path, false)
  }),
  operation({
    ...shared,
    method: 'POST',
    path: `${PATH}/:endpoint_id/rotate-keys`,
    operationId: 'rotateOperatorWebhookKeys',
    summary: 'Rotate the keys of a webhook endpoint',
    description: `The answer has the new secret, which is shown only this once. The old keys sign beside the new ones for \`overlap_hours\`. A repetition makes newer
keys, with another secret; at most three old ones sign besides. Of two at once, both make keys, and those of the first are old at once.`,
    failures,
    params,
    body: rotation,
    bodyExample: { overlap_hours: 24 },
    success: { status: 200, description: 'The endpoint and its new secret.', schema: endpointWithSecret },
    async handle({ caller, path, body }, deps) {
      const operator = await actingFor(deps, path.platform_id, caller)
      const hours = body.overlap_hours ?? OVERLAP_HOURS
      return shownOnce(await rotateEndpointKeys(endpointDeps(deps), operator, path.endpoint_id, hours))
    }
  }),
  operation({
    ...shared,
    method: 'POST',
    path: `${PATH}/:endpoint_id/test`,
    operationId: 'testOperatorWebhookEndpoint',
    summary: 'Send a test message',
    description: `Makes one attempt, also to a disabled endpoint, and answers how it ended, within five seconds. A repetition sends another message. An endpoint is sent
${TESTS_PER_MINUTE} of them a minute at most, those of the platform itself included.`,
    failures,
    params,
    success: { status: 200, description: 'The attempt.', schema: testRecord },
    async handle({ caller, path }, deps) {
      return presentTest(await sendTest(endpointDeps(deps), await actingFor(deps, path.platform_id, caller), path.endpoint_id))
    }
  }),
  operation({
    ...shared,
    method: 'POST',
    path: `${PATH}/:endpoint_id/replay`,
    operationId: 'replayOperatorWebhooks',
    summary: 'Send updates again',
    description: `Sends a message again by its \`message_id\`, or a user’s updates from \`from_seq\` to \`to_seq\`, beside what is sent by itself. The answer comes at once;
the deliveries show what becomes of it. Five failures in a row end it. A repetition sends them once more, under the same ids, by which the receiver knows
them. Of two at once, both are carried out.`,
    failures: [...failures, 'webhook_endpoint_disabled', 'webhook_delivery_not_found', 'user_not_found'],
    params,
    body: replayTicket,
    bodyExample: { user_id: 'ada', from_seq: 1, to_seq: 100 },
    success: { status: 200, description: 'The updates are being sent again.', schema: acceptedReplay },
    async handle({ caller, path, body }, deps) {
      const operator = await actingFor(deps, path.platform_id, caller)
      const { from, to } = await replay(endpointDeps(deps), operator, path.endpoint_id, replayWanted(body))
      return { endpoint_id: path.endpoint_id, from_seq: from, to_seq: to }
    }
  }),
  operation({
    ...shared,
    method: 'DELETE',
    path: `${PATH}/:endpoint_id`,
    operationId: 'deleteOperatorWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description:
      'Also erases its deliveries, and where it was: it cannot be brought back. A repetition finds nothing (`webhook_endpoint_not_found`). Of two at once, one deletes it, and both may be answered so.',
    failures,
    params,
    success: { status: 200, description: 'The endpoint was deleted.', schema: deletedEndpoint },
    async handle({ caller, path }, deps) {
      await removeEndpoint(endpointDeps(deps), await actingFor(deps, path.platform_id, caller), path.endpoint_id)
      return { endpoint_id: path.endpoint_id }
    }
  })
]

type Caller = Parameters<typeof actingFor>[2]
interface EndpointPath {
  readonly platform_id: PlatformId
  readonly endpoint_id: WebhookEndpointId
}

async function setEnabled(deps: OperatorDeps, caller: Caller, path: EndpointPath, isEnabled: boolean) {
  const operator = await actingFor(deps, path.platform_id, caller)
  await setEndpointEnabled(endpointDeps(deps), operator, path.endpoint_id, isEnabled)
  return readAgain(deps, caller, path)
}

/** The endpoint as it is stored: another change may have come meanwhile. */
async function readAgain(deps: OperatorDeps, caller: Caller, { platform_id: platformId, endpoint_id: endpointId }: EndpointPath) {
  const operator = await actingFor(deps, platformId, caller)
  const { endpoint, publicKeys, lag } = await readEndpoint(endpointDeps(deps), operator, endpointId)
  return { ...presentEndpoint(endpoint), public_keys: [...publicKeys], lag: presentLag(lag) }
}

function shownOnce({ endpoint, publicKeys, secret }: EndpointWithSecret) {
  return { ...presentEndpoint(endpoint), public_keys: [...publicKeys], secret }
}
