// What the API for operators shows, and how records of the service become it.
import type { ConnectionWithAccounts } from '@trunkline/core/app/connections/list-connections'
import { isFollowedAsIntended } from '@trunkline/core/app/mirror/health-reasons'
import { type OrderStep, STEP_KINDS, type StepKind } from '@trunkline/core/app/operators/order-step'
import { ATTEMPTS_MAX, AUDIT_MAX, type MissingSteps, type OrderSteps } from '@trunkline/core/app/operators/steps-of-order'
import type { Platform, User } from '@trunkline/core/domain/account'
import { OPERATOR_SCOPES, type OperatorSession } from '@trunkline/core/domain/operator'
import type { Order } from '@trunkline/core/domain/order'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { ChainedEntry } from '@trunkline/core/ports/operator-reads'
import { WEBHOOK_FAILURES, type WebhookDelivery } from '@trunkline/core/ports/webhook-store'
import Type, { type Static, type TSchema } from 'typebox'
import { nullable, oneOf, record, ticket, timestamp, uuid } from '../wire/common.ts'
import { connectionRecord, presentFollowed, presentStoredConnection } from '../wire/connection.ts'
import { orderRecord, presentOrder } from '../wire/order.ts'
import { endpointWithLag } from '../wire/webhook.ts'
import type { Followed, NodeRequest } from './nodes/index.ts'

const userId = Type.String({ description: 'The platform’s own name of the user.' })
const userKey = { ...uuid, description: 'The service’s key of the user: a user deleted and created again under its name has another one.' }
const count = (description: string) => Type.Integer({ minimum: 0, description })
const scalar = Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'] })
/** Names and values. */
export const facts = (description: string) =>
  Type.Unsafe<Readonly<Record<string, string | number | boolean | null>>>({
    type: 'object',
    additionalProperties: scalar,
    description
  })
const NEXT = 'Send it back as `cursor` to read the next page; null on the last page.'
/** One page of a list that is read in one direction. */
export const page = <Row extends TSchema>(title: string, row: Row) =>
  record(title, 'One page of a list.', {
    data: Type.Array(row),
    next_cursor: nullable(Type.String(), NEXT)
  })

export const codeTicket = ticket('OperatorCode', {
  code: Type.String({
    pattern: '^[\\w-]{1,128}$',
    description: 'As `npm run cli -- operator link` printed it. It works once, within ten minutes.',
    'x-expected': 'the code that "operator link" printed'
  })
})

export const sessionRecord = record('OperatorSession', 'Who is logged in.', {
  session_id: nullable(uuid, 'Null: a key was used.'),
  operator: Type.String({ description: 'As the audit log names the operator.' }),
  scopes: Type.Array(oneOf(OPERATOR_SCOPES)),
  created_at: nullable(timestamp, 'Null: a key was used.'),
  expires_at: nullable(timestamp, 'The session also ends when it was not used for 30 minutes. Null: a key was used.')
})
export const loginOptions = record('OperatorLoginOptions', 'How operators can log in, besides a code of `operator link`.', {
  provider: nullable(
    record('LoginProvider', 'The OIDC provider.', { name: Type.String({ description: 'For people.' }) }),
    'Null: there is none.'
  )
})
export const loginTicket = ticket('ProviderLogin', {
  return_to: Type.String({
    maxLength: 1_000,
    description: 'Path and query of the console’s page to show afterwards, as a URL has them, such as `/console/orders`.'
  })
})
export const begunLogin = record('BegunProviderLogin', 'A login that was begun in this browser.', {
  authorization_url: Type.String({ description: 'Of the provider. It sends the browser back to `/admin/v1/oidc/callback`.' })
})
export const answerTicket = ticket('ProviderAnswer', {
  answer: Type.String({ maxLength: 4_000, description: 'The query with which the provider sent the browser back, as it is.' })
})
export const providerSession = record('ProviderSession', 'Who is logged in, and where to go on.', {
  session: sessionRecord,
  return_to: Type.String({ description: 'As the login was begun.' })
})
export const endedSession = record('EndedOperatorSession', 'The session that has ended.', { session_id: nullable(uuid) })

