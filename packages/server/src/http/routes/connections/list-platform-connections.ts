import { listPlatformConnections } from '@trunkline/core/app/connections/list-connections'
import { CONNECTION_STATUSES } from '@trunkline/core/domain/vocabulary'
import { connectionPage, presentConnection } from '../../../wire/connection.ts'
import { platformEndpoint } from '../../endpoint.ts'
import { oneOf } from '../../params.ts'
import { paging } from '../paging.ts'

const LIMIT = { maximum: 1_000, fallback: 100 }

export const getPlatformConnections = platformEndpoint({
  method: 'GET',
  path: '/platform/connections',
  scope: 'read',
  operationId: 'listPlatformConnections',
  tag: 'Connections',
  summary: 'List the connections of all users',
  query: { status: oneOf(CONNECTION_STATUSES, 'Only connections with this status.'), ...paging(LIMIT) },
  success: { status: 200, description: 'One page of connections, newest first.', schema: connectionPage },
  async handle({ caller, query }, { deps, cursors }) {
    const status = query.status ?? null
    const scope = ['platform-connections', caller.platform.platformId, status]
    const request = cursors.request(query, scope, LIMIT.fallback, true)
    return cursors.envelope(await listPlatformConnections(deps, caller, status, request), scope, presentConnection)
  }
})
