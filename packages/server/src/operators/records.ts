// What the API for operators shows, and how records of the service become it.
import type { ConnectionWithAccounts } from '@trunkline/core/app/connections/list-connections'
import { type OrderSteps, STEP_KINDS } from '@trunkline/core/app/operators/order-steps'
import type { Platform, User } from '@trunkline/core/domain/account'
import { OPERATOR_SCOPES, type OperatorSession } from '@trunkline/core/domain/operator'
import type { Order } from '@trunkline/core/domain/order'
import type { AuditEntry } from '@trunkline/core/ports/store'
import Type, { type Static, type TSchema } from 'typebox'
import { nullable, oneOf, page, record, ticket, timestamp, uuid } from '../wire/common.ts'
import { connectionRecord, presentConnection } from '../wire/connection.ts'
import { orderRecord, presentOrder } from '../wire/order.ts'
import type { AnsweredRequest, Traffic } from './request-log.ts'

const userId = Type.String({ description: 'The platform’s own name of the user.' })
const userKey = { ...uuid, description: 'The service’s key of the user: a user deleted and created again under its name has another one.' }
const count = (description: string) => Type.Integer({ minimum: 0, description })
const scalar = Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'] })
const facts = (description: string) =>
  Type.Unsafe<Readonly<Record<string, string | number | boolean | null>>>({
    type: 'object',
    additionalProperties: scalar,
    description
  })
const list = <Row extends TSchema>(title: string, row: Row) =>
  record(title, 'A list, complete or as long as asked for.', { data: Type.Array(row) })

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
export const endedSession = record('EndedOperatorSession', 'The session that has ended.', { session_id: nullable(uuid) })

const traffic = record('OperatorTraffic', 'Requests that this node answered.', {
  requests: count('All of them.'),
  failed: count('Those with a status from 400.'),
  by_code: Type.Array(record('CodeCount', 'One code of errors.', { code: Type.String(), count: count('How many.') }), {
    description: 'The most frequent first. A failure without a code of ours is `status_…`.'
  })
})
export const overviewRecord = record('OperatorOverview', 'How the service is.', {
  node_id: nullable(uuid, 'Null where there is one node.'),
  started_at: timestamp,
  problem: nullable(oneOf(['starting', 'stopping', 'store']), 'Why the service is not ready; null: it is.'),
  brokers: Type.Array(record('OfferedBroker', 'A broker that users can connect.', { broker: Type.String(), environment: Type.String() })),
  last_hour: traffic,
  last_day: traffic,
  platforms: count('Platforms, disabled ones included.'),
  unresolved_orders: count('Open orders that the broker may not have, at most 100 are counted.')
})

export const platformRow = record('OperatorPlatform', 'A platform.', {
  platform_id: uuid,
  client_id: Type.String({ description: 'Of its first key.' }),
  name: Type.String(),
  claims: Type.Boolean({ description: 'Whether it must claim each new connection.' }),
  created_at: timestamp,
  disabled_at: nullable(timestamp, 'Null: it is enabled.')
})
export const platformList = list('OperatorPlatformList', platformRow)

export const userRow = record('OperatorUser', 'A user of a platform.', {
  user_key: userKey,
  user_id: userId,
  platform_id: uuid,
  created_at: timestamp
})
export const userPage = page('OperatorUserPage', userRow)

export const connectionRow = record('OperatorConnection', 'A login of a user at a broker.', {
  platform_id: uuid,
  user_key: userKey,
  is_followed_here: Type.Boolean({
    description: 'Whether this node follows the connection. If not, `health` is not known here, and `stale` stands for it.'
  }),
  connection: connectionRecord
})
export const connectionPage = page('OperatorConnectionPage', connectionRow)
export const connectionList = list('OperatorConnectionList', connectionRow)

export const orderRow = record('OperatorOrder', 'An order, and whose it is.', { platform_id: uuid, user_key: userKey, order: orderRecord })
export const orderPage = page('OperatorOrderPage', orderRow)
export const orderList = list('OperatorOrderList', orderRow)