const minute = record('TrafficMinute', 'A minute that had requests.', {
  at: timestamp,
  requests: count('All of them.'),
  errors: Type.Record(Type.String(), count('How many.'), {
    description: 'Those with a status from 400, by code; `status_…` for a failure without a code of ours.'
  })
})
const nodeRecord = record('NodeOverview', 'A node, or the only process of the service.', {
  node: Type.String({ description: 'Its `node_id`; `this` where there is one process.' }),
  version: nullable(Type.String()),
  started_at: nullable(timestamp),
  health: nullable(oneOf(['ok', 'draining', 'failing']), 'Null: it did not answer within a second, or is of an older version.'),
  reason: nullable(Type.String(), 'Why `health` is not `ok`.'),
  minutes: nullable(Type.Array(minute), 'Of the last 24 hours of its present run; null: it did not answer.')
})
export const overviewRecord = record('OperatorOverview', 'How the service is.', {
  at: { ...timestamp, description: 'When it was read, by the clock of the node that answers.' },
  steps: record('FirstSteps', 'What a newcomer does first.', {
    user_created: Type.Boolean(),
    sandbox_connected: Type.Boolean(),
    order_placed: Type.Boolean()
  }),
  nodes: Type.Array(nodeRecord),
  brokers: Type.Array(record('OfferedBroker', 'A broker that users can connect.', { broker: Type.String(), environment: Type.String() })),
  unresolved_orders: count('Open orders that the broker may not have; 100 are counted at most.')
})

export const platformRow = record('OperatorPlatform', 'A platform.', {
  platform_id: uuid,
  client_id: Type.String({ description: 'Of its first key.' }),
  name: Type.String(),
  claims: Type.Boolean({ description: 'Whether it must claim each new connection.' }),
  created_at: timestamp,
  disabled_at: nullable(timestamp, 'Null: it is enabled.'),
  is_for_replays: Type.Boolean({ description: 'Whether it is the service’s own, for replays of orders in the sandbox.' })
})
export const platformPage = page('OperatorPlatformPage', platformRow)

export const userRow = record('OperatorUser', 'A user of a platform.', {
  user_key: userKey,
  user_id: userId,
  platform_id: uuid,
  created_at: timestamp,
  is_disabled: Type.Boolean()
})
export const userPage = page('OperatorUserPage', userRow)

const { health, health_since, health_reason, records_left_out, records_left_out_at, ...stored } = connectionRecord.properties
const NOT_HERE = 'Null: the node that follows the user did not answer, or none does yet.'
const confirmed = (what: string) => nullable(timestamp, `${what} Null: never.`)
const connectionRow = record('OperatorConnection', 'A login of a user at a broker.', {
  platform_id: uuid,
  user_key: userKey,
  ...stored,
  health: nullable(health, `As platforms see it. ${NOT_HERE}`),
  health_since: nullable(health_since, NOT_HERE),
  health_reason,
  health_is_intended: nullable(
    Type.Boolean({
      description:
        'Whether the connection is followed as well as it can be for now: `live`, or `polling` where the broker has no account stream, while that is being opened, or while nobody follows the user.'
    }),
    NOT_HERE
  ),
  records_left_out: nullable(records_left_out, NOT_HERE),
  records_left_out_at,
  confirmed_at: record('ConnectionConfirmed', 'When the broker last confirmed all records of a kind, of all accounts of the connection.', {
    balances: confirmed('Of the account that was confirmed longest ago.'),
    positions: confirmed('The same for positions.'),
    orders: confirmed('The same for orders.')
  })
})
export const connectionPage = page('OperatorConnectionPage', connectionRow)

export const orderRow = record('OperatorOrder', 'An order, and whose it is.', {
  platform_id: uuid,
  user_key: userKey,
  ...orderRecord.properties
})
export const orderPage = page('OperatorOrderPage', orderRow)

