import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId, UserKey } from '@trunkline/core/domain/ids'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { oneOf, plainText, uuidInPath } from '../../http/params.ts'
import { type Operation, operation } from '../endpoint.ts'
import type { NodeOverview } from '../nodes/index.ts'
import { LIMIT, onlyPage, paging } from '../paging.ts'
import { auditPage, overviewRecord, presentEntry, presentRequest, requestPage } from '../records.ts'

const UNRESOLVED_MAX = 100
const AUDIT = ['operator-audit']
const WAITING_MAX = 1_000

export const SERVICE: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/overview',
    scope: 'read',
    operationId: 'readOverview',
    tag: 'Service',
    summary: 'Read how the service is',
    description:
      'Traffic is counted in the memory of each node, since it started, without requests of the console and of this API. The node that answers asks the others, for a second.',
    success: { status: 200, description: 'Health, traffic and errors.', schema: overviewRecord },
    async handle(_call, deps) {
      const { app, reads, nodes } = deps
      const unresolvedOrders = app.store.orders.unresolved(UNRESOLVED_MAX)
      const [steps, unresolved, overviews] = await Promise.all([reads.firstSteps(), unresolvedOrders, nodes.overviews()])
      return {
        steps: { user_created: steps.userCreated, sandbox_connected: steps.sandboxConnected, order_placed: steps.orderPlaced },
        nodes: overviews.map(presentOverview),
        brokers: [...app.brokers.values()].map(({ capabilities: { id }, environment }) => ({ broker: id, environment })),
        unresolved_orders: unresolved.length
      }
    }
  }),
  operation({
    method: 'GET',
    path: '/requests',
    scope: 'read',
    operationId: 'listRequests',
    tag: 'Records',
    summary: 'List the newest requests',
    description:
      'Of each node the newest 2,000 and, apart from them, the newest 2,000 that failed. They are kept in memory and are gone with the process. A request that a node passed on to another is there from both. They have no query, header or body. Those of the console and of this API are left out, unless they fail.',
    query: {
      failed: oneOf(['true', 'false'], '`true`: those with a status from 400 only.', 'false'),
      code: plainText(64, 'Only requests that failed with this code.', 'rate_limited'),
      request_id: plainText(128, 'Only the request with this `x-request-id`.', '4Cv2mQ-17'),
      platform: uuidInPath<PlatformId>('Only requests of this platform, by its `platform_id`.'),
      user: uuidInPath<UserKey>('Only requests for this user, by the `user_key`.'),
      limit: paging.limit
    },
    success: { status: 200, description: 'The requests, the newest first.', schema: requestPage },
    async handle({ query }, { nodes }) {
      const { failed, code = null, request_id = null, platform = null, user = null, limit = LIMIT.fallback } = query
      const filter = { isFailed: failed === 'true', code, requestId: request_id, platformId: platform, userKey: user }
      const { requests, unanswered } = await nodes.requests(filter, limit)
      return { ...onlyPage(requests, presentRequest), unanswered_nodes: [...unanswered] }
    }
  }),
  operation({
    method: 'GET',
    path: '/audit',
    scope: 'read',
    operationId: 'listAudit',
    tag: 'Records',
    summary: 'List the audit log',
    description:
      'The chain, to which an entry is added within a second or so; `waiting` says how many are not in it yet. To verify or export it: `npm run cli -- audit`.',
    query: paging,
    success: { status: 200, description: 'One page of entries, the newest first.', schema: auditPage },
    async handle({ query }, { reads, cursors }) {
      const { edge, limit } = cursors.forward(query, AUDIT, LIMIT.fallback)
      const position = edge === null ? null : positionOf(edge.key)
      // Counted first: what is chained meanwhile may be both, and is missing from neither.
      const waiting = await reads.auditWaiting(WAITING_MAX)
      const found = await reads.auditBefore(position, limit + 1)
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      const next = found.length > limit && last !== undefined ? cursors.after([String(last.position)], AUDIT) : null
      return { data: rows.map(presentEntry), next_cursor: next, waiting }
    }
  })
]

const REASONS = {
  starting: 'It is starting.',
  stopping: 'It is stopping.',
  store: 'The database does not answer, or cannot write.'
} as const

function presentOverview({ node, overview }: NodeOverview) {
  if (overview === null) return { node, version: null, started_at: null, health: null, reason: null, minutes: null }
  const { version, startedAt, problem, minutes } = overview
  return {
    ...{ node, version, started_at: startedAt },
    health: problem === null ? ('ok' as const) : problem === 'stopping' ? ('draining' as const) : ('failing' as const),
    reason: problem === null ? null : REASONS[problem],
    minutes: minutes.map(({ atMs, requests, errors }) => ({ at: timestampOfMs(atMs), requests, errors: { ...errors } }))
  }
}

function positionOf([position]: readonly string[]): number {
  const read = Number(position)
  if (Number.isSafeInteger(read)) return read
  throw new ServiceError('query_invalid', 'cursor is not one of this list; start again without it.')
}
