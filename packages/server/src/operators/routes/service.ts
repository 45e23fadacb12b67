import { integer, oneOf, plainText } from '../../http/params.ts'
import { type Operation, operation } from '../endpoint.ts'
import { auditList, overviewRecord, presentEntry, presentRequest, presentTraffic, requestList } from '../records.ts'

const HOUR = 60
const DAY = 24 * HOUR
const UNRESOLVED_MAX = 100
const LIMIT = { minimum: 1, maximum: 1_000, fallback: 100 }
const limit = integer(LIMIT, 'How many, at most.')

export const SERVICE: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/overview',
    scope: 'read',
    operationId: 'readOverview',
    tag: 'Service',
    summary: 'Read how the service is',
    description: 'Traffic is that of the node which answers, since it started: it is counted in memory.',
    success: { status: 200, description: 'Health, traffic and errors.', schema: overviewRecord },
    async handle(_call, { app, requests, service }) {
      const [problem, platforms, unresolved] = await Promise.all([
        service.problem(),
        app.store.platforms.list(),
        app.store.orders.unresolved(UNRESOLVED_MAX)
      ])
      return {
        node_id: service.nodeId,
        started_at: service.startedAt,
        problem,
        brokers: [...app.brokers.values()].map(({ capabilities: { id }, environment }) => ({ broker: id, environment })),
        last_hour: presentTraffic(requests.traffic(HOUR)),
        last_day: presentTraffic(requests.traffic(DAY)),
        platforms: platforms.length,
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
      'Of the node which answers: the newest 2,000 and, apart from them, the newest 2,000 that failed. They are kept in memory and are gone with the process. They have no query, header or body.',
    query: {
      which: oneOf(['all', 'failed'], '`failed`: those with a status from 400.', 'all'),
      code: plainText(64, 'Only requests that failed with this code.', 'rate_limited'),
      request_id: plainText(128, 'Only the request with this `x-request-id`.', '4Cv2mQ-17'),
      limit
    },
    success: { status: 200, description: 'The requests, the newest first.', schema: requestList },
    async handle({ query: { which = 'all', code, request_id: id, limit: most = LIMIT.fallback } }, { requests }) {
      const found = requests.newest(
        which,
        most,
        request => (code ?? request.code) === request.code && (id ?? request.requestId) === request.requestId
      )
      return { data: found.map(presentRequest) }
    }
  }),
  operation({
    method: 'GET',
    path: '/audit',
    scope: 'read',
    operationId: 'listAudit',
    tag: 'Records',
    summary: 'List the newest entries of the audit log',
    description: 'To verify or export the whole chain: `npm run cli -- audit`.',
    query: { limit },
    success: { status: 200, description: 'The entries, the newest first.', schema: auditList },
    async handle({ query: { limit: most = LIMIT.fallback } }, { newestAudit }) {
      return { data: (await newestAudit(most)).map(presentEntry) }
    }
  })
]
