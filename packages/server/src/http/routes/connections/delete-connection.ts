import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { deletedConnection } from '../../../wire/connection.ts'
import { userEndpoint } from '../../endpoint.ts'
import { connectionIdInPath } from '../../params.ts'

export const deleteConnectionById = userEndpoint({
  method: 'DELETE',
  path: '/connections/:connection_id',
  scope: 'users',
  operationId: 'deleteConnection',
  tag: 'Connections',
  summary: 'Delete a connection',
  description:
    'Erases the stored login and ends the connection’s market data tokens. Its tokens at the broker are revoked in the background. Open orders ' +
    'stay at the broker. If the broker has not yet answered a request about an order, the deletion waits for the answer for up to ten seconds.',
  failures: ['connection_not_found'],
  params: { connection_id: connectionIdInPath },
  success: { status: 200, description: 'The connection was deleted.', schema: deletedConnection },
  async handle({ caller, path }, { deps }) {
    await deleteConnection(deps, caller, path.connection_id)
    return { connection_id: path.connection_id }
  }
})
