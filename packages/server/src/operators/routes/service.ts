import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId, UserKey } from '@trunkline/core/domain/ids'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { oneOf, plainText, uuidInPath } from '../../http/params.ts'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, operation } from '../endpoint.ts'
import { LIMIT, onlyPage, paging } from '../paging.ts'
import { auditPage, overviewRecord, presentEntry, presentRequest, requestPage } from '../records.ts'
import type { TrafficMinute } from '../request-log.ts'

const UNRESOLVED_MAX = 100
const AUDIT = ['operator-audit']

export const SERVICE: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/overview',
    scope: 'read',
    operationId: 'readOverview',
    tag: 'Service',
    summary: 'Read how the service is',
    description:
      'Traffic is counted in the memory of the node that answers, since it started, without requests of the console and of this API.',
    success: { status: 200, description: 'Health, traffic and errors.', schema: overviewRecord },
    async handle(_call, deps) {
      const { app, reads } = deps
      const [steps, unresolved, node] = await Promise.all([reads.firstSteps(), app.store.orders.unresolved(UNRESOLVED_MAX), thisNode(deps)])
      return {
        steps: { user_created: steps.userCreated, sandbox_connected: steps.sandboxConnected, order_placed: steps.orderPlaced },
        nodes: [node, ...deps.service.otherNodes().map(unasked)],
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
      'Of the node that answers: the newest 2,000 and, apart from them, the newest 2,000 that failed. They are kept in memory and are gone with the process. They have no query, header or body. Those of the console and of this API are left out, unless they fail.',
    query: {
      failed: oneOf(['true', 'false'], '`true`: those with a status from 400 only.', 'false'),
      code: plainText(64, 'Only requests that failed with this code.', 'rate_limited'),
      request_id: plainText(128, 'Only the request with this `x-request-id`.', '4Cv2mQ-17'),
      platform: uuidInPath<PlatformId>('Only requests of this platform, by its `platform_id`.'),
      user: uuidInPath<UserKey>('Only requests for this user, by the `user_key`.'),
      limit: paging.limit
    },
    success: { status: 200, description: 'The requests, the newest first.', schema: requestPage },
    async handle({ query }, { requests, service }) {
      const { failed, code, request_id: id, platform, user, limit = LIMIT.fallback } = query
      const fits = (one: { code: string | null; requestId: string; platformId: string | null; userKey: string | null }) =>
        [[code, one.code] as const, [id, one.requestId] as const, [platform, one.platformId] as const, [user, one.userKey] as const].every(
          ([wanted, found]) => wanted === undefined || wanted === found
        )
      const which = failed === 'true' || code !== undefined ? 'failed' : 'all'
      return onlyPage(requests.newest(which, limit, fits), request => presentRequest(request, service.name))
    }
  }),
  operation({
    method: 'GET',
    path: '/audit',
    scope: 'read',
    operationId: 'listAudit',
    tag: 'Records',
    summary: 'List the audit log',
    description: 'To verify or export the whole chain: `npm run cli -- audit`.',
    query: paging,
    success: { status: 200, description: 'One page of entries, the newest first.', schema: auditPage },
    async handle({ query }, { reads, cursors }) {
      const { edge, limit } = cursors.forward(query, AUDIT, LIMIT.fallback)
      const found = await reads.auditBefore(edge === null ? null : positionOf(edge.key), limit + 1)
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      // Entries that wait have no place to go on from: the next page begins with the chain.
      const next = found.length > limit && last !== undefined ? [String(last.position ?? Number.MAX_SAFE_INTEGER)] : null
      return { data: rows.map(presentEntry), next_cursor: next === null ? null : cursors.after(next, AUDIT) }
    }
  })
]

async function thisNode({ service, requests }: OperatorDeps) {
  const problem = await service.problem()
  const reason = problem === null ? null : REASONS[problem]
  return {
    node: service.name,
    version: service.version,
    started_at: service.startedAt,
    health: problem === null ? ('ok' as const) : problem === 'stopping' ? ('draining' as const) : ('failing' as const),
    reason,
    minutes: requests.minutes().map(presentMinute)
  }
}

const REASONS = {
  starting: 'It is starting.',
  stopping: 'It is stopping.',
  store: 'The database does not answer, or cannot write.'
} as const

function unasked(node: string) {
  return { node, version: null, started_at: null, health: null, reason: null, minutes: null }
}

function presentMinute({ atMs, requests, errors }: TrafficMinute) {
  return { at: timestampOfMs(atMs), requests, errors: { ...errors } }
}

function positionOf([position]: readonly string[]): number {
  const read = Number(position)
  if (Number.isSafeInteger(read)) return read
  throw new ServiceError('query_invalid', 'cursor is not one of this list; start again without it.')
}