const step = record('OrderStep', 'One step of an order.', {
  kind: oneOf(STEP_KINDS, {
    description:
      '`request`: of a platform or an operator; `recorded`: written with its first event, before anything was sent; `sent`: to the broker, once at most; `answer`: of the broker to that; `change`: an event; `delivery`: an attempt to send an event to a webhook endpoint.'
  }),
  at: nullable(timestamp, 'When it happened; null: that is not recorded.'),
  source: oneOf(['audit', 'order', 'event', 'delivery'], { description: 'Which record says so.' }),
  evidence: facts('What the record says. A null is not known.')
})
export const stepsRecord = record('OrderSteps', 'What became of an order. What was not recorded is null, and nothing is inferred.', {
  platform_id: uuid,
  user_key: userKey,
  order: orderRecord,
  steps: Type.Array(step),
  events: oneOf(['all', 'erased', 'goes_on'], {
    description:
      '`all`: every event of the order is among the steps; `erased`: the first ones are no longer kept; `goes_on`: the user’s log is longer than what was looked through.'
  }),
  deliveries_complete: Type.Boolean({ description: 'False: there are more deliveries than are listed.' })
})

export const auditRow = record('AuditEntry', 'Who did what to what.', {
  position: nullable(Type.Integer(), 'In the chain; null: it waits to be chained.'),
  at: timestamp,
  actor: Type.String(),
  action: Type.String(),
  target: Type.String(),
  result: oneOf(['ok', 'refused', 'failed']),
  address: nullable(Type.String()),
  request_id: nullable(Type.String()),
  detail: facts('Facts about the action; never a secret.')
})
export const auditList = list('AuditEntryList', auditRow)

export const requestRow = record('AnsweredRequest', 'A request that this node answered, without query, headers and body.', {
  at: timestamp,
  request_id: Type.String(),
  method: Type.String(),
  route: Type.String({ description: 'The pattern of the path.' }),
  status: Type.Integer(),
  code: nullable(Type.String(), 'Of the error; null: there was none, or another node answered.'),
  milliseconds: Type.Number(),
  platform_id: nullable(uuid, 'Null: it had no valid credentials of a platform.'),
  user_key: nullable(uuid),
  address: Type.String()
})
export const requestList = list('AnsweredRequestList', requestRow)

export const SEARCHED_KINDS = ['platform', 'user', 'connection', 'account', 'order', 'request'] as const
export const hitRow = record('SearchHit', 'What has the id.', {
  kind: oneOf(SEARCHED_KINDS),
  id: Type.String({ description: 'A `platform_id`, `user_key`, `connection_id`, `account_id`, `order_id` or `request_id`.' }),
  label: Type.String({ description: 'For people.' }),
  platform_id: nullable(uuid),
  user_key: nullable(uuid)
})
export const hitList = list('SearchHitList', hitRow)

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

export function presentTraffic({ requests, failed, byCode }: Traffic): Static<typeof traffic> {
  const counts = [...byCode].map(([code, times]) => ({ code, count: times }))
  return { requests, failed, by_code: counts.sort((a, b) => b.count - a.count) }
}

export function presentPlatform(platform: Platform, disabledAt: string | null): Static<typeof platformRow> {
  const { platformId, clientId, name, claims, createdAt } = platform
  return { platform_id: platformId, client_id: clientId, name, claims, created_at: createdAt, disabled_at: disabledAt }
}

export function presentUser(user: User): Static<typeof userRow> {
  return { user_key: user.userKey, user_id: user.userId, platform_id: user.platformId, created_at: user.createdAt }
}

export function presentConnectionRow(shown: ConnectionWithAccounts, isFollowedHere: boolean): Static<typeof connectionRow> {
  const { platformId, userKey: key } = shown.connection
  return { platform_id: platformId, user_key: key, is_followed_here: isFollowedHere, connection: presentConnection(shown) }
}

export function presentOrderRow(order: Order): Static<typeof orderRow> {
  return { platform_id: order.platformId, user_key: order.userKey, order: presentOrder(order) }
}

export function presentSteps({ order, steps, events, deliveriesComplete }: OrderSteps): Static<typeof stepsRecord> {
  const shown = steps.map(({ kind, at, source, evidence }) => ({ kind, at, source, evidence }))
  return { ...presentOrderRow(order), steps: shown, events, deliveries_complete: deliveriesComplete }
}

export function presentEntry({ ip, requestId, ...entry }: AuditEntry & { readonly position: number | null }): Static<typeof auditRow> {
  const { position, at, actor, action, target, result, detail } = entry
  return { position, at, actor, action, target, result, address: ip, request_id: requestId, detail }
}

export function presentRequest(request: AnsweredRequest): Static<typeof requestRow> {
  const { at, method, route, status, code, milliseconds, address } = request
  const who = { platform_id: request.platformId, user_key: request.userKey }
  return { at, request_id: request.requestId, method, route, status, code, milliseconds, ...who, address }
}