/** What each kind of step is. */
const STEPS: Readonly<Record<StepKind, string>> = {
  request: 'an audit entry about the order: of a platform, an operator, or the service, which adopts orders that were placed elsewhere',
  recorded: 'written with its first event, before anything was sent',
  sent: 'sent to the broker, once at most. `attempts` is counted before: only with `is_proved` is it known that it was sent',
  answer:
    'the broker acknowledged or refused the order, which became known as `known_by` says. What it said is from the event of that time',
  settled: 'it was proved without the broker’s word that it does not have the order, as `known_by` and `submission_state` say',
  change: 'an event, with what the order said at that time',
  delivery:
    'an attempt to send an event to a webhook endpoint. `carried` is null if it was not recorded which events of its range the message had'
}
const step = Type.Object(
  {
    step: oneOf(STEP_KINDS, { description: `${STEP_KINDS.map(kind => `\`${kind}\`: ${STEPS[kind]}`).join('; ')}.` }),
    at: nullable(timestamp, 'When it happened; null: that is not recorded.'),
    source: oneOf(['audit', 'order', 'event', 'delivery'], { description: 'Which record says so.' })
  },
  {
    title: 'OrderStep',
    description:
      'One step of an order, with the evidence that its record has. A null is not known; of `source` `event`, `delivery` or `audit` it is what that record did not have, but for `carried`.',
    additionalProperties: scalar
  }
)
export const stepsRecord = record('OrderSteps', 'What became of an order, as it was recorded.', {
  data: Type.Array(step),
  replays: Type.Array(step, {
    description:
      'Audit entries about replays of the order in the sandbox (`order.replayed` names the new order), or about what it is a replay of. They are no steps of the order, which had ended or went on by itself.'
  }),
  incomplete: nullable(
    Type.String(),
    'Which steps are missing, and why; null: none are, but for attempts that are not kept any more (30 days, 10,000 of an endpoint).'
  )
})

const auditRow = record('AuditEntry', 'Who did what to what.', {
  position: Type.Integer({ description: 'In the chain.' }),
  at: timestamp,
  actor: Type.String(),
  action: Type.String(),
  target: Type.String(),
  result: oneOf(['ok', 'refused', 'failed']),
  address: nullable(Type.String()),
  request_id: nullable(Type.String()),
  detail: facts('Facts about the action; never a secret.')
})
export const auditPage = record('AuditEntryPage', 'One page of a list.', {
  data: Type.Array(auditRow),
  next_cursor: nullable(Type.String(), NEXT),
  waiting: count('Entries that wait to be chained, and are listed then; 1,000 are counted at most.')
})

const requestRow = record('AnsweredRequest', 'A request that a node answered, without query, headers and body.', {
  at: timestamp,
  request_id: Type.String(),
  method: Type.String(),
  route: Type.String({ description: 'The pattern of the path.' }),
  status: Type.Integer(),
  code: nullable(Type.String(), 'Of the error; null: there was none, or another node answered.'),
  took_ms: Type.Number(),
  platform_id: nullable(uuid, 'Null: it had no valid credentials of a platform.'),
  user_key: nullable(uuid),
  address: Type.String(),
  node: Type.String({ description: 'As the overview names it.' })
})
export const requestPage = record('AnsweredRequestPage', 'The newest requests of all nodes.', {
  data: Type.Array(requestRow),
  next_cursor: nullable(Type.String(), 'Always null: what is older is not kept in order.'),
  unanswered_nodes: Type.Array(Type.String(), { description: 'Nodes that did not answer within a second: theirs are missing.' })
})

export const endpointPage = page('OperatorWebhookEndpointPage', endpointWithLag)
const deliveryRow = record('OperatorWebhookDelivery', 'One attempt to send a message to an endpoint.', {
  delivery_id: uuid,
  message_id: Type.String({ description: 'The same for each attempt of a message.' }),
  endpoint_id: uuid,
  user_key: nullable(uuid, 'Null: a test message.'),
  reason: Type.String(),
  attempt: Type.Integer(),
  from_seq: nullable(Type.Integer()),
  to_seq: nullable(Type.Integer()),
  started_at: timestamp,
  took_ms: Type.Number(),
  status: nullable(Type.Integer(), 'Of the answer; null: there was none.'),
  failure: nullable(oneOf(WEBHOOK_FAILURES), 'Null: it was delivered.'),
  retry_at: nullable(timestamp, 'Null: the message is not tried again, or was delivered.')
})
export const deliveryPage = page('OperatorWebhookDeliveryPage', deliveryRow)

const SEARCHED_KINDS = ['platform', 'user', 'connection', 'account', 'order', 'request'] as const
export const hitRow = record('SearchHit', 'What has the id.', {
  kind: oneOf(SEARCHED_KINDS),
  id: Type.String({ description: 'A `platform_id`, `user_key`, `connection_id`, `account_id`, `order_id` or `request_id`.' }),
  label: Type.String({ description: 'For people.' }),
  platform_id: nullable(uuid),
  user_key: nullable(uuid)
})
export const hitList = record('SearchHitList', 'What was found.', { data: Type.Array(hitRow) })

export function presentSession(
  operator: string,
  scopes: OperatorSession['scopes'],
  session: OperatorSession | null
): Static<typeof sessionRecord> {
  return {
    session_id: session?.sessionId ?? null,
    operator,
    scopes: [...scopes],
    created_at: session?.createdAt ?? null,
    expires_at: session?.expiresAt ?? null
  }
}

/** `disabledAt` null: it is enabled. */
export function presentPlatform(
  { platformId, clientId, name, claims, createdAt }: Platform,
  disabledAt: string | null,
  isForReplays: boolean
): Static<typeof platformRow> {
  const state = { disabled_at: disabledAt, is_for_replays: isForReplays }
  return { platform_id: platformId, client_id: clientId, name, claims, created_at: createdAt, ...state }
}

export function presentUser(user: User, isDisabled: boolean): Static<typeof userRow> {
  const { userKey: user_key, userId: user_id, platformId: platform_id, createdAt: created_at } = user
  return { user_key, user_id, platform_id, created_at, is_disabled: isDisabled }
}

export interface ShownConnection extends Pick<ConnectionWithAccounts, 'connection' | 'accounts'> {
  readonly followed: Followed
  /** When all records of a kind were last confirmed; null: not all of them were. */
  readonly confirmed: Readonly<Record<'balances' | 'positions' | 'orders', Timestamp | null>>
}

export function presentConnectionRow({ connection, accounts, followed, confirmed }: ShownConnection): Static<typeof connectionRow> {
  return {
    platform_id: connection.platformId,
    user_key: connection.userKey,
    ...presentStoredConnection({ connection, accounts }),
    ...(followed === null ? NOT_ANSWERED : presentFollowed(followed)),
    health_is_intended: followed === null ? null : isFollowedAsIntended(followed.health),
    confirmed_at: { ...confirmed }
  }
}

const NOT_ANSWERED = { health: null, health_since: null, health_reason: null, records_left_out: null, records_left_out_at: null }

export function presentOrderRow(order: Order): Static<typeof orderRow> {
  return { platform_id: order.platformId, user_key: order.userKey, ...presentOrder(order) }
}

/** What is said of steps that are missing. */
const MISSING: Readonly<Record<MissingSteps, string>> = {
  later_requests: `The order has more than ${AUDIT_MAX} audit entries: those after the first ${AUDIT_MAX} are missing.`,
  erased_changes: 'The first events of the order are no longer kept: their changes, and attempts to deliver them, are missing.',
  unfound_changes:
    'The first events of the order were not found at its time, which happens where the clocks of nodes differed by more than a minute: their changes, and attempts to deliver them, are missing. Read the user’s events with GET /events.',
  later_changes:
    'The user’s log is longer than what one request looks through: later changes, and attempts to deliver them, may be missing. Read the rest with GET /events.',
  later_attempts: `Only the first ${ATTEMPTS_MAX} attempts to deliver events of the user since then were looked through: later ones may be missing.`
}

export function presentSteps({ steps, replays, missing }: OrderSteps): Static<typeof stepsRecord> {
  const present = ({ kind, at, source, evidence }: OrderStep): Static<typeof step> => ({ ...evidence, step: kind, at, source })
  return {
    data: steps.map(present),
    replays: replays.map(present),
    incomplete: missing.length === 0 ? null : missing.map(part => MISSING[part]).join(' ')
  }
}

export function presentEntry({ ip, requestId, ...entry }: ChainedEntry): Static<typeof auditRow> {
  const { position, at, actor, action, target, result, detail } = entry
  return { position, at, actor, action, target, result, address: ip, request_id: requestId, detail }
}

export function presentRequest(request: NodeRequest): Static<typeof requestRow> {
  const { at, method, route, status, code, milliseconds, address, node } = request
  const who = { platform_id: request.platformId, user_key: request.userKey }
  return {
    at,
    request_id: request.requestId,
    method,
    route,
    status,
    code,
    took_ms: Math.round(milliseconds * 100) / 100,
    ...who,
    address,
    node
  }
}

export function presentDeliveryRow(delivery: WebhookDelivery): Static<typeof deliveryRow> {
  const {
    deliveryId,
    messageId,
    endpointId,
    userKey: user_key,
    reason,
    attempt,
    events,
    startedAt,
    tookMs,
    answer,
    failure,
    retryAt
  } = delivery
  return {
    ...{ delivery_id: deliveryId, message_id: messageId, endpoint_id: endpointId, user_key, reason, attempt },
    ...{ from_seq: events?.from ?? null, to_seq: events?.to ?? null, started_at: startedAt, took_ms: tookMs },
    ...{ status: answer?.status ?? null, failure, retry_at: retryAt }
  }
}
