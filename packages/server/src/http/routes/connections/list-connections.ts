import { listConnections } from '@trunkline/core/app/connections/list-connections'
import { CONNECTION_STATUSES } from '@trunkline/core/domain/vocabulary'
import { connectionList, presentConnection } from '../../../wire/connection.ts'
import { userEndpoint } from '../../endpoint.ts'
import { oneOf } from '../../params.ts'

export const getConnections = userEndpoint({
  method: 'GET',
  path: '/connections',
  scope: 'read',
  operationId: 'listConnections',
  tag: 'Connections',
  summary: 'List the user’s connections',
  query: { status: oneOf(CONNECTION_STATUSES, 'Only connections with this status.') },
  success: { status: 200, description: 'The connections, newest first.', schema: connectionList },
  async handle({ caller, query }, { deps }) {
    const rows = await listConnections(deps, caller, query.status ?? null)
    return rows.map(presentConnection)
  }
})
